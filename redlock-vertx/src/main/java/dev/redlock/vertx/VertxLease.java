package dev.redlock.vertx;

import dev.redlock.FencingToken;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import io.vertx.codegen.annotations.GenIgnore;
import io.vertx.codegen.annotations.VertxGen;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;

/**
 * A {@link Lease} whose results are Vert.x futures on the context of the caller. The code that has
 * this object owns the lease, not a thread. The client releases the lease when the verticle that
 * acquired it is undeployed.
 *
 * <p>No method blocks. {@code toString} shows only the first characters of the lease id.
 */
@VertxGen
public interface VertxLease {

  /** The names that the lease covers, sorted. */
  List<String> names();

  /**
   * The fencing token: a number that rises from lease to lease of one name. Send it to the
   * protected resource.
   */
  @GenIgnore(GenIgnore.PERMITTED_TYPE)
  FencingToken fencingToken();

  /**
   * The time for which the holder may still trust this lease; zero after it ended. Computed
   * locally; sends nothing.
   */
  @GenIgnore(GenIgnore.PERMITTED_TYPE)
  Duration remainingValidity();

  /** Whether {@link #remainingValidity()} is positive. */
  boolean isValid();

  /**
   * Returns normally while the lease is valid. Call it before each step that cannot be undone.
   *
   * @throws dev.redlock.LeaseLostException if it is not valid; the exception says how the lease
   *     ended
   */
  void ensureValid();

  /**
   * Sets the remaining life of the lease to the lease time again; fails as {@link
   * Lease#extendAsync} does.
   */
  Future<Void> extend();

  /** Ends the lease: at once in this client, then on the nodes; see {@link Lease#releaseAsync}. */
  Future<Void> release();

  /** Completes exactly once, at the latest when validity ends. */
  Future<LeaseEnd> whenEnded();

  /** The same lease without Vert.x. Its {@code close()} blocks: do not call it on an event loop. */
  @GenIgnore
  Lease unwrap();
}
