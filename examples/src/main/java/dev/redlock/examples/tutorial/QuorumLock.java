package dev.redlock.examples.tutorial;

import io.lettuce.core.RedisException;
import io.lettuce.core.api.sync.RedisCommands;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Steps 4 and 5: a majority of independent masters decides. Not for use: it has no token, does not
 * know restarted masters, and asks them one after another.
 */
final class QuorumLock {
  private final List<OwnedLock> locks;
  private final long ttlMillis;
  private final long driftMillis;
  private final boolean countElapsed;
  private final LongSupplier clockMillis;
  private final Runnable beforeReplies;
  private long validUntil;

  /**
   * @param driftMillis is subtracted from the validity
   * @param countElapsed whether the time that acquiring took is subtracted as well
   * @param clockMillis the clock of this client
   * @param beforeReplies runs after the requests, before their replies are counted
   */
  QuorumLock(
      List<RedisCommands<String, String>> masters,
      String name,
      long ttlMillis,
      long driftMillis,
      boolean countElapsed,
      LongSupplier clockMillis,
      Runnable beforeReplies) {
    locks = masters.stream().map(redis -> new OwnedLock(redis, name, ttlMillis)).toList();
    this.ttlMillis = ttlMillis;
    this.driftMillis = driftMillis;
    this.countElapsed = countElapsed;
    this.clockMillis = clockMillis;
    this.beforeReplies = beforeReplies;
  }

  // tutorial: quorum
  public boolean tryLock() {
    long start = clockMillis.getAsLong();
    long granted = locks.stream().filter(QuorumLock::grantedBy).count();
    beforeReplies.run();
    long from = countElapsed ? start : clockMillis.getAsLong();
    validUntil = from + ttlMillis - driftMillis;
    if (granted > locks.size() / 2 && isValid()) {
      return true;
    }
    unlock();
    return false;
  }

  public boolean isValid() {
    return clockMillis.getAsLong() < validUntil;
  }

  // tutorial.

  private static boolean grantedBy(OwnedLock lock) {
    try {
      return lock.tryLock();
    } catch (RedisException e) {
      return false; // This master is down.
    }
  }

  void unlock() {
    validUntil = clockMillis.getAsLong();
    for (OwnedLock lock : locks) {
      try {
        lock.unlock();
      } catch (RedisException e) {
        // The key expires.
      }
    }
  }
}
