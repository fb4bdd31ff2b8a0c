package dev.redlock.internal.memory;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.internal.protocol.TokenWindow;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The executable specification of the Lua scripts: what one node stores, and what it answers. The
 * simulator and the in-memory node run it; a test drives it and a real server with the same
 * operations and wants the same answers.
 *
 * <p>It has no clock of its own: whoever executes a request says what time the node has. As in
 * Redis, a key lives on in the millisecond in which its time to live ends, and expired keys are
 * gone for every reader although nobody has removed them yet.
 *
 * <p>Not safe for concurrent use.
 */
public final class NodeModel {
  private static final long FOREVER = Long.MAX_VALUE;
  private static final long[] NOBODY = {};

  private final long fenceLifeMillis;
  private final UnaryOperator<String> marks;
  private final Map<String, Slot> slots = new LinkedHashMap<>();
  private Pushes pushes = Pushes.NONE;

  /**
   * @param fenceLifeMillis how long a fence lives after the last lease, {@code 2 × maxLeaseTime +
   *     60 s} in production
   */
  public NodeModel(long fenceLifeMillis) {
    this(fenceLifeMillis, NodeModel::markOf);
  }

  /** A node that shows lease ids by other marks than a server does, which is cheaper. */
  public NodeModel(long fenceLifeMillis, UnaryOperator<String> marks) {
    this.fenceLifeMillis = fenceLifeMillis;
    this.marks = marks;
  }

  /** Takes what the node pushes to those who have read a key that changed. */
  @FunctionalInterface
  public interface Pushes {
    /** Nobody listens. */
    Pushes NONE = (session, lockKey) -> {};

    /**
     * The key was written, deleted or has expired. Each read earns one push.
     *
     * @param session who has read it
     */
    void push(long session, String lockKey);
  }

  /** The keys of one name. */
  private static final class Slot {
    final String lockKey;
    @Nullable String owner;
    long expiresMillis;
    @Nullable String mark;
    boolean wrongType;

    long fence;
    long ended;
    long fenceExpiresMillis;

    /** Somebody was refused since the last grant. */
    boolean wanted;

    @Nullable Map<String, Place> line;
    long lineExpiresMillis;

    /** Sessions that have read the lock key since it last changed, in that order. */
    long[] readers = NOBODY;

    int readerCount;

    Slot(String lockKey) {
      this.lockKey = lockKey;
    }
  }

  private record Place(long arrivalMicros, long seenMicros) {}

  /** Directs pushes; {@link Pushes#NONE} at first. */
  public void pushTo(Pushes receiver) {
    pushes = receiver;
  }

  /**
   * Executes one request, atomically.
   *
   * @param session the connection it came on, as one number of the node's
   * @param connection what the answer carries as {@link NodeReply#connection()}
   * @param nowMicros the node's clock
   */
  public NodeReply execute(LockRequest request, long session, long connection, long nowMicros) {
    expire(request.keys(), nowMicros / 1000);
    if (request instanceof LockRequest.Acquire r) {
      return acquire(r, session, connection, nowMicros);
    } else if (request instanceof LockRequest.Extend r) {
      return extend(r, session, connection, nowMicros);
    } else if (request instanceof LockRequest.Release r) {
      return release(r, session, connection, nowMicros);
    } else if (request instanceof LockRequest.Break r) {
      return breakLock(r, session, connection, nowMicros);
    }
    return inspect(request.keys(), session, connection, nowMicros);
  }

  private NodeReply acquire(LockRequest.Acquire r, long session, long connection, long now) {
    LockKeys keys = r.keys();
    long nowMillis = now / 1000;
    boolean inWindow =
        r.token() >= now - TokenWindow.SLACK_MICROS && r.token() <= now + TokenWindow.AHEAD_MICROS;
    long fence = 0;
    long remaining = -1;
    Slot holder = null;
    boolean stale = false;
    boolean wanted = false;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = read(keys.lockKey(i), session);
      String owner = s.owner;
      boolean ofPredecessor = owner != null && owner.equals(r.previousLeaseId());
      // The predecessor's key is set anew, with a time to live, even if somebody took that away.
      if (s.wrongType || (isForeign(s) && !ofPredecessor)) {
        return foreign(connection, s);
      }
      fence = Math.max(fence, s.fence);
      wanted |= s.wanted;
      if (owner != null
          && !owner.equals(r.leaseId())
          && !ofPredecessor
          && s.expiresMillis - nowMillis > remaining) {
        remaining = s.expiresMillis - nowMillis;
        holder = s;
      }
      if (!isRepeat(s, r) && (r.token() <= s.fence || !inWindow)) {
        stale = true;
      }
    }
    ReplyCode code = holder != null ? ReplyCode.HELD : stale ? ReplyCode.STALE : ReplyCode.GRANTED;
    int others = 0;
    LockRequest.Line line = r.line();
    if (line != null) {
      Slot first = slot(keys.lockKey(0));
      boolean firstInLine = standBefore(first, line, now);
      if (code != ReplyCode.HELD && !firstInLine) {
        code = ReplyCode.QUEUED;
      }
      others = enterOrLeave(first, line, code, now);
    }
    if (holder != null) {
      for (int i = 0; i < keys.size(); i++) {
        Slot s = slot(keys.lockKey(i));
        s.wanted |= s.fence > 0; // Beside a fence only, whose time to live it shares.
      }
      return new NodeReply(code, connection, now, fence, remaining, mark(holder), others, null);
    }
    if (code != ReplyCode.GRANTED) {
      return new NodeReply(code, connection, now, fence, 0, null, others, null);
    }
    for (int i = 0; i < keys.size(); i++) {
      Slot s = slot(keys.lockKey(i));
      if (r.previousLeaseId() != null
          && r.previousToken() > s.ended
          && r.previousToken() < r.token()) {
        s.ended = r.previousToken();
      }
      if (isRepeat(s, r)) {
        continue;
      }
      write(s, r.leaseId(), nowMillis + r.ttlMillis(), session);
      s.fence = r.token();
      s.wanted = false;
      s.fenceExpiresMillis = nowMillis + fenceLifeMillis;
      track(s, session);
    }
    int want = wanted && line == null ? 1 : others; // In fair mode the line tells.
    return new NodeReply(code, connection, now, r.token(), 0, null, want, null);
  }

  private static boolean isRepeat(Slot s, LockRequest.Acquire r) {
    return r.leaseId().equals(s.owner) && s.fence == r.token();
  }

  /** Drops who has left the line; whether nobody else in it came earlier. */
  private static boolean standBefore(Slot s, LockRequest.Line line, long now) {
    Map<String, Place> places = s.line;
    if (places == null) {
      return true;
    }
    places.values().removeIf(p -> Math.abs(now - p.seenMicros()) > line.timeoutMillis() * 1000);
    long arrival = arrival(places, line, now);
    for (Map.Entry<String, Place> e : places.entrySet()) {
      int before = Long.compare(e.getValue().arrivalMicros(), arrival);
      if (before < 0 || (before == 0 && e.getKey().compareTo(line.process()) < 0)) {
        return false;
      }
    }
    return true;
  }

  private static long arrival(Map<String, Place> places, LockRequest.Line line, long now) {
    long arrival = line.arrivalMicros() == 0 ? now : line.arrivalMicros();
    Place own = places.get(line.process());
    return own == null ? arrival : Math.min(arrival, own.arrivalMicros());
  }

  private static int enterOrLeave(Slot s, LockRequest.Line line, ReplyCode code, long now) {
    Map<String, Place> places = s.line == null ? new TreeMap<>() : s.line;
    int others = places.size() - (places.containsKey(line.process()) ? 1 : 0);
    if (code == ReplyCode.GRANTED) {
      places.remove(line.process());
    } else if (line.stand()) {
      places.put(line.process(), new Place(arrival(places, line, now), now));
      s.line = places;
      s.lineExpiresMillis = now / 1000 + line.timeoutMillis();
    }
    return others;
  }

  private NodeReply extend(LockRequest.Extend r, long session, long connection, long now) {
    LockKeys keys = r.keys();
    long nowMillis = now / 1000;
    ReplyCode code = ReplyCode.EXTENDED;
    long fence = 0;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = read(keys.lockKey(i), session);
      if (s.wrongType) {
        return foreign(connection, s);
      }
      fence = Math.max(fence, s.fence);
      boolean ours = r.leaseId().equals(s.owner);
      if (ours && s.ended < r.token()) {
        continue;
      }
      if (!ours && isForeign(s)) {
        return foreign(connection, s);
      }
      if (s.owner != null || s.ended >= r.token()) {
        code = ReplyCode.LOST;
      } else if (code == ReplyCode.EXTENDED) {
        code = ReplyCode.REPAIRED;
      }
    }
    if (code == ReplyCode.LOST) {
      return NodeReply.of(code, connection, now, fence);
    }
    for (int i = 0; i < keys.size(); i++) {
      Slot s = slot(keys.lockKey(i));
      write(s, r.leaseId(), nowMillis + r.ttlMillis(), session);
      if (r.token() > s.fence && isStorable(r.token(), now)) {
        s.fence = r.token();
        fence = Math.max(fence, r.token());
      }
      refreshFence(s, nowMillis);
      track(s, session);
    }
    return NodeReply.of(code, connection, now, fence);
  }

  private NodeReply release(LockRequest.Release r, long session, long connection, long now) {
    LockKeys keys = r.keys();
    long nowMillis = now / 1000;
    ReplyCode code = ReplyCode.NOT_OWNER;
    long fence = 0;
    boolean wanted = false;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = read(keys.lockKey(i), session);
      if (!s.wrongType && r.leaseId().equals(s.owner)) {
        code = ReplyCode.RELEASED;
        if (r.keepMillis() == 0) {
          delete(s, session);
        } else if (s.expiresMillis == FOREVER || s.expiresMillis - nowMillis > r.keepMillis()) {
          write(s, r.leaseId(), nowMillis + r.keepMillis(), session);
        }
      }
      wanted |= s.wanted;
      if (isStorable(r.token(), now)) {
        s.fence = Math.max(s.fence, r.token());
        if (r.ended()) {
          s.ended = Math.max(s.ended, r.token());
        }
      }
      refreshFence(s, nowMillis);
      fence = Math.max(fence, s.fence);
    }
    Slot first = slot(keys.lockKey(0));
    String leaving = r.leaveLine();
    if (leaving != null && first.line != null) {
      first.line.remove(leaving);
    }
    return new NodeReply(code, connection, now, fence, 0, null, wanted ? 1 : 0, null);
  }

  private NodeReply breakLock(LockRequest.Break r, long session, long connection, long now) {
    LockKeys keys = r.keys();
    long fence = 0;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = read(keys.lockKey(i), session);
      if (isForeign(s)) {
        return foreign(connection, s);
      }
      fence = Math.max(fence, Math.max(s.fence, s.ended));
    }
    if (!isStorable(r.token(), now)) {
      return NodeReply.of(ReplyCode.STALE, connection, now, fence);
    }
    ReplyCode code = ReplyCode.NOT_OWNER;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = slot(keys.lockKey(i));
      if (s.owner != null) {
        code = ReplyCode.RELEASED;
        delete(s, session);
      }
      long top = Math.max(r.token(), Math.max(s.fence, s.ended));
      s.fence = top;
      s.ended = top;
      refreshFence(s, now / 1000);
    }
    return NodeReply.of(code, connection, now, Math.max(fence, r.token()));
  }

  private NodeReply inspect(LockKeys keys, long session, long connection, long now) {
    long fence = 0;
    long remaining = -1;
    Slot holder = null;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = read(keys.lockKey(i), session);
      if (isForeign(s)) {
        return foreign(connection, s);
      }
      fence = Math.max(fence, s.fence);
      if (s.owner != null && s.expiresMillis - now / 1000 > remaining) {
        remaining = s.expiresMillis - now / 1000;
        holder = s;
      }
    }
    return holder == null
        ? NodeReply.of(ReplyCode.NOT_OWNER, connection, now, fence)
        : NodeReply.held(connection, now, fence, remaining, mark(holder));
  }

  /** Nobody may push a fence further ahead than an acquire can. */
  private static boolean isStorable(long token, long now) {
    return token <= now + TokenWindow.AHEAD_MICROS;
  }

  private void refreshFence(Slot s, long nowMillis) {
    if (s.fence > 0) {
      s.fenceExpiresMillis = nowMillis + fenceLifeMillis;
    }
  }

  private static boolean isForeign(Slot s) {
    return s.wrongType || (s.owner != null && s.expiresMillis == FOREVER);
  }

  private static NodeReply foreign(long connection, Slot s) {
    return NodeReply.failed(
        connection,
        NodeError.Kind.FOREIGN_KEY,
        "key '" + s.lockKey + "' is not ours: it has another type or no time to live");
  }

  // Keys and who watches them.

  private Slot slot(String lockKey) {
    Slot s = slots.get(lockKey);
    if (s == null) {
      s = new Slot(lockKey);
      slots.put(lockKey, s);
    }
    return s;
  }

  private Slot read(String lockKey, long session) {
    Slot s = slot(lockKey);
    track(s, session);
    return s;
  }

  private static void track(Slot s, long session) {
    for (int i = 0; i < s.readerCount; i++) {
      if (s.readers[i] == session) {
        return;
      }
    }
    if (s.readerCount == s.readers.length) {
      s.readers = Arrays.copyOf(s.readers, Math.max(4, 2 * s.readerCount));
    }
    s.readers[s.readerCount++] = session;
  }

  private void write(Slot s, String owner, long expiresMillis, long session) {
    if (!owner.equals(s.owner)) {
      s.owner = owner;
      s.mark = null;
    }
    s.expiresMillis = expiresMillis;
    changed(s, session);
  }

  private void delete(Slot s, long session) {
    s.owner = null;
    s.mark = null;
    changed(s, session);
  }

  /** Tells all readers but the writer itself (NOLOOP); each has to read again to be told again. */
  private void changed(Slot s, long writer) {
    int count = s.readerCount;
    s.readerCount = 0;
    for (int i = 0; i < count; i++) {
      if (s.readers[i] != writer) {
        pushes.push(s.readers[i], s.lockKey);
      }
    }
  }

  private String mark(Slot s) {
    String known = s.mark;
    if (known == null) {
      known = marks.apply(String.valueOf(s.owner));
      s.mark = known;
    }
    return known;
  }

  /** What answers show of a lease id: it tells two holders apart, and does not tell the id. */
  public static String markOf(String leaseId) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-1").digest(leaseId.getBytes(UTF_8));
      return HexFormat.of().formatHex(hash, 0, 4);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-1", e);
    }
  }

  private void expire(LockKeys keys, long nowMillis) {
    for (int i = 0; i < keys.size(); i++) {
      Slot s = slots.get(keys.lockKey(i));
      if (s != null) {
        expire(s, nowMillis);
      }
    }
  }

  private void expire(Slot s, long nowMillis) {
    if (s.owner != null && nowMillis > s.expiresMillis) {
      delete(s, -1);
    }
    if (s.fence > 0 && nowMillis > s.fenceExpiresMillis) {
      s.fence = 0;
      s.ended = 0;
      s.wanted = false;
    }
    if (s.line != null && nowMillis > s.lineExpiresMillis) {
      s.line = null;
    }
  }

  /** Removes what has expired, and pushes; the active expiry cycle of a server. */
  public void expireAll(long nowMicros) {
    for (Slot s : slots.values()) {
      expire(s, nowMicros / 1000);
    }
    slots
        .values()
        .removeIf(s -> s.owner == null && s.fence == 0 && s.line == null && s.readerCount == 0);
  }

  // What administrators, crashes and the network do.

  /** The connection is gone: nothing is pushed to it any more. */
  public void forgetSession(long session) {
    for (Slot s : slots.values()) {
      int kept = 0;
      for (int i = 0; i < s.readerCount; i++) {
        if (s.readers[i] != session) {
          s.readers[kept++] = s.readers[i];
        }
      }
      s.readerCount = kept;
    }
  }

  /** Somebody deletes the lock key; the fence stays. */
  public void delete(String lockKey) {
    Slot s = slots.get(lockKey);
    if (s != null) {
      s.wrongType = false;
      delete(s, -1);
    }
  }

  /** Somebody changes how long the lock key lives. */
  public void expireAt(String lockKey, long expiresMillis) {
    Slot s = slots.get(lockKey);
    if (s != null && s.owner != null) {
      write(s, String.valueOf(s.owner), expiresMillis, -1);
    }
  }

  /** The fence and what has ended are evicted; the lock key stays. */
  public void deleteFence(String lockKey) {
    Slot s = slots.get(lockKey);
    if (s != null) {
      s.fence = 0;
      s.ended = 0;
      s.wanted = false;
    }
  }

  /** Somebody keeps data of their own, without a time to live, where our lock key would be. */
  public void putForeign(String lockKey, String value) {
    Slot s = slot(lockKey);
    write(s, value, FOREVER, -1);
  }

  /** Somebody keeps data of another type where our lock key would be. */
  public void putWrongType(String lockKey) {
    Slot s = slot(lockKey);
    delete(s, -1);
    s.wrongType = true;
  }

  /** All data is gone: flushed, or lost in a crash. Telling those who are connected is not ours. */
  public void wipe() {
    slots.clear();
  }

  /** The server stops: its data stays, its connections are gone. */
  public void forgetSessions() {
    for (Slot s : slots.values()) {
      s.readerCount = 0;
    }
  }

  /** The data as it is now, without who watches it; to come back after a crash. */
  public NodeModel copy() {
    NodeModel copy = new NodeModel(fenceLifeMillis, marks);
    for (Slot s : slots.values()) {
      Slot c = copy.slot(s.lockKey);
      c.owner = s.owner;
      c.expiresMillis = s.expiresMillis;
      c.mark = s.mark;
      c.wrongType = s.wrongType;
      c.fence = s.fence;
      c.ended = s.ended;
      c.wanted = s.wanted;
      c.fenceExpiresMillis = s.fenceExpiresMillis;
      c.line = s.line == null ? null : new TreeMap<>(s.line);
      c.lineExpiresMillis = s.lineExpiresMillis;
    }
    return copy;
  }

  // What is stored, for those who check.

  /** The lease id under the key at that time, or null. */
  public @Nullable String owner(String lockKey, long nowMicros) {
    Slot s = slots.get(lockKey);
    return s == null || nowMicros / 1000 > s.expiresMillis ? null : s.owner;
  }

  /** When the lock key dies by the node's clock; {@link Long#MAX_VALUE} for never. */
  public long expiresMillis(String lockKey) {
    Slot s = slots.get(lockKey);
    return s == null || s.owner == null ? 0 : s.expiresMillis;
  }

  /** When the fence of the name dies by the node's clock; 0 if there is none. */
  public long fenceExpiresMillis(String lockKey) {
    Slot s = slots.get(lockKey);
    return s == null || s.fence == 0 ? 0 : s.fenceExpiresMillis;
  }

  /** The stored fence, 0 if there is none. */
  public long fence(String lockKey, long nowMicros) {
    Slot s = slots.get(lockKey);
    return s == null || nowMicros / 1000 > s.fenceExpiresMillis ? 0 : s.fence;
  }

  /** The highest token of a lease known to have ended, 0 if there is none. */
  public long ended(String lockKey, long nowMicros) {
    Slot s = slots.get(lockKey);
    return s == null || nowMicros / 1000 > s.fenceExpiresMillis ? 0 : s.ended;
  }

  /** When the line of the name dies by the node's clock; 0 if there is none. */
  public long lineExpiresMillis(String lockKey) {
    Slot s = slots.get(lockKey);
    return s == null || s.line == null ? 0 : s.lineExpiresMillis;
  }

  /** How many processes have an entry in the line of the name. */
  public int lineLength(String lockKey) {
    Slot s = slots.get(lockKey);
    return s == null || s.line == null ? 0 : s.line.size();
  }
}
