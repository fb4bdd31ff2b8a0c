package dev.redlock.shedlock;

import static java.util.Objects.requireNonNull;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * Locks of ShedLock on a quorum of Redis masters.
 *
 * <p>While a task runs its lease is extended automatically, so {@code lockAtMostFor} may be longer
 * than {@code maxLeaseTime} and the hold cap. This adapter releases the lock when {@code
 * lockAtMostFor} has passed, even if the task still runs. If the process dies, the lock is free
 * after the lease time, which may be long before {@code lockAtMostFor}. The lease time is that of
 * {@link Redlock#defaultOptions()}, or {@code lockAtMostFor} if that is shorter, but not below
 * about 2 s.
 *
 * <p>{@code lockAtLeastFor} is kept by this adapter: {@code unlock} returns at once, and the
 * adapter releases the lock when the time has passed. If the client is closed or the process dies
 * before, the lock stays taken for the lease time at most.
 *
 * <p>{@link #lock} tries once. It returns an empty result if the lock is held, and throws {@link
 * QuorumUnavailableException} if too few nodes vote, or {@link LockTimeoutException} if this
 * process was paused and no other holds the lock. Neither must look like a task that runs
 * elsewhere.
 *
 * <p>Safe from any thread. The times are measured with the monotonic clock of this process, from
 * the call of {@code lock}.
 */
public final class RedlockLockProvider implements ExtensibleLockProvider, AutoCloseable {
  /** The prefix of lock names that {@link #RedlockLockProvider(Redlock)} uses. */
  public static final String DEFAULT_PREFIX = "shedlock:";

  private static final Duration SHORTEST_LEASE_TIME = Duration.ofSeconds(1);

  private final Redlock redlock;
  private final String prefix;
  private final ScheduledThreadPoolExecutor timer;

  /** The holds whose leases have not ended. */
  private final Set<Hold> holds = ConcurrentHashMap.newKeySet();

  /** A provider whose lock names begin with {@link #DEFAULT_PREFIX}. Does not close the client. */
  public RedlockLockProvider(Redlock redlock) {
    this(redlock, DEFAULT_PREFIX);
  }

  /**
   * A provider whose lock names begin with this prefix; it keeps them apart from other locks of the
   * same nodes. Does not close the client.
   */
  public RedlockLockProvider(Redlock redlock, String prefix) {
    this.redlock = requireNonNull(redlock, "redlock");
    this.prefix = requireNonNull(prefix, "prefix");
    timer =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(null, task, "redlock-shedlock", 0, false);
              thread.setDaemon(true);
              thread.setContextClassLoader(RedlockLockProvider.class.getClassLoader());
              return thread;
            });
    timer.setRemoveOnCancelPolicy(true);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public Optional<SimpleLock> lock(LockConfiguration configuration) {
    long now = System.nanoTime();
    return redlock
        .lock(prefix + configuration.getName(), options(configuration))
        .tryAcquire()
        .map(lease -> new HeldLock(configuration, hold(lease, now, configuration)));
  }

  private Hold hold(Lease lease, long nowNanos, LockConfiguration configuration) {
    Hold hold = new Hold(lease, timer, nowNanos, configuration);
    holds.add(hold);
    lease.whenEnded().thenRun(() -> holds.remove(hold));
    return hold;
  }

  private LockOptions options(LockConfiguration configuration) {
    LockOptions defaults = redlock.defaultOptions();
    Duration leaseTime = leaseTime(defaults, configuration.getLockAtMostFor());
    Duration atLeast = configuration.getLockAtLeastFor();
    // The nodes keep what they can of lockAtLeastFor, also if this process closes the client.
    Duration minimumHold = atLeast.compareTo(leaseTime) < 0 ? atLeast : leaseTime;
    return defaults.toBuilder()
        .minimumHold(Duration.ZERO.compareTo(minimumHold) < 0 ? minimumHold : Duration.ZERO)
        .leaseTime(leaseTime)
        .noHoldCap()
        .autoExtend(true)
        .build();
  }

  /** Long enough for the node timeout and the drift of the default options. */
  private static Duration leaseTime(LockOptions defaults, Duration atMost) {
    Duration shortest = defaults.nodeTimeout().plus(defaults.drift()).multipliedBy(4);
    if (shortest.compareTo(SHORTEST_LEASE_TIME) < 0) {
      shortest = SHORTEST_LEASE_TIME;
    }
    Duration wanted = atMost.compareTo(shortest) < 0 ? shortest : atMost;
    return wanted.compareTo(defaults.leaseTime()) < 0 ? wanted : defaults.leaseTime();
  }

  /**
   * Stops the timer of this provider. Tasks that run, also tasks that begin later, keep their locks
   * until they end or the client closes: {@code lockAtMostFor} no longer applies. Locks whose tasks
   * have ended are released, and stay taken for the rest of {@code lockAtLeastFor}, but for the
   * lease time at most.
   */
  @Override
  public void close() {
    timer.shutdown();
    holds.forEach(Hold::providerClosed);
  }

  private static final class HeldLock extends AbstractSimpleLock {
    private final Hold hold;

    HeldLock(LockConfiguration configuration, Hold hold) {
      super(configuration);
      this.hold = hold;
    }

    @Override
    protected void doUnlock() {
      hold.unlock();
    }

    @Override
    protected Optional<SimpleLock> doExtend(LockConfiguration configuration) {
      return hold.extend(configuration)
          ? Optional.of(new HeldLock(configuration, hold))
          : Optional.empty();
    }
  }
}
