package dev.redlock.internal;

import dev.redlock.FencingToken;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.RedlockInterruptedException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The lease that a user holds: a handle on its {@link LeaseCore}. */
final class DefaultLease implements Lease {
  private final LeaseCore core;

  DefaultLease(LeaseCore core) {
    this.core = core;
  }

  /** Releases the lease, if there is one, of a caller that gave up before it had it. */
  static void giveBack(Optional<Lease> lease) {
    lease.ifPresent(it -> ((DefaultLease) it).core.releaseUnused());
  }

  LeaseCore core() {
    return core;
  }

  @Override
  public List<String> names() {
    return core.lease.keys().names();
  }

  @Override
  public FencingToken fencingToken() {
    return new FencingToken(core.lease.token());
  }

  @Override
  public Duration remainingValidity() {
    return Duration.ofNanos(core.remainingNanos());
  }

  @Override
  public boolean isValid() {
    return core.remainingNanos() > 0;
  }

  @Override
  public void ensureValid() {
    if (!isValid()) {
      LeaseEnd end = core.end();
      throw new LeaseLostException(names(), fencingToken(), end == null ? LeaseEnd.EXPIRED : end);
    }
  }

  @Override
  public CompletionStage<Void> extendAsync() {
    return core.extend().future();
  }

  @Override
  public void extend() {
    CompletableFuture<Void> extended = core.extend().result;
    if (!core.context.blocking.await(extended)) {
      Thread.currentThread().interrupt();
      throw new RedlockInterruptedException(names());
    }
    Results.check(extended);
  }

  @Override
  public CompletionStage<Void> releaseAsync() {
    return core.release().future();
  }

  @Override
  public void release() {
    CompletableFuture<Void> released = core.release().result;
    core.context.blocking.awaitUninterruptibly(released);
    Results.check(released);
  }

  @Override
  public CompletionStage<LeaseEnd> whenEnded() {
    return core.whenEnded().minimalCompletionStage();
  }

  @Override
  public void close() {
    CompletableFuture<?> released = core.release().result;
    if (!released.isDone()) {
      core.context.blocking.awaitUninterruptibly(
          released, core.lease.options().nodeTimeout().toNanos());
    }
  }

  @Override
  public String toString() {
    String id = core.lease.id();
    String start = id.substring(0, Math.min(4, id.length()));
    return "Lease%s[id=%s…, token=%s, remaining=%s ms]"
        .formatted(core.lease.keys(), start, core.lease.token(), remainingValidity().toMillis());
  }
}
