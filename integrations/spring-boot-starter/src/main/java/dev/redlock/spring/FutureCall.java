package dev.redlock.spring;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
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

  FutureCall(LockedMethod method, ProxyMethodInvocation call) {
    this.method = method;
    // Runs after the interceptor has returned, on another thread.
    this.call = (ProxyMethodInvocation) call.invocableClone(call.getArguments().clone());
  }

  CompletableFuture<Object> start(CompletableFuture<Lease> attempt) {
    result.whenComplete((value, failure) -> attempt.cancel(false)); // Without effect when granted.
    attempt.whenComplete(
        (lease, failure) -> {
          if (lease != null) {
            run(lease);
          } else {
            notAcquired(unwrapped(failure));
          }
        });
    return result;
  }

  private void notAcquired(@Nullable Throwable failure) {
    if (!(failure instanceof LockTimeoutException timeout)
        || !timeout.isHeld()
        || method.notAcquired() == Locked.NotAcquired.THROW) {
      complete(null, failure);
      return;
    }
    try {
      inContext(() -> LockedInterceptor.futureWithout(method, call)).whenComplete(this::complete);
    } catch (Throwable e) {
      result.completeExceptionally(e);
    }
  }

  private <T> T inContext(Callable<T> body) throws Exception {
    return context == null ? body.call() : context.call(body);
  }

  private void run(Lease lease) {
    CompletionStage<?> body;
    try {
      body = inContext(() -> (CompletionStage<?>) method.proceed(call, lease));
    } catch (Throwable e) {
      finish(lease, null, e);
      return;
    }
    if (body == null) {
      finish(lease, null, new NullPointerException(method.where() + ": the method returned null"));
      return;
    }
    if (body instanceof CompletableFuture<?> future) {
      result.whenComplete((value, failure) -> future.cancel(false));
    }
    try {
      body.whenComplete((value, failure) -> finish(lease, value, unwrapped(failure)));
    } catch (Throwable e) { // A stage of the application may throw.
      finish(lease, null, e);
    }
  }

  /** Read before the release, from the clock: a lease that was lost must not look released. */
  private void finish(Lease lease, @Nullable Object value, @Nullable Throwable failure) {
    if (lease.isValid()) {
      lease.releaseAsync().whenComplete((done, ignored) -> complete(value, failure));
      return;
    }
    lease
        .whenEnded()
        .thenAccept(end -> complete(value, end.byHolder() ? failure : lost(lease, end, failure)));
  }

  private static Throwable lost(Lease lease, LeaseEnd end, @Nullable Throwable failure) {
    LeaseLostException loss = new LeaseLostException(lease.names(), lease.fencingToken(), end);
    if (failure != null) {
      loss.addSuppressed(failure);
    }
    return loss;
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
