package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

import java.time.Duration;

/**
 * What a node needs to know of the deployment it serves.
 *
 * @param maxLeaseTime the longest lease of the deployment; a node that may have forgotten stays out
 *     for at least that long
 * @param restartGuard how a node that may have forgotten is recognised
 * @param keyPrefix what all keys begin with, {@code redlock} unless configured
 * @param time the clock and timer to use
 * @param listener told of connections and pushes; called on I/O threads, never blocks
 */
public record NodeContext(
    Duration maxLeaseTime,
    RestartGuard restartGuard,
    String keyPrefix,
    Time time,
    NodeListener listener) {

  public NodeContext {
    requireNonNull(maxLeaseTime, "maxLeaseTime");
    requireNonNull(restartGuard, "restartGuard");
    requireNonNull(keyPrefix, "keyPrefix");
    requireNonNull(time, "time");
    requireNonNull(listener, "listener");
  }
}
