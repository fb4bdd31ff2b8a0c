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
  private static LockRequest.Release request(Effect.Send send) {
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
    assertThat(request(sent()).keepMillis()).as("rounded up").isEqualTo(41);
    assertThat(machine.delayNanos(now)).isEqualTo(41 * MILLI);
    wake();
    assertThat(sent(LockRequest.Acquire.class).mask()).isEqualTo(ALL);
  }

  /** Extends the lease at each third of the lease time; returns when no extension is due before. */
  private void extendUntil(long atMillis) {
    while (now + machine.delayNanos(now) < atMillis * MILLI) {
      wake();
      reply(sent(LockRequest.Extend.class), Code.EXTENDED, 0, 1, 2);
    }
    machine.effects().clear();
    now = atMillis * MILLI;
  }

  @Test
  void release_longBeforeTheMinimumHold_endsForTheHolderAndIsExtendedUntilTheNodesCanKeepTheLock() {
    options(TestNodes.options().minimumHold(Duration.ofSeconds(5)));
    long start = now / MILLI;
    HeldLease l = acquire();
    now += 10 * MILLI;
    release(l);
    assertThat(take(Effect.class))
        .extracting(effect -> effect.getClass().getSimpleName())
        .as("nothing is sent to the nodes")
        .containsExactly("End", "Settle");
    assertThat(l.remainingNanos(now, now / MILLI)).isZero();
    submit(true);
    assertThat(take(Effect.Refuse.class)).hasSize(1);
    submit(60_000, false);
    machine.effects().clear();
    extendUntil(start + 5000 - config.ttlMillis());
    assertThat(machine.lease()).as("its keys would expire before the minimum hold").isSameAs(l);
    wake();
    reply(sent(LockRequest.Extend.class), Code.EXTENDED, 0, 1, 2);
    assertThat(take(Effect.End.class)).as("a second end").isEmpty();
    assertThat(machine.lease()).isNull();
    submit(true);
    assertThat(take(Effect.Refuse.class)).as("until the nodes drop the keys").hasSize(1);
    now = (start + 5001) * MILLI;
    timer();
    assertThat(sent(LockRequest.Acquire.class).mask()).isEqualTo(ALL);
  }

  @Test
  void release_withTheRestOfTheMinimumHold_keepsTheKeysForTheLeaseTimeAtMost() {
    options(TestNodes.options().minimumHold(Duration.ofSeconds(5)));
    acquire();
    now += 10 * MILLI;
    machine.close(now, now / MILLI);
    assertThat(request(sent()).keepMillis()).isEqualTo(config.ttlMillis() + 1);
  }

  @Test
  void lossOfALeaseThatIsKept_letsTheNextCallerAsk() {
    options(TestNodes.options().minimumHold(Duration.ofSeconds(5)));
    HeldLease l = acquire();
    release(l);
    submit(60_000, false);
    machine.effects().clear();
    now = l.validity().deadlineNanos();
    timer();
    assertThat(machine.effects()).noneMatch(Effect.End.class::isInstance);
    assertThat(machine.effects())
        .anyMatch(
            effect ->
                effect instanceof Effect.Send send
                    && send.request() instanceof LockRequest.Acquire);
  }

  @Test
  void release_afterTheMinimumHold_deletesTheKeys() {
    options(TestNodes.options().minimumHold(Duration.ofMillis(50)));
    HeldLease l = acquire();
    now += 50 * MILLI;
    release(l);
    assertThat(request(sent()).keepMillis()).isZero();
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
        .containsExactly(new Effect.Settle(ACK, Effect.Result.over(LeaseEnd.LOST)));
  }
}
