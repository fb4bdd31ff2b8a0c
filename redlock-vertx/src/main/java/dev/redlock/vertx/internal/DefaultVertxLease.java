package dev.redlock.vertx.internal;

import dev.redlock.FencingToken;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.vertx.VertxLease;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A lease whose results come on the context of whoever asks. */
final class DefaultVertxLease implements VertxLease {
  private final Vertx vertx;
  private final Lease lease;

  /** Written by whoever releases, read when a body ends: released by its holder, not lost. */
  private volatile boolean releasedInTime;

  DefaultVertxLease(Vertx vertx, Lease lease) {
    this.vertx = vertx;
    this.lease = lease;
  }

  @Override
  public List<String> names() {
    return lease.names();
  }

  @Override
  public FencingToken fencingToken() {
    return lease.fencingToken();
  }

  @Override
  public Duration remainingValidity() {
    return lease.remainingValidity();
  }

  @Override
  public boolean isValid() {
    return lease.isValid();
  }

  @Override
  public void ensureValid() {
    lease.ensureValid();
  }

  @Override
  public Future<Void> extend() {
    return Future.fromCompletionStage(lease.extendAsync(), vertx.getOrCreateContext());
  }

  @Override
  public Future<Void> release() {
    if (lease.isValid()) {
      releasedInTime = true;
    }
    return Future.fromCompletionStage(lease.releaseAsync(), vertx.getOrCreateContext());
  }

  @Override
  public Future<LeaseEnd> whenEnded() {
    return Future.fromCompletionStage(lease.whenEnded(), vertx.getOrCreateContext());
  }

  @Override
  public Lease unwrap() {
    return lease;
  }

  /** How the lease was lost, if it was, while its holder still counted on it. */
  @Nullable LeaseLostException loss() {
    if (releasedInTime || lease.isValid()) {
      return null;
    }
    LeaseEnd end = lease.whenEnded().toCompletableFuture().getNow(null);
    if (end != null && end.byHolder()) {
      return null;
    }
    return new LeaseLostException(names(), fencingToken(), end == null ? LeaseEnd.EXPIRED : end);
  }

  @Override
  public String toString() {
    return lease.toString();
  }
}
