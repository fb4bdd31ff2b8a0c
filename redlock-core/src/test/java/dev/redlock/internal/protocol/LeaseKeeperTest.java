package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LeaseEnd;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReleaseHints;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LeaseKeeperTest extends MachineFixture {
  private static LockRequest.Release released(Effect.Send send) {
    return (LockRequest.Release) send.request();
  }

  @Test
  void release_beforeTheMinimumHold_keepsTheKeysAndTheNextCallerWaits() {
    options(TestNodes.options().minimumHold(Duration.ofMillis(50)));
    HeldLease l = acquire();
    now += 10 * MILLI;
    submit(false);
    machine.effects().clear();
    release(l);
    assertThat(released(sent()).keepMillis()).as("rounded up").isEqualTo(41);
    assertThat(machine.delayNanos(now)).as("a node keeps the last one whole").isEqualTo(42 * MILLI);
    wake();
    assertThat(sent(LockRequest.Acquire.class).mask()).isEqualTo(ALL);
  }

  @Test
  void close_beforeTheMinimumHold_keepsTheKeys() {
    options(TestNodes.options().minimumHold(Duration.ofMillis(50)));
    acquire();
    now += 10 * MILLI;
    machine.close(now, now / MILLI);
    assertThat(released(sent()).keepMillis()).isEqualTo(41);
  }

  @Test
  void release_ofAGrantWhoseCallerHadGivenUp_deletesTheKeysInSpiteOfTheMinimumHold() {
    options(TestNodes.options().minimumHold(Duration.ofMillis(50)));
    HeldLease l = acquire();
    l.unused();
    release(l);
    assertThat(released(sent()).keepMillis()).isZero();
  }

  @Test
  void release_afterTheMinimumHold_deletesTheKeys() {
    options(TestNodes.options().minimumHold(Duration.ofMillis(50)));
    HeldLease l = acquire();
    now += 50 * MILLI;
    release(l);
    assertThat(released(sent()).keepMillis()).isZero();
    submit(false);
    assertThat(sent().request()).as("at once").isInstanceOf(LockRequest.Acquire.class);
  }

  @Test
  void release_withoutAMinimumHold_doesNotMakeTheNextCallerSleep() {
    options(TestNodes.options().autoExtend(false));
    HeldLease l = acquire();
    submit(false);
    now += 900 * MILLI; // Too late for a hand-off.
    machine.effects().clear();
    release(l);
    assertThat(machine.effects()).noneMatch(Effect.Woken.class::isInstance);
    sent(LockRequest.Acquire.class);
  }

  @Test
  void release_atTheDeadline_comesTooLate() {
    HeldLease l = acquire();
    now = l.validity().deadlineNanos();
    release(l);
    assertThat(l.end()).isEqualTo(LeaseEnd.EXPIRED);
  }

  @Test
  void end_byTime_keepsTheKeysForWhatIsLeft() {
    options(TestNodes.options().autoExtend(false));
    HeldLease l = acquire();
    wake();
    assertThat(l.end()).isEqualTo(LeaseEnd.EXPIRED);
    long left = l.validity().deadlineNanos() - now;
    assertThat(left).isEqualTo(10 * MILLI);
    assertThat(released(sent()).keepMillis()).as("rounded up").isEqualTo(11);
  }

  @Test
  void end_byTheHolder_isHintedAsARelease() {
    release(acquire());
    assertThat(take(Effect.ReleaseHint.class))
        .extracting(Effect.ReleaseHint::reason)
        .containsExactly(ReleaseHints.Reason.RELEASED);
  }

  @Test
  void end_byTime_isHintedAsALoss() {
    HeldLease l = acquire();
    now = l.validity().deadlineNanos();
    timer();
    assertThat(take(Effect.ReleaseHint.class))
        .extracting(Effect.ReleaseHint::reason)
        .containsExactly(ReleaseHints.Reason.LOST);
  }

  /** A quarantined node has no vote on a loss. Its reply counts once the quarantine has ended. */
  @Test
  void loss_thatCountsOnlyAtTheTimeout_endsTheLease() {
    HeldLease l = acquire();
    machine.extend(l, ACK, now, now / MILLI);
    Effect.Send extend = sent(LockRequest.Extend.class);
    nodes.state(0, NodeStatus.State.QUARANTINED, 1);
    reply(extend, Code.LOST, 0, 1);
    assertThat(l.end()).isNull();
    nodes.state(0, NodeStatus.State.VOTING, 1);
    pass(101);
    assertThat(l.end()).isEqualTo(LeaseEnd.LOST);
    assertThat(machine.lease()).isNull();
    assertThat(take(Effect.Settle.class))
        .containsExactly(new Effect.Settle(ACK, new Effect.Result(null, LeaseEnd.LOST)));
  }
}
