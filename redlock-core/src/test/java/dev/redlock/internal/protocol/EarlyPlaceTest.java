package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Fair mode: the place that a process takes for its next caller while it holds the lock. */
class EarlyPlaceTest extends MachineFixture {
  private static final NodeReply FIRST = reply(Code.HELD, 0);
  private static final NodeReply SECOND = reply(Code.HELD, 1);

  private HeldLease lease;

  @BeforeEach
  void hold() {
    options(TestNodes.options().fair(true));
    holdAsOthersWait();
  }

  private void holdAsOthersWait() {
    submit(false);
    reply(sent(), reply(Code.GRANTED, 1), 0, 1, 2);
    lease = granted();
  }

  private void releaseWithoutHandOff() {
    release(lease);
    Effect.Send release = sent();
    assertThat(release.request()).isInstanceOf(LockRequest.Release.class);
    reply(release, reply(Code.RELEASED, 1), 0, 1, 2);
  }

  @Test
  void nextCaller_isQueuedOnce_atTheHomeNode() {
    submit(false);
    assertThat(sent(LockRequest.Enqueue.class).mask()).isEqualTo(1L << HOME);
    submit(false);
    timer();
    assertThat(take(Effect.Send.class)).isEmpty();
  }

  @Test
  void nextCaller_isQueuedAtTheFirstNodeToo() {
    machine = machine(LockKeys.of("redlock", List.of("h")));
    holdAsOthersWait();
    submit(false);
    assertThat(sent().mask()).isEqualTo(0b001);
  }

  @Test
  void nextCaller_whoComesAfterOneThatGaveUp_isQueuedAgain() {
    Waiter w = submit(false);
    submit(false);
    machine.effects().clear();
    machine.cancel(w, now, now / MILLI);
    assertThat(sent(LockRequest.Enqueue.class).mask()).isEqualTo(1L << HOME);
  }

  @Test
  void nextCaller_whoIsTheFirst_asksBehindTheRelease() {
    submit(false);
    reply(sent(), FIRST, HOME);
    release(lease);
    assertThat(request(sent(LockRequest.Acquire.class)).queueEntry()).isNotNull();
  }

  @Test
  void nextCaller_whoIsNotKnownToBeTheFirst_waitsForItsTurn() {
    submit(false);
    Effect.Send place = sent();
    releaseWithoutHandOff();
    reply(place, SECOND, HOME);
    assertThat(take(Effect.Send.class)).isEmpty();
    assertThat(machine.delayNanos(now)).as("it sleeps").isGreaterThan(100 * MILLI);
  }

  @Test
  void nextCaller_whoIsTheSecond_waitsForItsTurn() {
    submit(false);
    reply(sent(), SECOND, HOME);
    releaseWithoutHandOff();
    assertThat(machine.delayNanos(now)).as("it sleeps").isGreaterThan(100 * MILLI);
  }

  @Test
  void nextCaller_whoseReplyComesAfterTheRelease_isAdmittedByIt() {
    submit(false);
    Effect.Send place = sent();
    release(lease);
    machine.effects().clear();
    reply(place, FIRST, HOME);
    assertThat(request(sent()).queueEntry()).isNotNull();
  }

  @Test
  void nextCaller_whoseReplyDoesNotCome_passesTheHomeNodeOver() {
    submit(false);
    machine.effects().clear();
    now += 40 * MILLI;
    release(lease);
    machine.effects().clear();
    assertThat(machine.delayNanos(now)).as("since it was sent").isEqualTo(35 * MILLI);
    pass(35);
    assertThat(sent(LockRequest.Enqueue.class).mask()).isEqualTo(1L << NEXT_HOME);
  }

  /** There is no hand-off before the minimum hold. */
  private void releaseBeforeTheMinimumHold() {
    options(TestNodes.options().fair(true).minimumHold(Duration.ofMillis(50)));
    machine = machine(TestNodes.KEYS);
    holdAsOthersWait();
    submit(false);
    reply(sent(), FIRST, HOME);
    releaseWithoutHandOff();
  }

  @Test
  void nextCaller_whoIsTheFirstButGetsNoHandOff_isAdmittedByItsReply() {
    releaseBeforeTheMinimumHold();
    wake();
    assertThat(request(sent()).queueEntry()).isNotNull();
  }

  @Test
  void nextCaller_whoIsAdmittedByItsReply_isRefusedAtOnce_ifTooFewNodesVote() {
    releaseBeforeTheMinimumHold();
    disconnect(0, 1);
    wake();
    assertThat(take(Effect.Send.class)).isEmpty();
    assertThat(machine.delayNanos(now)).as("it asks again after a pause").isEqualTo(50 * MILLI);
  }

  @Test
  void nextCaller_whoIsAdmittedByItsReply_hasItsPlaceThere_whenItsRoundFails() {
    submit(false);
    Effect.Send place = sent();
    release(lease);
    machine.effects().clear();
    disconnect(0, 1);
    reply(place, FIRST, HOME);
    assertThat(take(Effect.Send.class)).as("refused at once").isEmpty();
    assertThat(machine.delayNanos(now)).isEqualTo(50 * MILLI);
    nodes.state(0, NodeStatus.State.VOTING, 2);
    nodes.state(1, NodeStatus.State.VOTING, 2);
    machine.onNodeStatus(HOME, now, now / MILLI);
    wake();
    assertThat(sent(LockRequest.Enqueue.class).mask())
        .as("its place is there")
        .isEqualTo(1L << HOME);
  }
}
