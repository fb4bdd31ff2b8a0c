package dev.redlock.operations.internal;

import com.google.common.collect.LinkedHashMultiset;
import com.google.common.collect.Multiset;
import com.google.common.collect.Multisets;
import dev.redlock.internal.operations.OperatorClient;
import dev.redlock.internal.sets.Members;
import dev.redlock.internal.text.HolderMark;
import dev.redlock.operations.LockListing;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockReader.StoredLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What the nodes store for the names of one page. */
final class PageMerge {
  private final OperatorClient client;
  private final Members members;

  /** By lock key, then by node. Guarded by this: replies come on several threads. */
  private final Map<String, Map<Integer, StoredLock>> stored = new HashMap<>();

  PageMerge(OperatorClient client, Members members) {
    this.client = client;
    this.members = members;
  }

  synchronized void add(int node, List<StoredLock> locks) {
    for (StoredLock lock : locks) {
      stored.computeIfAbsent(lock.lockKey(), key -> new HashMap<>()).put(node, lock);
    }
  }

  /**
   * The locks that are held.
   *
   * @param scanned nodes whose locks were listed before
   * @param readable how many nodes can be read; the others may store any of the locks
   */
  synchronized List<LockListing.Entry> locks(
      List<StoredLock> found, List<Integer> scanned, int readable) {
    List<LockListing.Entry> locks = new ArrayList<>();
    int unknown = members.count() - readable;
    for (StoredLock lock : found) {
      Map<Integer, StoredLock> byNode = stored.get(lock.lockKey());
      if (byNode == null || scanned.stream().anyMatch(byNode::containsKey)) {
        continue;
      }
      HolderMark holder = holderOf(byNode);
      List<Long> remaining = new ArrayList<>();
      Map<String, Integer> waiting = new HashMap<>();
      long fence = 0;
      for (Map.Entry<Integer, StoredLock> of : byNode.entrySet()) {
        StoredLock seen = of.getValue();
        fence = Math.max(fence, seen.fence());
        if (seen.waiting() > 0) {
          waiting.put(client.state(of.getKey()).node(), seen.waiting());
        }
        if (HolderMark.of(seen.mark()).hash().equals(holder.hash())) {
          remaining.add(seen.remainingMillis());
        }
      }
      if (remaining.size() + unknown >= members.quorum()) {
        locks.add(
            new LockListing.Entry(
                LockKeys.nameOf(client.settings().keyPrefix(), lock.lockKey()).orElseThrow(),
                holder.hash(),
                holder.label(),
                Duration.ofMillis(decisive(remaining)),
                fence,
                remaining.size(),
                waiting));
      }
    }
    return locks;
  }

  /** The holder that most nodes store. */
  private static HolderMark holderOf(Map<Integer, StoredLock> byNode) {
    Multiset<HolderMark> votes = LinkedHashMultiset.create();
    byNode.values().forEach(lock -> votes.add(HolderMark.of(lock.mark())));
    return Multisets.copyHighestCountFirst(votes).iterator().next();
  }

  /** After this time fewer nodes than a quorum store the lease. */
  private long decisive(List<Long> remaining) {
    remaining.sort(Collections.reverseOrder());
    return remaining.get(Math.min(members.quorum(), remaining.size()) - 1);
  }
}
