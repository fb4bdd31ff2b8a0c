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
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A lease whose results arrive on the context of the caller. */
final class DefaultVertxLease implements VertxLease {
  private final Vertx vertx;
  private final Lease lease;

  /**
   * Whether the holder released the lease while it was valid. Written by the caller that releases,
   * read when a body ends.
   */
  private volatile boolean releasedInTime;

  /**
   * Whether the client released the lease because its owner was undeployed or the client was
   * closed. Written by the scope, read when a body ends.
   */
  private final AtomicBoolean takenAway = new AtomicBoolean();

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
    return Inside.onCaller(vertx, lease.extendAsync(), Function.identity());
  }

  @Override
  public Future<Void> release() {
    if (lease.isValid()) {
      releasedInTime = true;
    }
    return Inside.onCaller(vertx, lease.releaseAsync(), Function.identity());
  }

  @Override
  public Future<LeaseEnd> whenEnded() {
    return Inside.onCaller(vertx, lease.whenEnded(), Function.identity());
  }

  @Override
  public Lease unwrap() {
    return lease;
  }

  /** Set when the client takes the lease away from its owner. */
  AtomicBoolean takenAway() {
    return takenAway;
  }

  /** How the lease was lost; null if it is valid or its holder released it in time. */
  @Nullable LeaseLostException loss() {
    if (releasedInTime || lease.isValid()) {
      return null;
    }
    if (takenAway.get()) {
      LeaseLostException loss = new LeaseLostException(names(), fencingToken(), LeaseEnd.RELEASED);
      loss.initCause(
          new CancellationException("its verticle was undeployed, or the client was closed"));
      return loss;
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
