package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireReport;
import dev.redlock.LeaseEnd;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyCode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LockMachineTest {
  private static final long MILLI = TestNodes.MILLI;
  private static final long ALL = 0b111;
  private static final Effect.Ack ACK = new Effect.Ack() {};

  private final TestNodes nodes = new TestNodes(3);
  private final LockConfig config = LockConfig.of(TestNodes.options().build());
  private final LockMachine machine =
      new LockMachine(TestNodes.KEYS, nodes, new TestNodes.Middle(), "p");
  private long now = 10_000 * MILLI;

  private Waiter submit(boolean singleTry) {
    Waiter w = new TestNodes.Caller(config, now, 5000 * MILLI, singleTry);
    machine.submit(w, now, now / MILLI);
    return w;
  }

  private <T extends Effect> List<T> take(Class<T> type) {
    List<T> taken = new ArrayList<>();
    for (Effect effect : machine.effects()) {
      if (type.isInstance(effect)) {
        taken.add(type.cast(effect));
      }
    }
    machine.effects().clear();
    return taken;
  }

  private Effect.Send sent() {
    List<Effect.Send> sent = take(Effect.Send.class);
    assertThat(sent).hasSize(1);
    return sent.get(0);
  }

  private void reply(Effect.Send send, ReplyCode code, int... from) {
    reply(send, TestNodes.reply(code), from);
  }

  private void reply(Effect.Send send, NodeReply reply, int... from) {
    for (int node : from) {
      machine.onReply(send.exchange(), node, reply, now, now / MILLI);
    }
  }

  private HeldLease acquire() {
    submit(false);
    reply(sent(), ReplyCode.GRANTED, 0, 1, 2);
    List<Effect.Granted> granted = take(Effect.Granted.class);
    assertThat(granted).hasSize(1);
    return granted.get(0).lease();
  }

  @Test
  void submit_ofFreeLock_asksAllNodesAtOnce() {
    submit(false);
    Effect.Send send = sent();
    assertThat(send.mask()).isEqualTo(ALL);
    assertThat(send.request()).isInstanceOf(LockRequest.Acquire.class);
  }

  @Test
  void reply_thatMakesAQuorum_grants() {
    Waiter w = submit(false);
    Effect.Send send = sent();
    reply(send, ReplyCode.GRANTED, 0);
    assertThat(machine.lease()).as("one of three").isNull();
    reply(send, ReplyCode.GRANTED, 0);
    assertThat(machine.lease()).as("a copy of the same reply").isNull();
    reply(send, ReplyCode.GRANTED, 2);
    assertThat(take(Effect.Granted.class))
        .singleElement()
        .satisfies(grant -> assertThat(grant.waiter()).isSameAs(w));
  }

  @Test
  void reply_afterTheConnectionBroke_isNoVote() {
    submit(false);
    Effect.Send send = sent();
    reply(send, ReplyCode.GRANTED, 0);
    nodes.state(0, NodeStatus.State.VOTING, 2);
    reply(send, ReplyCode.GRANTED, 1);
    assertThat(machine.lease()).isNull();
  }

  @Test
  void submit_ofSingleTryWhileHeld_isRefusedWithoutAskingANode() {
    acquire();
    submit(true);
    assertThat(machine.effects())
        .singleElement()
        .isInstanceOfSatisfying(
            Effect.Refuse.class,
            refuse ->
                assertThat(refuse.report().verdict())
                    .isEqualTo(AcquireReport.Verdict.HELD_LOCALLY));
  }

  @Test
  void refusal_byAHolder_rollsBackAndEntersTheQueueOfTheHomeNode() {
    submit(false);
    Effect.Send send = sent();
    reply(send, TestNodes.held(200), 0, 1);
    List<Effect.Send> sent = take(Effect.Send.class);
    Effect.Send enqueue = sent.get(sent.size() - 1);
    Effect.Send undo = sent.get(sent.size() - 2);
    assertThat(undo.request()).isInstanceOf(LockRequest.Release.class);
    assertThat(undo.mask()).as("all that were asked").isEqualTo(ALL);
    assertThat(enqueue.request()).isInstanceOf(LockRequest.Enqueue.class);
    assertThat(Long.bitCount(enqueue.mask())).isEqualTo(1);
  }

  @Test
  void release_withoutWaiter_isConfirmedByAQuorum() {
    HeldLease l = acquire();
    machine.release(l, ACK, now, now / MILLI);
    assertThat(l.end()).isEqualTo(LeaseEnd.RELEASED);
    Effect.Send send = sent();
    assertThat(send.mask()).isEqualTo(ALL);
    reply(send, ReplyCode.RELEASED, 0);
    assertThat(take(Effect.Settle.class)).isEmpty();
    reply(send, ReplyCode.RELEASED, 1);
    assertThat(take(Effect.Settle.class)).hasSize(1);
    assertThat(machine.isIdle()).as("n2 has not replied").isFalse();
    reply(send, ReplyCode.RELEASED, 2);
    assertThat(machine.isIdle()).isTrue();
  }

  @Test
  void release_withWaiter_handsOffLocally() {
    HeldLease l = acquire();
    Waiter next = submit(false);
    machine.effects().clear();
    machine.release(l, ACK, now, now / MILLI);
    assertThat(machine.effects()).as("no node is asked").noneMatch(Effect.Send.class::isInstance);
    assertThat(l.end()).isEqualTo(LeaseEnd.HANDED_OFF);
    List<Effect.Granted> granted = take(Effect.Granted.class);
    assertThat(granted).hasSize(1);
    assertThat(granted.get(0).waiter()).isSameAs(next);
    assertThat(granted.get(0).lease().token()).isEqualTo(l.token() + 1);
  }

  @Test
  void release_withWaiterAndOldVotes_handsOffByARound() {
    HeldLease l = acquire();
    submit(false);
    machine.effects().clear();
    now += 101 * MILLI;
    machine.release(l, ACK, now, now / MILLI);
    assertThat(machine.lease()).isNull();
    LockRequest request = sent().request();
    assertThat(request)
        .isInstanceOfSatisfying(
            LockRequest.Acquire.class,
            acquire -> assertThat(acquire.previousLeaseId()).isEqualTo(l.id()));
  }

  @Test
  void cancel_whileNodesAreAsked_rollsBackOnAllOfThem() {
    Waiter w = submit(false);
    sent();
    assertThat(machine.cancel(w, now, now / MILLI)).isTrue();
    Effect.Send undo = sent();
    assertThat(undo.request()).isInstanceOf(LockRequest.Release.class);
    assertThat(undo.mask()).isEqualTo(ALL);
    assertThat(machine.cancel(w, now, now / MILLI)).as("twice").isFalse();
  }

  @Test
  void timer_atTheEndOfValidity_endsTheLeaseAndReleasesIt() {
    HeldLease l = acquire();
    machine.stopExtending(l);
    now = l.validity().deadlineNanos();
    machine.onTimer(now, now / MILLI);
    assertThat(l.end()).isEqualTo(LeaseEnd.EXPIRED);
    assertThat(sent().request()).isInstanceOf(LockRequest.Release.class);
  }

  @Test
  void timer_afterAThirdOfTheLeaseTime_extends() {
    HeldLease l = acquire();
    now = l.validity().startNanos() + config.ttlNanos() / 3;
    machine.onTimer(now, now / MILLI);
    Effect.Send extend = sent();
    long before = l.validity().deadlineNanos();
    reply(extend, ReplyCode.EXTENDED, 0);
    assertThat(l.validity().deadlineNanos()).isEqualTo(before);
    reply(extend, ReplyCode.EXTENDED, 1);
    assertThat(l.validity().deadlineNanos()).isGreaterThan(before);
  }

  @Test
  void close_withLeaseAndWaiter_releasesAndRefuses() {
    HeldLease l = acquire();
    submit(false);
    machine.close(now, now / MILLI);
    assertThat(l.end()).isEqualTo(LeaseEnd.RELEASED);
    assertThat(take(Effect.Refuse.class)).hasSize(1);
    submit(false);
    assertThat(take(Effect.Refuse.class)).as("a later caller").hasSize(1);
  }

  /** Seed 3816: the hint came before a timer that was late, and the lease stayed. */
  @Test
  void releaseHint_afterTheEndOfTheValidity_endsTheLease() {
    HeldLease l = acquire();
    now += 2000 * MILLI;
    machine.onReleaseHint(now, now / MILLI);
    assertThat(l.end()).isEqualTo(LeaseEnd.EXPIRED);
    assertThat(machine.lease()).isNull();
  }
}
