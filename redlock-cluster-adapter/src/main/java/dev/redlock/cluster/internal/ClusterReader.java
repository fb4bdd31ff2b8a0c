package dev.redlock.cluster.internal;

import dev.redlock.spi.LockReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Lists the locks of one node that a cluster serves: scans the masters of its slots one after
 * another. The cursor of a step is the place of the master and the master's own cursor. If the
 * cluster is {@link Spread}, a master also has keys of other nodes; they are left out, and the keys
 * of the node become those of the locks.
 *
 * <p>A lock whose slot moves to another master during the scan may be missing, or come twice.
 */
final class ClusterReader implements LockReader {
  private static final String BEGIN = "0";

  private final Masters masters;
  private final Share share;

  /** The masters of the scan in progress. Calls come one after another. */
  private List<MasterLink> scanned = List.of();

  ClusterReader(Masters masters, Share share) {
    this.masters = masters;
    this.share = share;
  }

  @Override
  public CompletionStage<Page> scan(String prefix, String cursor, int count) {
    int place = 0;
    String its = BEGIN;
    if (cursor.equals(BEGIN)) {
      scanned = masters.links().serving(share.firstSlot(), share.lastSlot());
    } else {
      int colon = cursor.indexOf(':');
      place = Integer.parseInt(cursor.substring(0, colon));
      its = cursor.substring(colon + 1);
    }
    if (scanned.isEmpty()) {
      return unknown("no master of " + share + " is known");
    }
    int at = place;
    return scanned
        .get(at)
        .reader()
        .scan(prefix, its, count)
        .thenApply(page -> new Page(next(at, page), own(page)));
  }

  private String next(int place, Page page) {
    if (!page.isLast()) {
      return place + ":" + page.cursor();
    }
    return place + 1 < scanned.size() ? (place + 1) + ":" + BEGIN : BEGIN;
  }

  @Override
  public CompletionStage<Page> inspect(List<String> lockKeys) {
    Map<MasterLink, List<String>> byMaster = new LinkedHashMap<>();
    for (String lockKey : lockKeys) {
      String key = share.keyAt(lockKey);
      int slot = Slots.of(key);
      MasterLink link = masters.linkOf(slot);
      if (link == null) {
        return unknown("no known master serves slot " + slot);
      }
      byMaster.computeIfAbsent(link, its -> new ArrayList<>()).add(key);
    }
    List<StoredLock> found = new ArrayList<>();
    CompletionStage<?> all = CompletableFuture.completedStage(null);
    for (Map.Entry<MasterLink, List<String>> part : byMaster.entrySet()) {
      all =
          all.thenCompose(before -> part.getKey().reader().inspect(part.getValue()))
              .thenAccept(page -> found.addAll(own(page)));
    }
    return all.thenApply(done -> new Page(BEGIN, found));
  }

  private List<StoredLock> own(Page page) {
    return page.locks().stream()
        .filter(stored -> share.isOwn(stored.lockKey()))
        .map(stored -> stored.withLockKey(share.original(stored.lockKey())))
        .toList();
  }

  private static CompletionStage<Page> unknown(String why) {
    return CompletableFuture.failedStage(new IOException(why));
  }
}
