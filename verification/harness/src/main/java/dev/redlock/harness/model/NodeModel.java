package dev.redlock.harness.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.internal.text.HolderMark;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockReader;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The executable specification of the Lua scripts: what one node stores, and what it replies. The
 * simulator and the in-memory node run it. A test sends the same operations to it and to a real
 * server, and compares the replies.
 *
 * <p>It has no clock: the caller passes the node's time with each request. As in Redis, a key
 * exists until the end of the millisecond in which its time to live ends. No reader sees an expired
 * key, even if the key is not removed yet.
 *
 * <p>Not safe for concurrent use.
 */
public final class NodeModel {
  // The scripts contain these numbers; a test compares them with those of the protocol.
  static final long SLACK_MICROS = 2_000_000;
  static final long AHEAD_MICROS = 2_000_000;

  private final Keyspace keyspace;

  /**
   * @param fenceLifeMillis the life of a fence after its last use, {@code 2 × maxLeaseTime + 60 s}
   *     in production
   */
  public NodeModel(long fenceLifeMillis) {
    this(fenceLifeMillis, NodeModel::markOf);
  }

  /** A node that computes the marks of lease ids with this function, which can be cheaper. */
  public NodeModel(long fenceLifeMillis, UnaryOperator<String> marks) {
    this(new Keyspace(fenceLifeMillis, marks));
  }

  private NodeModel(Keyspace keyspace) {
    this.keyspace = keyspace;
  }

  /** Receives the invalidations that the node sends to sessions that have read a key. */
  @FunctionalInterface
  public interface Invalidations {
    /** Drops all invalidations. */
    Invalidations NONE = (session, key) -> {};

    /**
     * The key was written, was deleted or has expired. Each read causes at most one invalidation.
     *
     * @param session the session that has read the key
     * @param key a lock key, wake key or watch key
     */
    void invalidate(long session, String key);
  }

  /** Sets the receiver of invalidations; {@link Invalidations#NONE} at first. */
  public void sendInvalidationsTo(Invalidations receiver) {
    keyspace.sendInvalidationsTo(receiver);
  }

  /**
   * Executes one request, atomically.
   *
   * @param session the number of the connection that brought it
   * @param connection what the reply carries as {@link NodeReply#connection()}
   * @param nowMicros the node's clock
   */
  public NodeReply execute(LockRequest request, long session, long connection, long nowMicros) {
    keyspace.expire(request.keys(), nowMicros / 1000);
    Call call = new Call(keyspace, session, connection, nowMicros);
    return switch (request.operation()) {
      case ACQUIRE -> AcquireScript.execute((LockRequest.Acquire) request, call);
      case ENQUEUE -> EnqueueScript.execute((LockRequest.Enqueue) request, call);
      case EXTEND -> ExtendScript.execute((LockRequest.Extend) request, call);
      case RELEASE -> ReleaseScript.execute((LockRequest.Release) request, call);
      case INSPECT -> InspectScript.execute(request.keys(), call);
      case BREAK -> BreakScript.execute((LockRequest.Break) request, call);
    };
  }

  /**
   * What replies show of a lease id. It distinguishes two holders, does not reveal the id, and ends
   * with the label.
   */
  public static String markOf(String leaseId) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-1").digest(leaseId.getBytes(UTF_8));
      return HexFormat.of().formatHex(hash, 0, 4) + HolderMark.suffixOf(leaseId);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }

  /** Removes what has expired and sends invalidations: the active expiry cycle of a server. */
  public void expireAll(long nowMicros) {
    keyspace.expireAll(nowMicros / 1000);
  }

  // What administrators, crashes and the network do.

  /** The connection is closed: it receives no more invalidations. */
  public void forgetSession(long session) {
    keyspace.queues.forgetSession(session);
    for (Slot s : keyspace.slots()) {
      s.forgetSession(session);
    }
  }

  /** An administrator deletes the lock key; the fence stays. */
  public void delete(String lockKey) {
    Slot s = keyspace.find(lockKey);
    if (s != null) {
      s.wrongType = false;
      keyspace.delete(s, Keyspace.NO_WRITER);
    }
  }

  /** An administrator changes the expiry of the lock key. */
  public void expireAt(String lockKey, long expiresMillis) {
    Slot s = keyspace.find(lockKey);
    if (s != null && s.owner != null) {
      keyspace.write(s, String.valueOf(s.owner), expiresMillis, Keyspace.NO_WRITER);
    }
  }

  /** The server evicts the fence key; the lock key stays. */
  public void deleteFence(String lockKey) {
    Slot s = keyspace.find(lockKey);
    if (s != null) {
      s.deleteFence();
    }
  }

  /** A later version has written more fields behind the fence; nothing without a fence. */
  public void appendToFence(String lockKey, String further) {
    Slot s = keyspace.find(lockKey);
    if (s != null && s.fence > 0) {
      s.further += further;
    }
  }

  /** Another application stores data without a time to live under the lock key. */
  public void putForeign(String lockKey, String value) {
    Slot s = keyspace.slot(lockKey);
    keyspace.write(s, value, Slot.FOREVER, Keyspace.NO_WRITER);
  }

  /** Another application stores data of another type under the lock key. */
  public void putWrongType(String lockKey) {
    Slot s = keyspace.slot(lockKey);
    keyspace.delete(s, Keyspace.NO_WRITER);
    s.wrongType = true;
  }

  /** All data is lost, by a flush or a crash. The caller informs the connected clients. */
  public void wipe() {
    keyspace.wipe();
  }

  /** The server stops: its data stays, its connections are closed. */
  public void forgetSessions() {
    keyspace.queues.forgetSessions();
    for (Slot s : keyspace.slots()) {
      s.forgetSessions();
    }
  }

  /** The data as it is now, without readers; a server loads it after a crash. */
  public NodeModel copy() {
    return new NodeModel(keyspace.copy());
  }

  // What is stored, for checks.

  /** The lease id under the key at that time, or null. */
  public @Nullable String owner(String lockKey, long nowMicros) {
    Slot s = keyspace.find(lockKey);
    return s == null || nowMicros / 1000 > s.expiresMillis ? null : s.owner;
  }

  /** The locks that are held; see {@code list.lua}. */
  public List<LockReader.StoredLock> locks(long nowMicros) {
    long nowMillis = nowMicros / 1000;
    List<LockReader.StoredLock> locks = new ArrayList<>();
    for (Slot s : keyspace.slots()) {
      if (s.owner != null && !s.isForeign() && nowMillis <= s.expiresMillis) {
        locks.add(
            new LockReader.StoredLock(
                s.lockKey,
                s.expiresMillis - nowMillis,
                fence(s.lockKey, nowMicros),
                keyspace.queues.size(s.lockKey + LockKeys.QUEUE, nowMillis),
                keyspace.mark(s)));
      }
    }
    return locks;
  }

  /** When the lock key expires by the node's clock; {@link Long#MAX_VALUE} for never. */
  public long expiresMillis(String lockKey) {
    Slot s = keyspace.find(lockKey);
    return s == null || s.owner == null ? 0 : s.expiresMillis;
  }

  /** When the fence of the name expires by the node's clock; 0 if there is none. */
  public long fenceExpiresMillis(String lockKey) {
    Slot s = keyspace.find(lockKey);
    return s == null || s.fence == 0 ? 0 : s.fenceExpiresMillis;
  }

  /** The stored fence, 0 if there is none. */
  public long fence(String lockKey, long nowMicros) {
    Slot s = keyspace.find(lockKey);
    return s == null || nowMicros / 1000 > s.fenceExpiresMillis ? 0 : s.fence;
  }

  /** The value of the fence key; null if there is none. */
  public @Nullable String fenceValue(String lockKey, long nowMicros) {
    Slot s = keyspace.find(lockKey);
    return s == null || fence(lockKey, nowMicros) == 0
        ? null
        : s.fence + ":" + s.ended + ":" + (s.wanted ? 1 : 0) + s.further;
  }

  /** The highest token of a lease known to have ended, 0 if there is none. */
  public long ended(String lockKey, long nowMicros) {
    Slot s = keyspace.find(lockKey);
    return s == null || nowMicros / 1000 > s.fenceExpiresMillis ? 0 : s.ended;
  }

  /** When the queue of the name expires by the node's clock; 0 if there is none. */
  public long queueExpiresMillis(String lockKey) {
    return keyspace.queues.expiresMillis(lockKey + LockKeys.QUEUE);
  }

  /** When the signs of life of the processes in this queue end, by the node's clock. */
  public Collection<Long> signsMillis(LockKeys keys) {
    return keyspace.queues.signs(keys.queueKey());
  }

  /** How many processes are in the queue of the name. */
  public int queueLength(String lockKey) {
    return keyspace.queues.size(lockKey + LockKeys.QUEUE, 0);
  }
}
