package dev.redlock.internal.protocol;

import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The releases that nodes failed to execute, and when they are repeated.
 *
 * <p>The naive way gives each release a timer of its own. But a node that fails one release fails
 * them all: with thousands of them the client does little else, and the node gets thousands of
 * commands a second. So the node is asked with one release, after a pause that doubles. Each
 * release that it confirms sends two more. A node that is erring gets nothing until its adapter
 * reports that it works.
 */
final class FailedReleases {
  private static final long FIRST_RETRY_NANOS = 20_000_000;
  private static final long MAX_RETRY_NANOS = 1_000_000_000;
  private static final int MAX_DOUBLINGS = 6;

  /** How many more are sent for each one that is confirmed. */
  private static final int MORE = 2;

  /** What one node failed to do, oldest first, and when it is asked again. */
  private static final class Failed {
    final Set<PendingRelease> releases = new LinkedHashSet<>();
    int inARow;
    boolean scheduled;
    long retryNanos;
  }

  private final Nodes nodes;
  private final PendingReleases pendingReleases;

  /** By node; null where nothing has failed. */
  private @Nullable Failed[] failed;

  FailedReleases(Nodes nodes, PendingReleases pendingReleases) {
    this.nodes = nodes;
    this.pendingReleases = pendingReleases;
    failed = new Failed[nodes.count()];
  }

  void add(PendingRelease release, int node, long nowNanos) {
    if (node >= failed.length) {
      failed = Arrays.copyOf(failed, nodes.count()); // A member since the lock was made.
    }
    Failed f = failed[node];
    if (f == null) {
      f = new Failed();
      failed[node] = f;
    }
    f.releases.add(release);
    if (!f.scheduled && !nodes.status(node).erring()) { // else: when it works again.
      f.scheduled = true;
      long pause = FIRST_RETRY_NANOS << Math.min(MAX_DOUBLINGS, f.inARow++);
      f.retryNanos = nowNanos + Math.min(MAX_RETRY_NANOS, pause);
    }
  }

  /** The node has confirmed a release: it may execute now what it failed to do before. */
  void onConfirmed(int node, long nowNanos) {
    Failed f = node < failed.length ? failed[node] : null;
    if (f != null) {
      f.inARow = 0;
      repeat(f, node, MORE, nowNanos);
    }
  }

  private void repeat(Failed f, int node, int limit, long nowNanos) {
    if (!nodes.status(node).works()) {
      return;
    }
    Iterator<PendingRelease> oldest = f.releases.iterator();
    for (int i = 0; i < limit && oldest.hasNext(); i++) {
      PendingRelease release = oldest.next();
      oldest.remove();
      pendingReleases.send(release, release.todo & 1L << node, nowNanos);
    }
    if (f.releases.isEmpty()) {
      f.scheduled = false;
    }
  }

  /** The release is not repeated any more. */
  void forget(PendingRelease release) {
    for (Failed f : failed) {
      if (f != null) {
        f.releases.remove(release);
      }
    }
  }

  /** The caller sends again all that the node has not confirmed. */
  void forgetNode(int node) {
    if (node < failed.length) {
      failed[node] = null;
    }
  }

  void onTimer(long nowNanos) {
    for (int i = 0; i < failed.length; i++) {
      Failed f = failed[i];
      if (f != null && f.scheduled && f.retryNanos - nowNanos <= 0) {
        f.scheduled = false;
        repeat(f, i, 1, nowNanos);
      }
    }
  }

  void deadlines(NextWake wake) {
    for (Failed f : failed) {
      if (f != null && f.scheduled) {
        wake.at(f.retryNanos);
      }
    }
  }
}
