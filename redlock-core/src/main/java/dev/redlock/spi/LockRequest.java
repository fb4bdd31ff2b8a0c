package dev.redlock.spi;

import org.jspecify.annotations.Nullable;

/**
 * One request to a node. One script executes it for all names of a multi-lock: all or none.
 * Immutable; a round sends the same object to all its nodes. {@code toString} shows no lease id.
 */
public sealed interface LockRequest {

  /** What a node is asked to do. */
  enum Operation {
    /** To grant the lock. */
    ACQUIRE,
    /** To put the process in the queue of the home node. */
    ENQUEUE,
    /** To extend, repair or check a lease. */
    EXTEND,
    /** To release a lease, or to roll back an attempt. */
    RELEASE,
    /** To report what it stores. */
    INSPECT,
    /** To take the lock from its holder. */
    BREAK
  }

  /** What this request asks for: one operation for each type of request. */
  Operation operation();

  /** The keys of the requested names. */
  LockKeys keys();

  /** The same request for these keys. */
  LockRequest withKeys(LockKeys keys);

  /**
   * The place of one client process in the queue of a node.
   *
   * @param process identifies the process
   * @param arrivalMicros when the process began to wait, in microseconds of node time; 0: when the
   *     node executes the request
   * @param patienceMicros how long the first of the queue may be silent after it was woken. Then
   *     this process may pass it over
   * @param lifeMillis for how long the process counts as alive after this request to be queued. It
   *     loses its place then, unless it asks again before
   * @param atTurn acquire: the process has its turn at its home node. A queue in which it has no
   *     place does not refuse it
   */
  record QueueEntry(
      String process, long arrivalMicros, long patienceMicros, long lifeMillis, boolean atTurn) {}

  /**
   * Requests the lock. The node grants it if each key is absent or has this lease id, and if it
   * accepts the token. The node grants a repeat of a granted request again and leaves the remaining
   * life of the keys unchanged.
   *
   * <p>A node accepts a token above its fence in the window {@code now − slack ≤ token ≤ now +
   * ahead} by its own clock. The window is constant here and in the scripts, not an option: two
   * clients with different windows would break each other's order.
   *
   * @param token the proposed fencing token: microseconds of node time, below 2^53
   * @param ttlMillis the lease time
   * @param queueEntry the place of a queued process, which a grant removes; null if the process is
   *     not queued. While another process is before it in the queue of the node and has its turn,
   *     the node replies {@link NodeReply.Code#QUEUED}
   */
  record Acquire(
      LockKeys keys, String leaseId, long token, long ttlMillis, @Nullable QueueEntry queueEntry)
      implements LockRequest {
    /** How far behind the node's clock a token may lie, in microseconds. */
    public static final long SLACK_MICROS = 2_000_000;

    /** How far ahead of the node's clock a token may lie, in microseconds. */
    public static final long AHEAD_MICROS = 2_000_000;

    @Override
    public Operation operation() {
      return Operation.ACQUIRE;
    }

    @Override
    public Acquire withKeys(LockKeys keys) {
      return new Acquire(keys, leaseId, token, ttlMillis, queueEntry);
    }

    @Override
    public String toString() {
      return "Acquire" + keys;
    }
  }

  /**
   * Enters the queue of the node, or keeps the place there. The node replies {@link
   * NodeReply.Code#ADMITTED} if the lock is free there and this process has its turn, {@link
   * NodeReply.Code#QUEUED} if the lock is free and another process has its turn, and otherwise
   * {@link NodeReply.Code#HELD}. After these two replies it sends an invalidation of the {@link
   * LockKeys#wakeKey wake key} when the turn of this process begins, and of the {@link
   * LockKeys#watchKey watch key} when the turn of the process before it begins.
   *
   * @param afterToken the lock counts as held until the node knows that a lease with this token or
   *     a higher one has ended, even if the node stores no lease; 0 if the stored lease alone
   *     decides
   */
  record Enqueue(LockKeys keys, QueueEntry entry, long afterToken) implements LockRequest {
    @Override
    public Operation operation() {
      return Operation.ENQUEUE;
    }

    @Override
    public Enqueue withKeys(LockKeys keys) {
      return new Enqueue(keys, entry, afterToken);
    }
  }

  /**
   * Sets the remaining life of the keys to the lease time. The node writes a missing key again if
   * no later lease has ended.
   *
   * @param ttlMillis the lease time
   */
  record Extend(LockKeys keys, String leaseId, long token, long ttlMillis) implements LockRequest {
    @Override
    public Operation operation() {
      return Operation.EXTEND;
    }

    @Override
    public Extend withKeys(LockKeys keys) {
      return new Extend(keys, leaseId, token, ttlMillis);
    }

    @Override
    public String toString() {
      return "Extend" + keys;
    }
  }

  /**
   * Deletes the keys that have this lease id. Raises the fence of every name to the token.
   *
   * @param ended true for the release of a lease, which raises {@code ended} too; false for a
   *     roll-back
   * @param keepMillis how long the keys may still live: for a minimum hold, or until the deadline
   *     of a lease that has ended by itself; 0 deletes them
   * @param leaveQueue the process that leaves the queue of the node; otherwise null
   */
  record Release(
      LockKeys keys,
      String leaseId,
      long token,
      boolean ended,
      long keepMillis,
      @Nullable String leaveQueue)
      implements LockRequest {
    @Override
    public Operation operation() {
      return Operation.RELEASE;
    }

    @Override
    public Release withKeys(LockKeys keys) {
      return new Release(keys, leaseId, token, ended, keepMillis, leaveQueue);
    }

    @Override
    public String toString() {
      return (ended ? "Release" : "Roll-back") + keys;
    }
  }

  /**
   * An operator takes the lock from its holder: deletes the keys, and raises fence and {@code
   * ended} to the token.
   *
   * @param token above every known fence, so that the holder can neither extend nor repair
   */
  record Break(LockKeys keys, long token) implements LockRequest {
    @Override
    public Operation operation() {
      return Operation.BREAK;
    }

    @Override
    public Break withKeys(LockKeys keys) {
      return new Break(keys, token);
    }
  }

  /**
   * Reads the keys and changes nothing. The node replies {@link NodeReply.Code#HELD} with the mark
   * of the holder and the fence, or {@link NodeReply.Code#NOT_OWNER} if the lock is free.
   *
   * @param listens whether the node is to send an invalidation of the next change of a lock key
   */
  record Inspect(LockKeys keys, boolean listens) implements LockRequest {
    @Override
    public Operation operation() {
      return Operation.INSPECT;
    }

    @Override
    public Inspect withKeys(LockKeys keys) {
      return new Inspect(keys, listens);
    }
  }
}
