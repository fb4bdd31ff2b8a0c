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
 * Counts the orders to release that nodes have not confirmed, over all names, and bounds them: once
 * there are too many, whoever has owed for longest gives up its oldest.
 *
 * <p>Who owes is noted only once there are many orders, so that it costs nothing as long as nodes
 * answer. Orders from before that are never chosen; they end with their time to live.
 */
final class OwedCleanups {
  /** An hour of a dead node at a rate that few reach. */
  static final int MOST = 100_000;

  /** A share of the bound from which it is noted who owes. */
  private static final int NOTED_FROM = 10;

  /** The orders of one set of names. */
  interface Debtor {
    /** Gives up the oldest order, now or soon; called on any thread. */
    void giveUpOldest();
  }

  private final int most;
  private final Logger log;
  private final AtomicIntegerArray ofNode;
  private final AtomicInteger all = new AtomicInteger();
  private final AtomicBoolean warned = new AtomicBoolean();

  /** In the order in which they came to owe. Guarded by itself. */
  private final Set<Debtor> debtors = new LinkedHashSet<>();

  OwedCleanups(int nodes, int most, Logger log) {
    this.most = most;
    this.log = log;
    ofNode = new AtomicIntegerArray(nodes);
  }

  /**
   * Adds to what each node owes.
   *
   * @param owes whether this debtor has any order left
   */
  void add(Debtor debtor, int[] by, boolean owes) {
    int sum = 0;
    for (int i = 0; i < by.length; i++) {
      if (by[i] != 0) {
        ofNode.addAndGet(i, by[i]);
        sum += by[i];
      }
    }
    int now = all.addAndGet(sum);
    // The one who brings it below has to look as well, or the last ones would be kept for ever.
    if (now < most / NOTED_FROM && now - sum < most / NOTED_FROM) {
      return;
    }
    Debtor oldest = note(debtor, owes, now > most && sum > 0);
    if (oldest != null) {
      if (warned.compareAndSet(false, true)) {
        log.warn(
            "nodes owe more than {} releases: the oldest are left to their time to live", most);
      }
      oldest.giveUpOldest();
    }
  }

  private @Nullable Debtor note(Debtor debtor, boolean owes, boolean tooMany) {
    synchronized (debtors) {
      if (all.get() < most / NOTED_FROM) {
        debtors.clear();
        return null;
      }
      if (owes) {
        debtors.add(debtor);
      } else {
        debtors.remove(debtor);
      }
      Iterator<Debtor> first = debtors.iterator();
      if (!tooMany || !first.hasNext()) {
        return null;
      }
      Debtor oldest = first.next();
      first.remove(); // If it owes more it says so again.
      return oldest;
    }
  }

  int of(int node) {
    return ofNode.get(node);
  }
}
