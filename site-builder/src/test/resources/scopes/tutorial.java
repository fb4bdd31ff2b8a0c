import dev.redlock.*;
import io.lettuce.core.*;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.*;
import java.util.function.LongSupplier;

class Scope extends AnyLock {
  static class QuorumLock {
    boolean tryLock() {
      return false;
    }

    boolean grantedBy() {
      return tryLock();
    }
  }

  interface Stock {
    int read(long token);

    void sell(int left, String entry, long token);
  }

  static final Duration PATIENCE = Duration.ofSeconds(5);
  RedisCommands<String, String> redis;
  String name, owner;
  long ttlMillis, driftMillis, validUntil;
  boolean countElapsed;
  LongSupplier clockMillis;
  Runnable beforeReplies;
  List<QuorumLock> locks;
  DistributedLock lock;
  Stock stock;
}

class AnyLock {
  public void unlock() {}
}
