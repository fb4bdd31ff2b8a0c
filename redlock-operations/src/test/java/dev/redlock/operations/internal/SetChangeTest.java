package dev.redlock.operations.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class SetChangeTest {
  /** Seed 1 of SHELL_SETS: the lease of the operator ended at the hold cap, before its wait. */
  @Test
  void options_defaultsEndLeasesEarly_leaseOfAnOperatorIsExtendedToTheEnd() {
    LockOptions defaults =
        LockOptions.builder()
            .leaseTime(Duration.ofSeconds(2))
            .autoExtend(false)
            .holdCap(Duration.ofSeconds(2))
            .minimumHold(Duration.ofSeconds(1))
            .build();
    LockOptions options = SetChange.options(defaults);
    assertThat(options.autoExtend()).isTrue();
    assertThat(options.holdCap()).isGreaterThan(Duration.ofDays(365));
    assertThat(options.minimumHold()).isZero();
    assertThat(options.leaseTime()).isEqualTo(defaults.leaseTime());
  }
}
