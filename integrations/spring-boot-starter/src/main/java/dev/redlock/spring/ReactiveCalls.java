package dev.redlock.spring;

import dev.redlock.DistributedLock;
import dev.redlock.LockTimeoutException;
import dev.redlock.reactor.ReactorLock;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Calls of methods that return a publisher. Each subscription is a call. Loaded with Reactor only.
 */
final class ReactiveCalls {
  private ReactiveCalls() {}

  static Publisher<Object> of(
      LockedMethod method,
      DistributedLock lock,
      ProxyMethodInvocation call,
      @Nullable CallerTransactions transactions,
      Class<?> type) {
    Flux<Object> flux = flux(method, lock, call);
    Flux<Object> checked =
        transactions == null ? flux : check(transactions, method, type).thenMany(flux);
    return method.kind() == LockedMethod.Kind.MONO ? checked.singleOrEmpty() : checked;
  }

  /** Fails if the transaction of the subscriber began before the lock. */
  private static Mono<Void> check(
      CallerTransactions transactions, LockedMethod method, Class<?> type) {
    return TransactionSynchronizationManager.forCurrentTransaction()
        .filter(TransactionSynchronizationManager::isActualTransactionActive)
        .doOnNext(
            transaction ->
                transactions.check(
                    method,
                    type,
                    transaction.isCurrentTransactionReadOnly(),
                    transaction.getCurrentTransactionName()))
        .onErrorComplete(NoTransactionException.class)
        .then();
  }

  private static Flux<Object> flux(
      LockedMethod method, DistributedLock lock, ProxyMethodInvocation invocation) {
    ProxyMethodInvocation template = copy(invocation);
    return Flux.defer(
        () -> {
          AtomicBoolean entered = new AtomicBoolean();
          return ReactorLock.of(lock)
              .withLockMany(
                  method.waitTime(),
                  lease -> {
                    entered.set(true);
                    return publisher(method.proceed(copy(template), lease));
                  })
              .onErrorResume(
                  LockTimeoutException.class,
                  e -> isFinal(e, entered) ? Mono.error(e) : without(method, template, e));
        });
  }

  /** Whether it is the failure of the method, or it is not known that others hold the lock. */
  private static boolean isFinal(LockTimeoutException e, AtomicBoolean entered) {
    return entered.get() || !e.isHeld();
  }

  private static ProxyMethodInvocation copy(ProxyMethodInvocation invocation) {
    return (ProxyMethodInvocation) invocation.invocableClone(invocation.getArguments().clone());
  }

  private static Publisher<Object> without(
      LockedMethod method, ProxyMethodInvocation call, LockTimeoutException e) {
    return switch (method.notAcquired()) {
      case THROW -> Mono.error(e);
      case SKIP -> Mono.empty();
      case RETURN -> publisher(method.resultWithout(call.getThis(), call.getArguments()));
    };
  }

  @SuppressWarnings("unchecked")
  private static Publisher<Object> publisher(@Nullable Object value) {
    return value instanceof Publisher<?> publisher
        ? (Publisher<Object>) publisher
        : Mono.justOrEmpty(value);
  }
}
