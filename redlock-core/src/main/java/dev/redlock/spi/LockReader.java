package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Reads which locks a node stores, in steps that are short enough for the requests beside them. The
 * node sends no invalidations for what it reads. Calls come one after another. A stage completes
 * exceptionally if the node cannot be read; a later call tries again.
 */
public interface LockReader {

  /**
   * One step of a scan of all lock keys. A lock that is held during the whole scan is reported at
   * least once.
   *
   * @param prefix the key prefix
   * @param cursor {@code 0} at first, then that of the page before
   * @param count about how many keys the node examines; limits how long it works
   */
  CompletionStage<Page> scan(String prefix, String cursor, int count);

  /** Which of these lock keys the node stores; those that it does not store are left out. */
  CompletionStage<Page> inspect(List<String> lockKeys);

  /**
   * One step of a scan.
   *
   * @param cursor for the next step; {@code 0} if this was the last one
   * @param locks the locks that are held; may be empty also before the last step
   */
  record Page(String cursor, List<StoredLock> locks) {
    public Page {
      requireNonNull(cursor, "cursor");
      locks = List.copyOf(locks);
    }

    /** Whether the scan is over. */
    public boolean isLast() {
      return cursor.equals("0");
    }
  }

  /**
   * What a node stores for one lock.
   *
   * @param lockKey the key
   * @param remainingMillis the remaining life of the key
   * @param fence the highest token that was granted there; 0 if none is known
   * @param waiting how many processes are in the queue of this node
   * @param mark who holds the lock: a {@linkplain NodeReply#isMark mark} as in a reply
   */
  record StoredLock(String lockKey, long remainingMillis, long fence, int waiting, String mark) {
    public StoredLock {
      requireNonNull(lockKey, "lockKey");
      requireNonNull(mark, "mark");
    }

    /** The same lock under another key, for nodes that store locks under other keys. */
    public StoredLock withLockKey(String key) {
      return new StoredLock(key, remainingMillis, fence, waiting, mark);
    }
  }
}
