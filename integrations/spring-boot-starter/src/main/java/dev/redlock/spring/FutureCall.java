package dev.redlock.spring;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockTimeoutException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.util.ClassUtils;

/**
 * One call of a method that returns a future. The lease is released when the future of the method
 * is complete; then the future of the caller is completed. If the caller cancels its future, the
 * wait for the lock ends, or the future of the method is cancelled.
 */
final class FutureCall {
  private static final boolean PROPAGATES =
      ClassUtils.isPresent(
          "io.micrometer.context.ContextSnapshotFactory", FutureCall.class.getClassLoader());

  private final LockedMethod method;
  private final ProxyMethodInvocation call;
  private final CompletableFuture<Object> result = new CompletableFuture<>();
  private final @Nullable CallerContext context = PROPAGATES ? new CallerContext() : null;

  /** Written before the method is called, read when the attempt is over. */
  private volatile boolean entered;

  FutureCall(LockedMethod method, ProxyMethodInvocation call) {
    this.method = method;
    // Runs after the interceptor has returned, on another thread.
    this.call = (ProxyMethodInvocation) call.invocableClone(call.getArguments().clone());
  }

  CompletableFuture<Object> start(DistributedLock lock) {
    CompletableFuture<Object> attempt = lock.withLockAsync(method.waitTime(), this::run);
    result.whenComplete((value, failure) -> attempt.cancel(false)); // Without effect on the body.
    attempt.whenComplete(
        (value, failure) -> {
          // A timeout of another lock, inside of the method, is the failure of the method.
          if (!entered
              && unwrapped(failure) instanceof LockTimeoutException timeout
              && timeout.isHeld()
              && method.notAcquired() != Locked.NotAcquired.THROW) {
            notAcquired();
          } else {
            complete(value, failure);
          }
        });
    return result;
  }

  private void notAcquired() {
    try {
      inContext(() -> LockedInterceptor.futureWithout(method, call)).whenComplete(this::complete);
    } catch (Throwable e) {
      result.completeExceptionally(e);
    }
  }

  @SuppressWarnings("unchecked")
  private CompletionStage<Object> run(Lease lease) {
    entered = true;
    Object body = inContext(() -> method.proceed(call, lease));
    if (body == null) {
      throw new NullPointerException(method.where() + ": the method returned null");
    }
    if (body instanceof CompletableFuture<?> future) {
      result.whenComplete((value, failure) -> future.cancel(false));
    }
    return (CompletionStage<Object>) body;
  }

  private <T extends @Nullable Object> T inContext(Callable<T> body) {
    try {
      return context == null ? body.call() : context.call(body);
    } catch (Exception e) {
      throw LockedMethod.<RuntimeException>undeclared(e);
    }
  }

  private void complete(@Nullable Object value, @Nullable Throwable failure) {
    Throwable cause = unwrapped(failure);
    if (cause != null) {
      result.completeExceptionally(cause);
    } else {
      result.complete(value);
    }
  }

  private static @Nullable Throwable unwrapped(@Nullable Throwable failure) {
    return failure instanceof CompletionException && failure.getCause() != null
        ? failure.getCause()
        : failure;
  }
}
