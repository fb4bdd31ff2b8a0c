package dev.redlock.internal;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.slf4j.Logger;

/** Counts the orders to release that nodes have not confirmed, over all names, and bounds them. */
final class OwedCleanups {
  /** Beyond it the oldest are given up: an hour of a dead node at a rate that few reach. */
  private static final int MOST = 100_000;

  private final Logger log;
  private final AtomicIntegerArray ofNode;
  private final AtomicInteger all = new AtomicInteger();
  private final AtomicBoolean warned = new AtomicBoolean();

  OwedCleanups(int nodes, Logger log) {
    this.log = log;
    ofNode = new AtomicIntegerArray(nodes);
  }

  /** Adds to what each node owes; true if it has become too much. */
  boolean add(int[] by) {
    int sum = 0;
    for (int i = 0; i < by.length; i++) {
      if (by[i] != 0) {
        ofNode.addAndGet(i, by[i]);
        sum += by[i];
      }
    }
    boolean tooMany = all.addAndGet(sum) > MOST && sum > 0;
    if (tooMany && warned.compareAndSet(false, true)) {
      log.warn("nodes owe more than {} releases: the oldest are left to their time to live", MOST);
    }
    return tooMany;
  }

  int of(int node) {
    return ofNode.get(node);
  }
}
