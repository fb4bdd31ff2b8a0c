package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LeaseEnd;
import org.junit.jupiter.api.Test;

/** Only the body of {@code withLock} is interrupted, and only when it has lost its lease. */
class LossInterruptTest {
  private final LossInterrupt interrupt = new LossInterrupt(Thread.currentThread());

  @Test
  void loss_whileTheBodyRuns_interruptsItsThread() {
    interrupt.accept(LeaseEnd.LOST);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void loss_afterTheBodyHasReturned_interruptsNoThread() {
    interrupt.disarm();
    interrupt.accept(LeaseEnd.LOST);
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void release_ofTheBodysOwn_isNoLoss() {
    interrupt.accept(LeaseEnd.RELEASED);
    assertThat(Thread.interrupted()).isFalse();
  }
}
