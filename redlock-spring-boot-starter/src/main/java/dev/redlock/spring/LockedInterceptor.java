package dev.redlock.spring;

import dev.redlock.DistributedLock;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;

/** Takes the lock around a call. */
final class LockedInterceptor implements MethodInterceptor {
  private final LockedMethods methods;
  private final ObjectProvider<Redlock> redlock;
  private final ObjectProvider<LockOptionsResolver> options;

  LockedInterceptor(
      LockedMethods methods,
      ObjectProvider<Redlock> redlock,
      ObjectProvider<LockOptionsResolver> options) {
    this.methods = methods;
    this.redlock = redlock;
    this.options = options;
  }

  @Override
  public @Nullable Object invoke(MethodInvocation invocation) {
    Object target = invocation.getThis();
    Class<?> type =
        target == null
            ? invocation.getMethod().getDeclaringClass()
            : AopUtils.getTargetClass(target);
    LockedMethod method = methods.get(invocation.getMethod(), type);
    DistributedLock lock = lock(method, method.names(target, invocation.getArguments()));
    ProxyMethodInvocation call = (ProxyMethodInvocation) invocation;
    return switch (method.kind()) {
      case PLAIN -> plain(method, lock, call);
      case FUTURE -> future(method, lock, call);
      case MONO -> ReactiveCalls.mono(method, lock, call);
      case FLUX -> ReactiveCalls.flux(method, lock, call);
    };
  }

  /** Whether there is a client. Fails if several could be meant. */
  boolean hasClient() {
    return redlock.getIfAvailable() != null;
  }

  /** Rejects a lease time that the client would reject in each call. Sends nothing. */
  void requireLeaseTime(LockedMethod method) {
    if (method.leaseTime() == null) {
      return;
    }
    Redlock client = redlock.getObject();
    try {
      client.lock(
          "name", client.defaultOptions().toBuilder().leaseTime(method.leaseTime()).build());
    } catch (IllegalArgumentException e) {
      throw new IllegalStateException(method.where() + ": " + e.getMessage(), e);
    }
  }

  private DistributedLock lock(LockedMethod method, List<String> names) {
    LockOptions chosen = options.getObject().options(names);
    if (method.leaseTime() != null) {
      chosen = chosen.toBuilder().leaseTime(method.leaseTime()).build();
    }
    return redlock.getObject().lock(names, chosen);
  }

  private static @Nullable Object plain(
      LockedMethod method, DistributedLock lock, ProxyMethodInvocation call) {
    // A timeout of another lock, inside of the method, is the failure of the method.
    boolean[] entered = new boolean[1];
    Object[] result = new Object[1];
    try {
      lock.withLock(
          method.waitTime(),
          lease -> {
            entered[0] = true;
            result[0] = method.complete(method.proceed(call, lease));
            return true;
          });
      return result[0];
    } catch (LockTimeoutException e) {
      if (entered[0] || !e.isHeld()) {
        throw e;
      }
      return switch (method.notAcquired()) {
        case THROW -> throw e;
        case SKIP -> method.nothing();
        case RETURN -> method.resultWithout(call.getThis(), call.getArguments());
      };
    }
  }

  private static CompletableFuture<Object> future(
      LockedMethod method, DistributedLock lock, ProxyMethodInvocation call) {
    return new FutureCall(method, call).start(lock.acquireAsync(method.waitTime()));
  }

  /** The result of a call without the lock, as a future. */
  @SuppressWarnings("unchecked")
  static CompletionStage<Object> futureWithout(LockedMethod method, ProxyMethodInvocation call) {
    Object value = method.resultWithout(call.getThis(), call.getArguments());
    return value instanceof CompletionStage<?> stage
        ? (CompletionStage<Object>) stage
        : CompletableFuture.completedFuture(value);
  }
}
