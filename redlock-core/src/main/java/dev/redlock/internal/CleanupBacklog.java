package dev.redlock.internal;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Counts the pending releases of all names and bounds them: beyond the limit, the owner that has
 * had pending releases for longest gives up its oldest.
 *
 * <p>Owners are remembered only while there are many pending releases, so that counting is cheap
 * while nodes reply. An owner that changed nothing since is never chosen; its keys expire.
 */
final class CleanupBacklog {
  /** One dead node at 28 releases per second reaches it after one hour. */
  static final int LIMIT = 100_000;

  /** Owners are remembered from this fraction of the limit on: a tenth. */
  private static final int REMEMBERED_FRACTION = 10;

  /** The pending releases of one set of names. */
  interface BacklogOwner {
    /** Gives up the oldest pending release, now or soon; called on any thread. */
    void giveUpOldest();
  }

  private final int limit;
  private final Logger log;
  private final AtomicIntegerArray ofNode;
  private final AtomicInteger all = new AtomicInteger();
  private final AtomicBoolean warned = new AtomicBoolean();

  /** In the order of their first pending release. Guarded by its own monitor. */
  private final Set<BacklogOwner> owners = new LinkedHashSet<>();

  CleanupBacklog(int nodes, int limit, Logger log) {
    this.limit = limit;
    this.log = log;
    ofNode = new AtomicIntegerArray(nodes);
  }

  /**
   * Counts a change.
   *
   * @param by the change for each node, below zero for confirmed releases
   * @param pending whether this owner has any pending release left
   */
  void add(BacklogOwner owner, int[] by, boolean pending) {
    int sum = 0;
    for (int i = 0; i < by.length; i++) {
      if (by[i] != 0) {
        ofNode.addAndGet(i, by[i]);
        sum += by[i];
      }
    }
    int now = all.addAndGet(sum);
    // The change that brings the count below has to clear the owners: no later change would.
    if (now < limit / REMEMBERED_FRACTION && now - sum < limit / REMEMBERED_FRACTION) {
      return;
    }
    BacklogOwner oldest = oldestOwner(owner, pending, now > limit && sum > 0);
    if (oldest != null) {
      if (warned.compareAndSet(false, true)) {
        log.warn(
            "more than {} releases are pending: the oldest are given up, and their keys expire",
            limit);
      }
      oldest.giveUpOldest();
    }
  }

  private @Nullable BacklogOwner oldestOwner(BacklogOwner owner, boolean pending, boolean tooMany) {
    synchronized (owners) {
      if (all.get() < limit / REMEMBERED_FRACTION) {
        owners.clear();
        return null;
      }
      if (pending) {
        owners.add(owner);
      } else {
        owners.remove(owner);
      }
      Iterator<BacklogOwner> first = owners.iterator();
      if (!tooMany || !first.hasNext()) {
        return null;
      }
      BacklogOwner oldest = first.next();
      first.remove(); // Its next change adds it again.
      return oldest;
    }
  }

  int of(int node) {
    return ofNode.get(node);
  }
}
