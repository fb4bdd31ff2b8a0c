package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/**
 * What a node needs to know about the deployment.
 *
 * @param maxLeaseTime the longest lease time of the deployment; a node that may have forgotten
 *     leases stays in quarantine for at least that long
 * @param restartGuard how the node detects this
 * @param keyPrefix the prefix of all keys; {@code redlock} unless configured
 * @param label the {@linkplain dev.redlock.RedlockBuilder#label label} of the client, for the
 *     people who look at the server; empty if it has none
 * @param time the clock and timer to use
 * @param listener receives changes of the status and invalidations; called on I/O threads, never
 *     blocks
 */
public record NodeContext(
    Duration maxLeaseTime,
    RestartGuard restartGuard,
    String keyPrefix,
    String label,
    Time time,
    NodeListener listener) {

  public NodeContext {
    requireNonNull(maxLeaseTime, "maxLeaseTime");
    requireNonNull(restartGuard, "restartGuard");
    requireNonNull(keyPrefix, "keyPrefix");
    requireNonNull(label, "label");
    requireNonNull(time, "time");
    requireNonNull(listener, "listener");
  }
}
