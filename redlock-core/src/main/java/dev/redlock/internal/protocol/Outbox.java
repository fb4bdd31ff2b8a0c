package dev.redlock.internal.protocol;

import java.util.LinkedHashSet;
import java.util.Set;

/**
 * What one node is to be sent later, in order: releases that it has failed, and those that came
 * while it had no connection.
 *
 * <p>The connection is the unit of failure. A new one carries all of them, releases of expired
 * leases each at its turn, and so does one on which the node executes again, as its adapter
 * reports; see {@link PendingReleases#onWorks}. Until then a node without a connection, or one that
 * is erring, gets nothing.
 *
 * <p>After any other error the connection stays. The naive way gives each release a timer of its
 * own. But a node that fails one release fails them all: with thousands of them the client does
 * little else, and the node gets thousands of commands a second. So the node is asked with one
 * release, after a pause that doubles. Each release that it confirms sends two more.
 */
final class Outbox {
  private static final long FIRST_PAUSE_NANOS = 20_000_000;
  private static final long MAX_PAUSE_NANOS = 1_000_000_000;

  /** How many more are sent for each one that is confirmed. */
  private static final int MORE = 2;

  private final int node;
  private final PendingReleases releases;
  final Set<PendingRelease> later = new LinkedHashSet<>(4);

  private long pauseNanos = FIRST_PAUSE_NANOS;
  private boolean pauses;
  private long pausesUntilNanos;

  Outbox(int node, PendingReleases releases) {
    this.node = node;
    this.releases = releases;
  }

  void add(PendingRelease release, long nowNanos) {
    pauses &= !later.isEmpty(); // Else what it pauses for is gone.
    later.add(release);
    pause(nowNanos);
  }

  void remove(PendingRelease release) {
    later.remove(release);
  }

  private void pause(long nowNanos) {
    if (!pauses && !later.isEmpty() && works()) {
      pauses = true;
      pausesUntilNanos = nowNanos + pauseNanos;
      pauseNanos = Math.min(MAX_PAUSE_NANOS, 2 * pauseNanos);
    }
  }

  /** The node has confirmed a release: it may execute now what it failed to do before. */
  void onConfirmed(long nowNanos) {
    pauseNanos = FIRST_PAUSE_NANOS;
    if (works()) {
      send(MORE, nowNanos);
    }
  }

  void onTimer(long nowNanos) {
    if (pauses && pausesUntilNanos - nowNanos <= 0) {
      pauses = false;
      if (works()) {
        send(1, nowNanos);
      }
      pause(nowNanos);
    }
  }

  private boolean works() {
    return releases.nodes.status(node).works();
  }

  /** Sends the oldest; those come back for which the node has no connection any more. */
  void send(int limit, long nowNanos) {
    for (PendingRelease release : later.stream().limit(limit).toList()) {
      later.remove(release);
      releases.send(release, 1L << node, nowNanos);
    }
  }

  void deadlines(NextWake wake) {
    if (pauses && !later.isEmpty()) {
      wake.at(pausesUntilNanos);
    }
  }
}
