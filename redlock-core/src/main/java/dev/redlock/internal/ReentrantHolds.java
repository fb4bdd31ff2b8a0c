package dev.redlock.internal;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.internal.text.Printable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The reentrant locks that threads of this client have entered, and how often. */
final class ReentrantHolds {
  private record Key(String name, Thread owner) {}

  /** Hold count and lease of one thread; only that thread uses its fields. */
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

  /** Counts one more entry of the current thread; false if it has not entered before. */
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
    Hold hold = mine(name);
    if (hold == null) {
      throw new IllegalMonitorStateException(
          "thread " + Thread.currentThread().getName() + " does not hold " + Printable.of(name));
    }
    if (--hold.count > 0) {
      return;
    }
    holds.remove(new Key(name, Thread.currentThread()));
    boolean valid = hold.lease.isValid();
    LeaseEnd loss = ((DefaultLease) hold.lease).core().loss();
    hold.lease.close();
    if (!valid) {
      throw new LeaseLostException(hold.lease.names(), hold.lease.fencingToken(), loss);
    }
  }

  /** Releases what dead threads held. */
  void releaseOrphans(Logger log) {
    holds.forEach(
        (key, hold) -> {
          if (!key.owner().isAlive() && holds.remove(key, hold)) {
            log.warn(
                "thread {} died while it held the reentrant lock on {}: the lock is released",
                key.owner().getName(),
                Printable.of(key.name()));
            hold.lease.releaseAsync();
          }
        });
  }
}
