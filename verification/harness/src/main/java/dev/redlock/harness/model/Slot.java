package dev.redlock.harness.model;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The lock key and the fence key of one name. */
final class Slot {
  static final long FOREVER = Long.MAX_VALUE;

  private static final long[] NO_READERS = {};

  final String lockKey;
  @Nullable String owner;
  long expiresMillis;
  @Nullable String mark;
  boolean wrongType;

  long fence;
  long ended;
  long fenceExpiresMillis;

  /** Others want the lock: the node has refused a client since the last grant, or has a queue. */
  boolean wanted;

  /** What follows the three numbers of the fence, of a later version; kept until it expires. */
  String further = "";

  /** Sessions that have read the lock key since it last changed, in that order. */
  private long[] readers = NO_READERS;

  private int readerCount;

  Slot(String lockKey) {
    this.lockKey = lockKey;
  }

  /** Whether another application has written the lock key: no lease lives forever. */
  boolean isForeign() {
    return wrongType || (owner != null && expiresMillis == FOREVER);
  }

  /** The session receives an invalidation when the lock key changes. */
  void track(long session) {
    for (int i = 0; i < readerCount; i++) {
      if (readers[i] == session) {
        return;
      }
    }
    if (readerCount == readers.length) {
      readers = Arrays.copyOf(readers, Math.max(4, 2 * readerCount));
    }
    readers[readerCount++] = session;
  }

  boolean isTracked() {
    return readerCount > 0;
  }

  /** Invalidates the key for all readers except the writer (NOLOOP), once for each read. */
  void changed(long writer, NodeModel.Invalidations invalidations) {
    int count = readerCount;
    readerCount = 0;
    for (int i = 0; i < count; i++) {
      if (readers[i] != writer) {
        invalidations.invalidate(readers[i], lockKey);
      }
    }
  }

  void forgetSession(long session) {
    int kept = 0;
    for (int i = 0; i < readerCount; i++) {
      if (readers[i] != session) {
        readers[kept++] = readers[i];
      }
    }
    readerCount = kept;
  }

  void forgetSessions() {
    readerCount = 0;
  }

  void deleteFence() {
    fence = 0;
    ended = 0;
    wanted = false;
    further = "";
  }

  /** The same data, without readers. */
  Slot copy() {
    Slot copy = new Slot(lockKey);
    copy.owner = owner;
    copy.expiresMillis = expiresMillis;
    copy.mark = mark;
    copy.wrongType = wrongType;
    copy.fence = fence;
    copy.ended = ended;
    copy.wanted = wanted;
    copy.further = further;
    copy.fenceExpiresMillis = fenceExpiresMillis;
    return copy;
  }
}
