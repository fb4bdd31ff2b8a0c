package dev.redlock.spring.integration;

import static java.util.Objects.requireNonNull;

import dev.redlock.Lease;
import dev.redlock.LeaseLostException;
import dev.redlock.Redlock;
import dev.redlock.ReentrantDistributedLock;
import dev.redlock.internal.text.Printable;
import dev.redlock.spring.LockOptionsResolver;
import dev.redlock.spring.StableText;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * The locks of Spring Integration, on a quorum of Redis masters. Each is a {@link
 * ReentrantDistributedLock} of the client: a thread owns it, and may enter it again.
 *
 * <p>If a lock is taken without a time to live, the client extends it automatically until {@code
 * unlock}. If it is lost, entering it again and {@code unlock} throw {@link LeaseLostException}. If
 * a lock is taken with a time to live, it expires after that time, unless {@link #renewLock}
 * extends it.
 *
 * <p>The locks of one key are interchangeable. Safe from any thread.
 */
public final class RedlockLockRegistry
    implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {
  private final Redlock redlock;
  private final String prefix;
  private final LockOptionsResolver options;

  /** The times to live of leases that have one, by identity. Entries go when leases end. */
  private final Map<Lease, Duration> ttls = new ConcurrentHashMap<>();

  /**
   * A registry.
   *
   * @param prefix begins the names of the locks; keeps them apart from other locks of the nodes
   * @param options the options by name
   */
  public RedlockLockRegistry(Redlock redlock, String prefix, LockOptionsResolver options) {
    this.redlock = requireNonNull(redlock, "redlock");
    this.prefix = requireNonNull(prefix, "prefix");
    this.options = requireNonNull(options, "options");
  }

  /**
   * The lock of a key; its name is the prefix and the text of the key. Sends nothing.
   *
   * @throws IllegalArgumentException if the key has no {@linkplain StableText stable text}
   */
  @Override
  public DistributedLock obtain(Object lockKey) {
    String name = name(lockKey);
    return new RegistryLock(this, redlock, name, options.options(List.of(name)));
  }

  private String name(Object lockKey) {
    String text = StableText.of(requireNonNull(lockKey, "lockKey"));
    if (text == null) {
      throw new IllegalArgumentException("lock key " + lockKey + " " + StableText.reason(lockKey));
    }
    return prefix + text;
  }

  /**
   * Extends the lease that the current thread holds, by its lease time from now on.
   *
   * @throws IllegalStateException if this thread does not hold the lock
   * @throws LeaseLostException if the lease has ended
   * @throws dev.redlock.QuorumUnavailableException if too few nodes confirmed; the lease then keeps
   *     its old deadline
   */
  @Override
  public void renewLock(Object lockKey) {
    Lease lease = lease(lockKey);
    try {
      lease.extendAsync().toCompletableFuture().join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  private Lease lease(Object lockKey) {
    ReentrantDistributedLock lock = redlock.reentrantLock(name(lockKey));
    return lock.lease()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "thread "
                        + Thread.currentThread().getName()
                        + " does not hold the lock of "
                        + lockKey));
  }

  /**
   * As {@link #renewLock(Object)}. A lock that was taken without a time to live needs no renewal.
   *
   * @param ttl at most the time to live with which the lock was taken: a lease keeps its lease time
   * @throws IllegalArgumentException if it is longer; nothing is extended then
   */
  @Override
  public void renewLock(Object lockKey, Duration ttl) {
    Duration own = ttls.get(lease(lockKey));
    if (own != null && ttl.compareTo(own) > 0) {
      throw new IllegalArgumentException(
          "the lock of "
              + lockKey
              + " was taken with a time to live of "
              + Printable.of(own)
              + " and cannot be renewed for "
              + Printable.of(ttl));
    }
    renewLock(lockKey);
  }

  /** Called by the thread that has just entered for the first time. */
  void entered(Lease lease, Duration ttl) {
    ttls.put(lease, ttl);
    lease.whenEnded().thenRun(() -> ttls.remove(lease));
  }

  /** Does nothing: the registry keeps no locks, and the client forgets idle names by itself. */
  @Override
  public void expireUnusedOlderThan(long age) {}
}
