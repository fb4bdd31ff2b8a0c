package dev.redlock.spring;

import dev.redlock.DistributedLock;
import dev.redlock.LockTimeoutException;
import dev.redlock.reactor.ReactorLock;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Calls of methods that return a publisher. Each subscription is a call. Loaded with Reactor only.
 */
final class ReactiveCalls {
  private ReactiveCalls() {}

  static Mono<Object> mono(
      LockedMethod method, DistributedLock lock, ProxyMethodInvocation invocation) {
    ProxyMethodInvocation template = copy(invocation);
    return Mono.defer(
        () -> {
          AtomicBoolean entered = new AtomicBoolean();
          return ReactorLock.of(lock)
              .withLock(
                  method.waitTime(),
                  lease -> {
                    entered.set(true);
                    return Mono.from(publisher(method.proceed(copy(template), lease)));
                  })
              .onErrorResume(
                  LockTimeoutException.class,
                  e ->
                      isFinal(e, entered)
                          ? Mono.error(e)
                          : Mono.from(without(method, template, e)));
        });
  }

  static Flux<Object> flux(
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
