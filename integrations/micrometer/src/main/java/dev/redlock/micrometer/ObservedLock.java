package dev.redlock.micrometer;

import static java.util.Objects.requireNonNull;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A lock whose calls are observed. If the registry has a handler for tracing, the calls are also
 * spans of a trace. The lock returns and throws the same as the given lock. If a handler or a
 * convention throws, the exception is logged and has no other effect.
 *
 * <p>The observation of {@code acquire} and {@code tryAcquire} ends with the call, or when the
 * future is done. The observation of {@code withLock} also covers the body, which runs in its
 * scope; the event {@code redlock.acquired} marks the end of the wait.
 */
public final class ObservedLock implements DistributedLock {
  private final DistributedLock lock;
  private final ObservationRegistry registry;
  private final @Nullable LockObservationConvention convention;

  private ObservedLock(
      DistributedLock lock,
      ObservationRegistry registry,
      @Nullable LockObservationConvention convention) {
    this.lock = requireNonNull(lock, "lock");
    this.registry = requireNonNull(registry, "registry");
    this.convention = convention;
  }

  /**
   * The lock, observed with the convention that the registry has for {@link LockContext}, or with
   * {@link DefaultLockObservationConvention}.
   */
  public static DistributedLock of(DistributedLock lock, ObservationRegistry registry) {
    return new ObservedLock(lock, registry, null);
  }

  /** The lock, observed with this convention. */
  public static DistributedLock of(
      DistributedLock lock, ObservationRegistry registry, LockObservationConvention convention) {
    return new ObservedLock(lock, registry, requireNonNull(convention, "convention"));
  }

  private GuardedObservation start(LockContext context) {
    return GuardedObservation.start(convention, context, registry);
  }

  @Override
  public List<String> names() {
    return lock.names();
  }

  @Override
  public LockOptions options() {
    return lock.options();
  }

  @Override
  public Lease acquire(Duration waitTimeout) {
    LockContext context = new LockContext(names(), LockContext.Operation.ACQUIRE);
    return start(context)
        .observe(
            () -> {
              Lease lease = lock.acquire(waitTimeout);
              context.granted(lease);
              return lease;
            });
  }

  @Override
  public Optional<Lease> tryAcquire(Duration waitTimeout) {
    LockContext context = new LockContext(names(), LockContext.Operation.TRY_ACQUIRE);
    return start(context)
        .observe(
            () -> {
              Optional<Lease> lease = lock.tryAcquire(waitTimeout);
              lease.ifPresentOrElse(context::granted, context::refused);
              return lease;
            });
  }

  @Override
  public CompletableFuture<Lease> acquireAsync(Duration waitTimeout) {
    LockContext context = new LockContext(names(), LockContext.Operation.ACQUIRE);
    return observeAsync(start(context), () -> lock.acquireAsync(waitTimeout), context::granted);
  }

  @Override
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration waitTimeout) {
    LockContext context = new LockContext(names(), LockContext.Operation.TRY_ACQUIRE);
    return observeAsync(
        start(context),
        () -> lock.tryAcquireAsync(waitTimeout),
        lease -> lease.ifPresentOrElse(context::granted, context::refused));
  }

  /** Returns the future of the lock itself: cancelling it must reach the lock. */
  private static <T extends @Nullable Object> CompletableFuture<T> observeAsync(
      GuardedObservation observation, Supplier<CompletableFuture<T>> call, Consumer<T> taker) {
    CompletableFuture<T> future;
    try {
      future = call.get();
    } catch (Throwable e) {
      observation.error(e);
      observation.stop();
      throw e;
    }
    future.whenComplete(
        (value, failure) -> {
          if (failure != null) {
            observation.error(failure);
          } else if (value != null) {
            taker.accept(value);
          }
          observation.stop();
        });
    return future;
  }

  @Override
  public <T extends @Nullable Object, E extends Exception> T withLock(
      Duration waitTimeout, Body<T, E> body) throws E {
    requireNonNull(body, "body");
    LockContext context = new LockContext(names(), LockContext.Operation.WITH_LOCK);
    GuardedObservation observation = start(context);
    return observation.<T, E>observe(
        () ->
            lock.<T, E>withLock(
                waitTimeout,
                lease -> {
                  granted(context, observation, lease);
                  return body.run(lease);
                }));
  }

  @Override
  public <E extends Exception> boolean tryWithLock(Task<E> task) throws E {
    requireNonNull(task, "task");
    LockContext context = new LockContext(names(), LockContext.Operation.WITH_LOCK);
    GuardedObservation observation = start(context);
    return observation.<Boolean, E>observe(
        () -> {
          boolean ran =
              lock.<E>tryWithLock(
                  lease -> {
                    granted(context, observation, lease);
                    task.run(lease);
                  });
          if (!ran) {
            context.refused();
          }
          return ran;
        });
  }

  @Override
  public <T extends @Nullable Object> CompletableFuture<T> withLockAsync(
      Duration waitTimeout, Function<? super Lease, ? extends CompletionStage<T>> body) {
    requireNonNull(body, "body");
    LockContext context = new LockContext(names(), LockContext.Operation.WITH_LOCK);
    GuardedObservation observation = start(context);
    return observeAsync(
        observation,
        () ->
            lock.withLockAsync(
                waitTimeout,
                lease -> {
                  granted(context, observation, lease);
                  return body.apply(lease);
                }),
        value -> {});
  }

  private static void granted(LockContext context, GuardedObservation observation, Lease lease) {
    context.granted(lease);
    observation.acquired();
  }

  @Override
  public String toString() {
    return "Observed" + lock;
  }
}
