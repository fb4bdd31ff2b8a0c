package dev.redlock.internal;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Which thread of this client has entered which reentrant lock, and how often. */
final class ReentrantHolds {
  private record Key(String name, Thread owner) {}

  /** Count and lease of one thread; its fields are touched by that thread alone. */
  static final class Hold {
    final Lease lease;
    int count = 1;

    Hold(Lease lease) {
      this.lease = lease;
    }
  }

  private final Map<Key, Hold> holds = new ConcurrentHashMap<>();

  @Nullable Hold mine(String name) {
    return holds.get(new Key(name, Thread.currentThread()));
  }

  void enter(String name, Lease lease) {
    holds.put(new Key(name, Thread.currentThread()), new Hold(lease));
  }

  /** The current thread enters again: true if it was in already. */
  boolean enterAgain(String name) {
    Hold hold = mine(name);
    if (hold == null) {
      return false;
    }
    hold.lease.ensureValid();
    hold.count++;
    return true;
  }

  void leave(String name) {
    Key key = new Key(name, Thread.currentThread());
    Hold hold = holds.get(key);
    if (hold == null) {
      throw new IllegalMonitorStateException(
          "thread " + Thread.currentThread().getName() + " does not hold " + name);
    }
    hold.count--;
    if (hold.count > 0) {
      return;
    }
    holds.remove(key);
    boolean valid = hold.lease.isValid();
    LeaseEnd end = ((DefaultLease) hold.lease).core().end();
    hold.lease.close();
    if (!valid) {
      throw new LeaseLostException(
          hold.lease.names(),
          hold.lease.fencingToken(),
          end == null || end.byHolder() ? LeaseEnd.EXPIRED : end);
    }
  }

  /** Releases what threads held that have died. */
  void releaseOrphans(Logger log) {
    holds.forEach(
        (key, hold) -> {
          if (!key.owner().isAlive() && holds.remove(key, hold)) {
            log.warn(
                "thread {} died holding the reentrant lock on {}: it is released",
                key.owner().getName(),
                key.name());
            hold.lease.releaseAsync();
          }
        });
  }
}
