package dev.redlock.harness.memory;

import dev.redlock.spi.LockReader;
import java.io.IOException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Lists the locks of a server without Redis. The cursor is the last key of the page before. */
record MemoryReader(MemoryServer server) implements LockReader {

  @Override
  public CompletionStage<Page> scan(String prefix, String cursor, int count) {
    List<StoredLock> all = server.locks();
    if (all == null) {
      return failed();
    }
    List<StoredLock> page =
        all.stream()
            .filter(lock -> lock.lockKey().startsWith(prefix + ":{"))
            .filter(lock -> cursor.equals("0") || lock.lockKey().compareTo(cursor) > 0)
            .sorted(Comparator.comparing(StoredLock::lockKey))
            .limit(count)
            .toList();
    String next = page.size() < count ? "0" : page.get(page.size() - 1).lockKey();
    return CompletableFuture.completedStage(new Page(next, page));
  }

  @Override
  public CompletionStage<Page> inspect(List<String> lockKeys) {
    List<StoredLock> all = server.locks();
    if (all == null) {
      return failed();
    }
    Set<String> wanted = new HashSet<>(lockKeys);
    return CompletableFuture.completedStage(
        new Page("0", all.stream().filter(lock -> wanted.contains(lock.lockKey())).toList()));
  }

  private CompletionStage<Page> failed() {
    return CompletableFuture.failedStage(new IOException(server.name() + " does not reply"));
  }
}
