package dev.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Ownership of one or several names with a time limit, granted by a quorum. The code that has this
 * object owns the lock; threads may pass the object to each other.
 *
 * <p>A lease can end while its holder still works. Send the {@link #fencingToken()} to the
 * resource, call {@link #ensureValid()} before each step that cannot be undone, and use {@link
 * #whenEnded()}. See {@code docs/safety.md}.
 *
 * <p>All methods are safe from any thread. {@code toString} shows only the first four characters of
 * the secret value that nodes store for the lease.
 */
public interface Lease extends AutoCloseable {

  /** The names that the lease covers, sorted. */
  List<String> names();

  /**
   * A number that rises from lease to lease of one name. It is for a resource that stores the
   * highest token that it has accepted. Do not compare tokens of different names.
   */
  FencingToken fencingToken();

  /**
   * How long the lease may still be trusted; zero once it has ended. Sends nothing. A caller may
   * read it once and count down: no other caller gets the lock before, unless the lease is released
   * or broken, its client is closed, a wall clock is set forward, or more nodes lose the key than
   * {@code docs/safety.md} allows.
   */
  Duration remainingValidity();

  /** Whether {@link #remainingValidity()} is positive. Reads the clock; does not rely on timers. */
  boolean isValid();

  /**
   * Returns if the lease is valid now.
   *
   * @throws LeaseLostException if it has ended; the exception says how
   */
  void ensureValid();

  /**
   * Extends the lease by its lease time from now on, or from the start of the extension that is
   * under way (up to 1 s ago), but never beyond the hold cap. Fails with {@link LeaseLostException}
   * if the lease has ended, and with {@link QuorumUnavailableException} if too few nodes confirmed:
   * the lease then stays valid until its old deadline, and automatic extension keeps trying.
   * Completes on the callback executor.
   */
  CompletionStage<Void> extendAsync();

  /**
   * As {@link #extendAsync()}, and waits for it. If the thread is interrupted, the extension goes
   * on.
   *
   * @throws LeaseLostException if the lease has ended
   * @throws QuorumUnavailableException if too few nodes confirmed; the lease stays valid until its
   *     old deadline
   * @throws RedlockInterruptedException if the thread is interrupted; its interrupt flag is set
   */
  void extend();

  /**
   * Ends the lease: at once in this client, then on the nodes. Completes on the callback executor
   * when a quorum has confirmed. Fails with {@link QuorumUnavailableException} if a quorum has not
   * confirmed within the node timeout; the client then repeats the release in the background, and
   * the keys expire with the lease time. Completes at once if the lock is handed off to the next
   * caller of this client. Idempotent; completes normally if the lease had ended before.
   */
  CompletionStage<Void> releaseAsync();

  /**
   * As {@link #releaseAsync()}, and waits for it, even if the thread is interrupted; keeps the
   * thread's interrupt flag. {@link #close()} never throws: use it if the caller cannot react to a
   * failed release.
   *
   * @throws QuorumUnavailableException if a quorum has not confirmed within the node timeout; the
   *     client then repeats the release in the background
   */
  void release();

  /**
   * Completes exactly once, at the latest when validity ends; after a pause of the process, as soon
   * as it runs again. Completes on the callback executor. A callback of this stage that blocks
   * delays only the other callbacks of this lease.
   */
  CompletionStage<LeaseEnd> whenEnded();

  /**
   * Releases, and waits for the confirmation of a quorum for one node timeout at most. Never
   * throws; keeps the thread's interrupt flag. {@link #whenEnded()} reports whether the lease was
   * lost before.
   */
  @Override
  void close();
}
