package dev.redlock.internal;

import dev.redlock.LeaseEnd;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.Validity;
import dev.redlock.internal.text.Printable;
import dev.redlock.spi.LockKeys;
import java.time.Duration;

/** Logs each lease that ended while it was held: its names, its token, why, and what to do. */
record LossLog(ClientContext context) {
  /** A lease ends up to 10 ms before its deadline. More than this was left by one of the clocks. */
  private static final long EARLY_NANOS = 100_000_000;

  void ended(HeldLease lease, LeaseEnd how) {
    if (how.byHolder() || how == LeaseEnd.CLOSED) {
      return; // The application closed the client; with a grace period, the close logs the names.
    }
    // Without automatic extension the caller may have meant the lease to end by itself.
    boolean warning = how != LeaseEnd.EXPIRED || lease.options().autoExtend();
    context.bursts.add(
        warning, "leases ended while they were held: " + how, () -> line(lease, how));
  }

  private String line(HeldLease lease, LeaseEnd how) {
    return ("lease on [%s] with token %s ended while it was held: %s, %s. Stop the work under it:"
            + " another client may hold the lock now")
        .formatted(LockKeys.shown(lease.keys().names()), lease.token(), how, cause(lease, how));
  }

  private String cause(HeldLease lease, LeaseEnd how) {
    return switch (how) {
      case LOST ->
          "a quorum of nodes no longer stores it: an operator broke the lock, or nodes lost it";
      case CAP_REACHED ->
          "it reached its hold cap of "
              + Printable.of(Duration.ofNanos(lease.options().holdCap().toNanos()));
      case EXPIRED -> expiry(lease);
      case RELEASED, HANDED_OFF -> "its holder ended it";
      case CLOSED -> "its client was closed";
    };
  }

  private String expiry(HeldLease lease) {
    Validity validity = lease.validity();
    long now = context.time.nanos();
    if (validity.deadlineNanos() - now > EARLY_NANOS) {
      long wall = context.time.wallMillis() - validity.startWallMillis();
      return ("the wall clock of this machine has gone %s ms further than its monotonic clock since"
              + " the last extension: it was set forward, or the machine was suspended")
          .formatted(wall - (now - validity.startNanos()) / 1_000_000);
    }
    return lease.options().autoExtend()
        ? ("it was not extended in time: this client was paused, or too few nodes replied"
                + " (%s vote now)")
            .formatted(context.nodes.voting())
        : "it is not extended automatically";
  }
}
