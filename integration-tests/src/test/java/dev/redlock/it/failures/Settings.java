package dev.redlock.it.failures;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.List;

/**
 * What harness and workers must agree on.
 *
 * @param leaseTime of every lock, and the longest there is
 * @param guard whether a master that may have forgotten is kept out
 */
record Settings(Duration leaseTime, boolean guard) {
  static final int MASTERS = 5;
  static final int QUORUM = 3;

  /** The lock that every worker wants all the time, and that guards the registers. */
  static final String HOT = "hot";

  Redlock client(List<String> masters, RedlockListener listener) {
    return Redlock.builder()
        .nodes(masters.toArray(String[]::new))
        .defaults(LockOptions.builder().leaseTime(leaseTime).build())
        .maxLeaseTime(leaseTime)
        .restartGuard(guard ? RestartGuard.uptime() : RestartGuard.off())
        .listener(listener)
        .build();
  }

  static int voting(Redlock redlock) {
    return (int) redlock.nodes().stream().filter(n -> n.state().equals("VOTING")).count();
  }
}
