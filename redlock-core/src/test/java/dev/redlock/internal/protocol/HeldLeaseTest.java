package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireVerdict;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeldLeaseTest {
  private static final long MILLI = TestNodes.MILLI;
  private static final long START = 10_000 * MILLI;

  private final TestNodes nodes = new TestNodes(3);
  private final List<Effect> effects = new ArrayList<>();

  private HeldLease lease(LockOptions.Builder options) {
    LockOptions config = options.build();
    AcquireRound won = nodes.round(config, START, TestNodes.reply(Code.GRANTED), 0, 1, 2);
    assertThat(won.verdict()).isEqualTo(AcquireVerdict.ACQUIRED);
    return new HeldLease(new Grant(won, config), nodes, new TestNodes.Middle(), effects);
  }

  private static boolean handsOff(HeldLease l, long now) {
    Waiter next = new TestNodes.Caller(l.options(), now, MILLI, false);
    return l.mayHandOff(next, now, now / MILLI);
  }

  private static long remaining(HeldLease l, long now) {
    return l.remainingNanos(now, now / MILLI);
  }

  @Test
  void remaining_startsBeforeTheFirstSendAndLeavesOutTheDrift() {
    HeldLease l = lease(TestNodes.options());
    long drift = l.options().drift().toNanos();
    assertThat(remaining(l, START + 10 * MILLI)).isEqualTo(990 * MILLI - drift);
    assertThat(remaining(l, START + 1000 * MILLI)).isZero();
  }

  /** Two clients overlapped by 6 ms, by what each had read when it was granted the lock. */
  @Test
  void keys_ofALeaseThatEndedByItself_stayForWhatWasLeft() {
    HeldLease l = lease(TestNodes.options());
    long end = START + remaining(l, START) - 10 * MILLI;
    assertThat(l.overdue(end, end / MILLI)).isEqualTo(LeaseEnd.EXPIRED);
    l.finish(LeaseEnd.EXPIRED);
    assertThat(l.keepNanos(end)).isEqualTo(10 * MILLI);
    assertThat(l.keepNanos(end + 10 * MILLI)).isZero();
  }

  @Test
  void keys_ofALeaseThatExpired_stayForTheMinimumHold_unlessTheMachineWasSuspended() {
    HeldLease l = lease(TestNodes.options().minimumHold(Duration.ofSeconds(1)));
    l.finish(LeaseEnd.EXPIRED);
    long end = l.validity().deadlineNanos();
    assertThat(l.keepNanos(end)).isEqualTo(l.grantedNanos + 1000 * MILLI - end).isPositive();
    assertThat(l.keepNanos(end - 500 * MILLI)).isZero();
  }

  @Test
  void keys_ofALeaseThatIsLost_areDeletedInSpiteOfTheMinimumHold() {
    HeldLease l = lease(TestNodes.options().minimumHold(Duration.ofSeconds(1)));
    l.finish(LeaseEnd.LOST);
    assertThat(l.keepNanos(l.grantedNanos)).isZero();
  }

  @Test
  void remaining_onceReleaseIsAsked_isZero() {
    HeldLease l = lease(TestNodes.options());
    l.askRelease();
    assertThat(remaining(l, START)).isZero();
    assertThat(l.end()).as("its end is for the queue to say").isNull();
  }

  @Test
  void remaining_onceEnded_isZero() {
    HeldLease l = lease(TestNodes.options());
    l.finish(LeaseEnd.LOST);
    assertThat(remaining(l, START)).isZero();
  }

  @Test
  void overdue_comesBeforeTheDeadline() {
    HeldLease l = lease(TestNodes.options());
    long deadline = l.validity().deadlineNanos();
    assertThat(l.overdue(deadline - 11 * MILLI, deadline / MILLI - 11)).isNull();
    assertThat(l.overdue(deadline - MILLI, deadline / MILLI - 1)).isEqualTo(LeaseEnd.EXPIRED);
  }

  @Test
  void overdue_atTheCap_saysSo() {
    HeldLease l = lease(TestNodes.options().holdCap(Duration.ofSeconds(1)));
    long late = START + 2000 * MILLI;
    l.grant.renew(new Validity(START + 100 * MILLI, START / MILLI, 1000 * MILLI, 0));
    assertThat(l.overdue(late, late / MILLI)).isEqualTo(LeaseEnd.CAP_REACHED);
  }

  @Test
  void localHandOff_givesTheNextTokenOfTheSameGrant() {
    HeldLease l = lease(TestNodes.options());
    HeldLease next = new HeldLease(l, START + MILLI);
    assertThat(next.id()).isEqualTo(l.id());
    assertThat(next.grant.token).isEqualTo(l.grant.token);
    assertThat(next.token()).isEqualTo(l.token() + 1);
    assertThat(next.validity()).as("it is not trusted for longer").isSameAs(l.validity());
    l.askRelease();
    assertThat(remaining(next, START + MILLI)).as("its own release").isPositive();
  }

  @Test
  void localHandOff_ofFreshVotes_isAllowedForANodeTimeout() {
    HeldLease l = lease(TestNodes.options());
    assertThat(handsOff(l, START + 100 * MILLI)).isTrue();
    assertThat(handsOff(l, START + 101 * MILLI)).isFalse();
  }

  @Test
  void localHandOff_whenVotesWereOnBrokenConnections_isNotAllowed() {
    HeldLease l = lease(TestNodes.options());
    nodes.state(0, NodeStatus.State.VOTING, 2);
    assertThat(handsOff(l, START)).as("two votes are left").isTrue();
    nodes.state(1, NodeStatus.State.CONNECTING, 1);
    assertThat(handsOff(l, START)).isFalse();
  }

  @Test
  void localHandOff_afterAnInvalidation_isNotAllowed() {
    HeldLease l = lease(TestNodes.options());
    l.extender.onInvalidation(0);
    assertThat(handsOff(l, START + MILLI)).isFalse();
  }

  @Test
  void localHandOff_inFairModeOrWithoutExtension_isNotAllowed() {
    assertThat(handsOff(lease(TestNodes.options().fair(true)), START)).isFalse();
    assertThat(handsOff(lease(TestNodes.options().autoExtend(false)), START)).isFalse();
  }

  @Test
  void localHandOff_whenTheGrantHasNoTokenLeft_isNotAllowed() {
    HeldLease l = lease(TestNodes.options().maxHandOffs(1_000));
    int leases = 1;
    for (; handsOff(l, START); leases++) {
      l = new HeldLease(l, START);
    }
    assertThat(leases).isEqualTo((int) HeldLease.TOKENS_PER_GRANT);
  }
}
