package dev.redlock.reactor;

import static java.util.Objects.requireNonNull;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A {@link DistributedLock} for Reactor. Blocks no thread. Each subscription is an attempt of its
 * own; signals arrive on the callback executor of the client.
 *
 * <p>{@link #withLock} and {@link #withLockMany} release the lease in every case. They are the ones
 * to use unless a lease must outlive the chain.
 *
 * <p>Has no state of its own; safe from any thread.
 */
public final class ReactorLock {
  private final DistributedLock lock;

  private ReactorLock(DistributedLock lock) {
    this.lock = requireNonNull(lock, "lock");
  }

  /** The lock for Reactor, with the names and options of this lock. */
  public static ReactorLock of(DistributedLock lock) {
    return new ReactorLock(lock);
  }

  /** The lock that was given to {@link #of}. */
  public DistributedLock lock() {
    return lock;
  }

  /**
   * Waits for the lock. Emits the lease, which the subscriber releases; fails as {@link
   * DistributedLock#acquireAsync} does.
   *
   * <p>To cancel abandons the attempt. A lease that is granted at the same moment is released,
   * unless it was emitted before. Between this {@code Mono} and the subscriber, an operator may
   * drop an emitted lease when the subscriber cancels: end such a chain with {@code
   * doOnDiscard(Lease.class, Lease::releaseAsync)}, or use {@link #withLock}.
   *
   * @param waitTimeout how long to wait at most; zero tries once
   */
  public Mono<Lease> acquire(Duration waitTimeout) {
    requireNonNull(waitTimeout, "waitTimeout");
    return Mono.fromFuture(() -> lock.acquireAsync(waitTimeout))
        .doOnDiscard(Lease.class, Lease::releaseAsync);
  }

  /**
   * Tries once. Completes without a lease if the lock is held; fails as {@link
   * DistributedLock#tryAcquireAsync} does. Is cancelled as {@link #acquire} is.
   */
  public Mono<Lease> tryAcquire() {
    return Mono.fromFuture(lock::tryAcquireAsync)
        .doOnDiscard(Optional.class, ReactorLock::discard)
        .flatMap(Mono::justOrEmpty)
        .doOnDiscard(Lease.class, Lease::releaseAsync);
  }

  private static void discard(Optional<?> granted) {
    granted.ifPresent(lease -> ((Lease) lease).releaseAsync());
  }

  /**
   * Waits for the lock, subscribes to the body, and releases the lease when the body completes or
   * fails, or when the subscriber cancels. The value of the body is emitted after the release.
   *
   * <p>Fails with what the body fails with; a failed release never replaces it. If the lease ended
   * before the body did, fails with {@link LeaseLostException} instead of emitting the value; what
   * the body failed with is suppressed. With {@link dev.redlock.LockOptions#interruptOnLoss()} the
   * body is cancelled when the lease ends; by default it continues.
   *
   * @param waitTimeout how long to wait at most; zero tries once
   * @param body gets the lease; called on the callback executor of the client
   * @return fails with {@link LockTimeoutException}, {@link QuorumUnavailableException} and others
   *     as {@link DistributedLock#acquire} if the lock is not granted; the body is not called then
   */
  public <T> Mono<T> withLock(
      Duration waitTimeout, Function<? super Lease, ? extends Mono<? extends T>> body) {
    return this.<T>withLockMany(waitTimeout, body).singleOrEmpty();
  }

  /**
   * As {@link #withLock}, with a body of many values. They are emitted while the lock is held; a
   * loss of the lease shows at the end, as the failure of the {@code Flux}.
   */
  public <T> Flux<T> withLockMany(
      Duration waitTimeout, Function<? super Lease, ? extends Publisher<? extends T>> body) {
    requireNonNull(body, "body");
    return Flux.usingWhen(
        acquire(waitTimeout),
        lease -> guarded(lease, Flux.<T>from(body.apply(lease))),
        ReactorLock::release,
        (lease, failure) -> release(lease),
        ReactorLock::release);
  }

  /** The body, which fails if the lease ends before it does. */
  private <T> Flux<T> guarded(Lease lease, Flux<T> body) {
    Flux<T> all = body.onErrorResume(failure -> check(lease, failure).then(Mono.error(failure)));
    // Completion, because a failure of the other publisher does not cancel the body.
    Flux<T> some = lock.options().interruptOnLoss() ? all.takeUntilOther(loss(lease)) : all;
    return some.concatWith(check(lease, null).then(Mono.empty()));
  }

  /**
   * Fails with the loss if the lease has ended without its holder. Part of the body, because {@code
   * usingWhen} wraps the failures of its callbacks.
   */
  private static Mono<Void> check(Lease lease, @Nullable Throwable failure) {
    return Mono.defer(
        () ->
            lease.isValid()
                ? Mono.empty()
                : settled(lease::whenEnded)
                    .flatMap(end -> end.byHolder() ? Mono.empty() : lost(lease, end, failure)));
  }

  /** Completes when the lease ends without its holder. */
  private static Mono<Void> loss(Lease lease) {
    return settled(lease::whenEnded).flatMap(end -> end.byHolder() ? Mono.never() : Mono.empty());
  }

  private static Mono<Void> lost(Lease lease, LeaseEnd end, @Nullable Throwable failure) {
    LeaseLostException loss = new LeaseLostException(lease.names(), lease.fencingToken(), end);
    if (failure != null) {
      loss.addSuppressed(failure);
    }
    return Mono.error(loss);
  }

  /** In the background the client repeats a release that no quorum has confirmed. */
  private static Mono<Void> release(Lease lease) {
    return settled(lease::releaseAsync).onErrorComplete();
  }

  /** The stages of a lease cannot be cancelled; Reactor would log the exception as an error. */
  private static <T> Mono<T> settled(Supplier<CompletionStage<T>> stage) {
    return Mono.fromFuture(() -> stage.get().toCompletableFuture(), true);
  }
}
