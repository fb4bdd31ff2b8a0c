package dev.redlock.vertx;

import dev.redlock.FencingToken;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;

/**
 * Granted, time-bound ownership: a {@link Lease} whose results are Vert.x futures, on the context
 * of whoever asks. Owned by whoever has this object; released when the verticle that acquired it is
 * undeployed.
 *
 * <p>No method blocks. {@code toString} shows no more of the lease id than its first characters.
 */
public interface VertxLease {

  /** What it covers, sorted. */
  List<String> names();

  /** A number that grows from lease to lease of one name, to be shown to the resource. */
  FencingToken fencingToken();

  /** The time this lease may still be trusted; zero once it ended. Computed, sends nothing. */
  Duration remainingValidity();

  /** Whether {@link #remainingValidity()} is positive. */
  boolean isValid();

  /**
   * Returns while the lease is valid; ask before each irrevocable step.
   *
   * @throws dev.redlock.LeaseLostException if it is not, with how it ended
   */
  void ensureValid();

  /** Extends the lease by its lease time, now; fails as {@link Lease#extendAsync} does. */
  Future<Void> extend();

  /** Ends the lease, here at once, then on the nodes; see {@link Lease#releaseAsync}. */
  Future<Void> release();

  /** Completes exactly once, at the latest when validity ends. */
  Future<LeaseEnd> whenEnded();

  /** The same lease without Vert.x. Its {@code close()} blocks: not on an event loop. */
  Lease unwrap();
}
