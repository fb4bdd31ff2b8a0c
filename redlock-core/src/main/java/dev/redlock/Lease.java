package dev.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Granted, time-bound ownership of one or several names. Owned by whoever has this object; may be
 * passed between threads.
 *
 * <p>A lease can end while its holder still works: show the {@link #fencingToken()} to the
 * resource, call {@link #ensureValid()} before each irrevocable step, and listen to {@link
 * #whenEnded()}. See {@code docs/safety.md}.
 *
 * <p>All methods are safe from any thread. {@code toString} shows no more of the id than its first
 * characters.
 */
public interface Lease extends AutoCloseable {

  /** What it covers, sorted. */
  List<String> names();

  /**
   * The secret value under the lock keys: 160 random bits. Whoever knows it can release or extend
   * the lease; keep it out of logs. A lease that was handed on within the process may have the id
   * of its predecessor, whose grant it goes on with; their tokens differ.
   */
  String id();

  /**
   * A number that grows from lease to lease of one name, for resources that remember the highest
   * they have seen. Tokens of different names do not compare.
   */
  FencingToken fencingToken();

  /** The time this lease may still be trusted; zero once it ended. Computed, sends nothing. */
  Duration remainingValidity();

  /** Whether {@link #remainingValidity()} is positive. Right without any timer having fired. */
  boolean isValid();

  /**
   * Returns while the lease is valid.
   *
   * @throws LeaseLostException if it is not, with how it ended
   */
  void ensureValid();

  /**
   * Extends the lease by its lease time, now. Fails with {@link LeaseLostException} if it has
   * ended, with {@link QuorumUnavailableException} if too few nodes answered: the lease then goes
   * on until its old deadline, and automatic extension keeps trying.
   */
  CompletionStage<Void> extendAsync();

  /**
   * Ends the lease: locally at once, then on the nodes. Completes when a quorum has confirmed;
   * fails with {@link QuorumUnavailableException} when it has not within the node timeout (the
   * clean-up goes on in the background all the same, and the keys expire with the lease time). If
   * the lease is handed to the next caller of this client, it completes at once: whether the nodes
   * confirm is what that caller waits for, and {@link #whenEnded()} tells. Idempotent; completes
   * normally for a lease that had ended otherwise.
   */
  CompletionStage<Void> releaseAsync();

  /**
   * Completes exactly once, at the latest when validity ends (as soon as the process runs, should
   * it have been paused). Completed on the callback executor.
   */
  CompletionStage<LeaseEnd> whenEnded();

  /**
   * Releases, and waits for a quorum's confirmation for one node timeout at most. Never throws;
   * keeps the thread's interrupt flag. Look at {@link #whenEnded()} to learn whether the lease was
   * lost before.
   */
  @Override
  void close();
}
