package dev.redlock.testkit.model;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.spi.HolderMark;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockReader;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  /** How long the first of a queue may be silent at its turn, at most. */
  private static final long MAX_PATIENCE_MICROS = 1_000_000;

  /** The patience of a process that has no place in the queue. */
  private static final long SINGLE_TRY_PATIENCE_MICROS = 400_000;

  /** How many processes a script wakes for each one that was silent; see {@code turn.lua}. */
  private static final int SPREAD = 4;

  /** The same for a single try, whose patience is long, and the limit of both. */
  private static final int MOST_WOKEN = 1_000;

  /** In a queue that has this place, a release may wake the last process; see release.lua. */
  private static final int FAR_PLACE = 5;

  private static final long FOREVER = Long.MAX_VALUE;
  private static final long[] NO_READERS = {};

  /** For how many keys a script reads the time to live; see {@code acquire.lua}. */
  private static final int MAX_TTL_READS = 10;

  private final long fenceLifeMillis;
  private final UnaryOperator<String> marks;
  private final Map<String, Slot> slots = new LinkedHashMap<>();
  private final QueueModel queues = new QueueModel();
  private Invalidations invalidations = Invalidations.NONE;

  /**
   * @param fenceLifeMillis the life of a fence after its last use, {@code 2 × maxLeaseTime + 60 s}
   *     in production
   */
  public NodeModel(long fenceLifeMillis) {
    this(fenceLifeMillis, NodeModel::markOf);
  }

  /** A node that computes the marks of lease ids with this function, which can be cheaper. */
  public NodeModel(long fenceLifeMillis, UnaryOperator<String> marks) {
    this.fenceLifeMillis = fenceLifeMillis;
    this.marks = marks;
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

    /** Others want the lock: the node has refused a client since the last grant, or has a queue. */
    boolean wanted;

    /** What follows the three numbers of the fence, of a later version; kept until it expires. */
    String further = "";

    /** Sessions that have read the lock key since it last changed, in that order. */
    long[] readers = NO_READERS;

    int readerCount;

    Slot(String lockKey) {
      this.lockKey = lockKey;
    }
  }

  /** Sets the receiver of invalidations; {@link Invalidations#NONE} at first. */
  public void sendInvalidationsTo(Invalidations receiver) {
    invalidations = receiver;
  }

  /**
   * Executes one request, atomically.
   *
   * @param session the number of the connection that brought it
   * @param connection what the reply carries as {@link NodeReply#connection()}
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
    } else if (request instanceof LockRequest.Enqueue r) {
      return enqueue(r, session, connection, nowMicros);
    } else if (request instanceof LockRequest.Break r) {
      return breakLock(r, session, connection, nowMicros);
    }
    return inspect(request.keys(), session, connection, nowMicros);
  }

  private NodeReply acquire(LockRequest.Acquire r, long session, long connection, long now) {
    LockKeys keys = r.keys();
    long nowMillis = now / 1000;
    boolean inWindow = r.token() >= now - SLACK_MICROS && r.token() <= now + AHEAD_MICROS;
    long fence = 0;
    long remaining = -1;
    Slot holder = null;
    boolean stale = false;
    boolean wanted = false;
    boolean unfenced = false;
    int ttlReads = 0;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = read(keys.lockKey(i), session);
      String owner = s.owner;
      boolean ofPredecessor = owner != null && owner.equals(r.previousLeaseId());
      boolean anothers = owner != null && !owner.equals(r.leaseId()) && !ofPredecessor;
      if (s.wrongType) {
        return foreign(connection, s);
      }
      fence = Math.max(fence, s.fence);
      wanted |= s.wanted;
      unfenced |= s.fence == 0;
      // The predecessor's key is written again with a time to live, even if it lost its own.
      if (owner != null
          && !ofPredecessor
          && (ttlReads < MAX_TTL_READS || (anothers && holder == null))) {
        ttlReads++;
        if (isForeign(s)) {
          return foreign(connection, s);
        }
        if (anothers && s.expiresMillis - nowMillis > remaining) {
          remaining = s.expiresMillis - nowMillis;
          holder = s;
        }
      }
      if (!isRepeat(s, r) && (r.token() <= s.fence || !inWindow)) {
        stale = true;
      }
    }
    ReplyCode code = holder != null ? ReplyCode.HELD : stale ? ReplyCode.STALE : ReplyCode.GRANTED;
    int others = 0;
    boolean left = false;
    LockRequest.QueueEntry entry = r.queueEntry();
    if (code == ReplyCode.GRANTED
        && (wanted || (entry != null && unfenced))
        && queues.first(keys.queueKey(), nowMillis) != null) {
      if (isTurnOfAnother(r, session, now)) {
        int rank = entry == null ? -1 : queues.rank(keys.queueKey(), entry.process(), nowMillis);
        int before = rank < 0 ? queues.size(keys.queueKey(), nowMillis) : rank;
        return new NodeReply(ReplyCode.QUEUED, connection, now, fence, 0, null, before, null);
      }
      if (entry != null) {
        left = queues.leave(keys.queueKey(), entry.process());
      }
      others = queues.size(keys.queueKey(), nowMillis);
    }
    if (holder != null) {
      for (int i = 0; i < keys.size(); i++) {
        Slot s = slot(keys.lockKey(i));
        s.wanted |= s.fence > 0; // Only beside a fence: it shares the time to live.
      }
      return NodeReply.held(connection, now, fence, remaining, mark(holder));
    }
    if (code != ReplyCode.GRANTED) {
      return NodeReply.of(code, connection, now, fence);
    }
    boolean keepMarks = others == 0 && keys.size() > 1 && isQueuedForAName(keys, nowMillis);
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
      s.wanted = others > 0 || (s.wanted && keepMarks);
      s.fenceExpiresMillis = nowMillis + fenceLifeMillis;
      track(s, session);
    }
    int want = wanted && !left ? Math.max(1, others) : others;
    return new NodeReply(code, connection, now, r.token(), 0, null, want, null);
  }

  /** Whether a process is queued for one of the names that have the mark. */
  private boolean isQueuedForAName(LockKeys keys, long nowMillis) {
    for (int i = 0; i < keys.size(); i++) {
      String lockKey = keys.lockKey(i);
      if (slot(lockKey).wanted && queues.size(lockKey + ":queue", nowMillis) > 0) {
        return true;
      }
    }
    return false;
  }

  private static boolean isRepeat(Slot s, LockRequest.Acquire r) {
    return r.leaseId().equals(s.owner) && s.fence == r.token();
  }

  /** Whether another process is the first of the queue, and has not let its turn pass. */
  private boolean isTurnOfAnother(LockRequest.Acquire r, long session, long now) {
    LockRequest.QueueEntry entry = r.queueEntry();
    if (entry == null && r.previousLeaseId() != null) {
      return false;
    }
    long arrival = entry == null || entry.arrivalMicros() > now ? 0 : entry.arrivalMicros();
    return new Turn(r.keys(), entry, arrival, session, now).leftMicros() >= 0;
  }

  /** Whether it is the turn of another process; see {@code turn.lua}. */
  private final class Turn {
    private final LockKeys keys;
    private final String queueKey;
    private final LockRequest.@Nullable QueueEntry entry;
    private final long arrival;
    private final long session;
    private final long now;
    private int removed;
    private boolean woke;

    Turn(
        LockKeys keys,
        LockRequest.@Nullable QueueEntry entry,
        long arrival,
        long session,
        long now) {
      this.keys = keys;
      this.entry = entry;
      this.arrival = arrival;
      this.session = session;
      this.now = now;
      queueKey = keys.queueKey();
    }

    /** For how long the turn of another process may last; −1 if there is none. */
    long leftMicros() {
      String first = queues.first(queueKey, now / 1000);
      if (first == null || !isBefore(first) || isElsewhere()) {
        return -1;
      }
      removed += queues.sweep(queueKey, now);
      int silent = 0;
      for (first = queues.first(queueKey, now / 1000);
          first != null && isBefore(first);
          first = queues.first(queueKey, now / 1000)) {
        long limit = Math.max(patience(), patienceOf(first));
        long woken = queues.woken(keys.wakeKey(first), now / 1000);
        if (woken < 0) {
          wake(
              silent == 0
                  ? 1
                  : Math.min(MOST_WOKEN, silent * (entry == null ? MOST_WOKEN : SPREAD)));
          return limit;
        }
        long since = Math.abs(now - woken);
        if (since < limit) {
          return limit - since;
        }
        queues.leave(queueKey, first);
        removed++;
        silent++;
      }
      return -1;
    }

    private boolean isBefore(String first) {
      return (entry == null || !first.equals(entry.process()))
          && (arrival == 0 || queues.arrival(queueKey, first) < arrival);
    }

    /** Whether this process has its turn at its home node, and this is not that node. */
    private boolean isElsewhere() {
      return entry != null
          && entry.atTurn()
          && queues.rank(queueKey, entry.process(), now / 1000) < 0;
    }

    private long patience() {
      return entry == null ? SINGLE_TRY_PATIENCE_MICROS : entry.patienceMicros();
    }

    private long patienceOf(String first) {
      return Math.min(MAX_PATIENCE_MICROS, queues.patience(keys.watchKey(first), now / 1000));
    }

    private void wake(int count) {
      woke = true;
      for (int i = 0; i < count; i++) {
        String member = queues.place(queueKey, i, now / 1000);
        if (member == null || (entry != null && member.equals(entry.process()))) {
          return;
        }
        if (queues.woken(keys.wakeKey(member), now / 1000) < 0) {
          queues.write(keys.wakeKey(member), now, session, invalidations);
        }
      }
    }
  }

  private NodeReply enqueue(LockRequest.Enqueue r, long session, long connection, long now) {
    LockKeys keys = r.keys();
    long nowMillis = now / 1000;
    String process = r.entry().process();
    queues.delete(keys.wakeKey(process));
    queues.putPatience(
        keys.watchKey(process), r.entry().patienceMicros(), nowMillis + r.entry().lifeMillis());
    long fence = 0;
    long ended = Long.MAX_VALUE;
    long remaining = -1;
    Slot holder = null;
    int ttlReads = 0;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = keys.size() > 1 ? read(keys.lockKey(i), session) : slot(keys.lockKey(i));
      fence = Math.max(fence, s.fence);
      ended = Math.min(ended, s.ended);
      s.wanted |= s.fence > 0;
      if (s.owner != null && ttlReads++ < MAX_TTL_READS) {
        if (isForeign(s)) {
          return foreign(connection, s);
        }
        if (s.expiresMillis - nowMillis > remaining) {
          remaining = s.expiresMillis - nowMillis;
          holder = s;
        }
      }
    }
    int ahead = queues.enter(keys.queueKey(), r.entry(), fenceLifeMillis, now);
    boolean free = holder == null && ended >= r.afterToken();
    long turnLeft = -1;
    boolean asksAgain = false;
    if (free && ahead > 0) {
      Turn turn = new Turn(keys, r.entry(), 0, session, now);
      turnLeft = turn.leftMicros();
      ahead = queues.rank(keys.queueKey(), process, nowMillis);
      asksAgain = turn.woke || turn.removed > 0 || ahead == 1;
    }
    if (free && turnLeft < 0) {
      queues.write(keys.wakeKey(process), now, session, invalidations);
      return NodeReply.of(ReplyCode.ADMITTED, connection, now, ended);
    }
    queues.read(keys.wakeKey(process), session);
    queues.read(keys.watchKey(process), session);
    if (free) {
      long again = asksAgain ? (turnLeft + 999) / 1000 : 0;
      return new NodeReply(ReplyCode.QUEUED, connection, now, fence, again, null, ahead, null);
    }
    String mark = holder == null ? marks.apply("") : mark(holder);
    return new NodeReply(ReplyCode.HELD, connection, now, fence, remaining, mark, ahead, null);
  }

  private NodeReply extend(LockRequest.Extend r, long session, long connection, long now) {
    LockKeys keys = r.keys();
    long nowMillis = now / 1000;
    ReplyCode code = ReplyCode.EXTENDED;
    long fence = 0;
    int ttlReads = 0;
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
      if (!ours && s.owner != null && ttlReads++ < MAX_TTL_READS && isForeign(s)) {
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
    boolean shorten = false;
    boolean[] wakes = new boolean[keys.size()];
    long clock = isUsual(r) ? 0 : now; // The script does not read the clock then.
    for (int i = 0; i < keys.size(); i++) {
      Slot s = read(keys.lockKey(i), session);
      wakes[i] = s.wanted && (r.ended() || s.owner == null || r.leaseId().equals(s.owner));
      if (!s.wrongType && r.leaseId().equals(s.owner)) {
        if (code == ReplyCode.NOT_OWNER) {
          // All keys of a lease are written at once, so the first is enough.
          shorten = s.expiresMillis == FOREVER || s.expiresMillis - nowMillis > r.keepMillis();
        }
        code = ReplyCode.RELEASED;
        if (r.keepMillis() == 0) {
          delete(s, session);
        } else if (shorten) {
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
    String leaving = r.leaveQueue();
    if (leaving != null) {
      queues.leave(keys.queueKey(), leaving);
      queues.delete(keys.wakeKey(leaving), session, invalidations);
      queues.delete(keys.watchKey(leaving), session, invalidations);
    }
    wake(r, wakes, session, now);
    return new NodeReply(code, connection, clock, fence, 0, null, wanted ? 1 : 0, null);
  }

  /** Whether one name is released that no other client wants, and the fence is the lease's own. */
  private boolean isUsual(LockRequest.Release r) {
    Slot s = slot(r.keys().lockKey(0));
    return r.keys().size() == 1
        && r.ended()
        && r.keepMillis() == 0
        && r.leaveQueue() == null
        && !s.wrongType
        && r.leaseId().equals(s.owner)
        && r.token() == s.fence
        && !s.wanted
        && s.further.isEmpty();
  }

  /** Wakes the first of each queue that wants a name, and warns the second. */
  private void wake(LockRequest.Release r, boolean[] wakes, long session, long now) {
    LockKeys keys = r.keys();
    boolean any = false;
    for (int i = 0; i < keys.size(); i++) {
      if (wakes[i]) {
        any = true;
        wake(keys.lockKey(i), keys.lockKey(i) + ":queue", r.keepMillis() > 0, session, now);
      }
    }
    if (any && keys.size() > 1) {
      wake(keys.lockKey(0), keys.queueKey(), r.keepMillis() > 0, session, now);
    }
  }

  private void wake(String lockKey, String queueKey, boolean kept, long session, long now) {
    queues.sweep(queueKey, now);
    String first = queues.first(queueKey, now / 1000);
    if (first == null) {
      return;
    }
    String second = kept ? first : queues.place(queueKey, 1, now / 1000);
    String wakeKey = lockKey + ":wake:" + first;
    if (!kept && queues.woken(wakeKey, now / 1000) < 0) {
      queues.write(wakeKey, now, session, invalidations);
    }
    if (second != null) {
      queues.prolong(
          lockKey + ":watch:" + second, now / 1000, fenceLifeMillis, session, invalidations);
    }
    String last = queues.place(queueKey, queues.size(queueKey, now / 1000) - 1, now / 1000);
    boolean isLong = queues.place(queueKey, FAR_PLACE, now / 1000) != null;
    if (!kept && isLong && last != null && queues.mayWakeLast(queueKey, now / 1000)) {
      queues.touch(lockKey + ":wake:" + last, now / 1000, session, invalidations);
    }
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
    int ttlReads = 0;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = read(keys.lockKey(i), session); // More invalidations than it asks for do no harm.
      if (s.wrongType) {
        return foreign(connection, s);
      }
      fence = Math.max(fence, s.fence);
      if (s.owner != null && ttlReads++ < MAX_TTL_READS) {
        if (isForeign(s)) {
          return foreign(connection, s);
        }
        if (s.expiresMillis - now / 1000 > remaining) {
          remaining = s.expiresMillis - now / 1000;
          holder = s;
        }
      }
    }
    return holder == null
        ? NodeReply.of(ReplyCode.NOT_OWNER, connection, now, fence)
        : NodeReply.held(connection, now, fence, remaining, mark(holder));
  }

  /** No request may raise a fence higher than an acquire can. */
  private static boolean isStorable(long token, long now) {
    return token <= now + AHEAD_MICROS;
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
        "key '" + s.lockKey + "' contains foreign data: it has another type or no time to live");
  }

  // Keys and the sessions that have read them.

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

  /** Invalidates the key for all readers except the writer (NOLOOP), once for each read. */
  private void changed(Slot s, long writer) {
    int count = s.readerCount;
    s.readerCount = 0;
    for (int i = 0; i < count; i++) {
      if (s.readers[i] != writer) {
        invalidations.invalidate(s.readers[i], s.lockKey);
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
      deleteFence(s);
    }
  }

  /** Removes what has expired and sends invalidations: the active expiry cycle of a server. */
  public void expireAll(long nowMicros) {
    for (Slot s : slots.values()) {
      expire(s, nowMicros / 1000);
    }
    slots.values().removeIf(s -> s.owner == null && s.fence == 0 && s.readerCount == 0);
    queues.expireAll(nowMicros / 1000, invalidations);
  }

  // What administrators, crashes and the network do.

  /** The connection is closed: it receives no more invalidations. */
  public void forgetSession(long session) {
    queues.forgetSession(session);
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

  /** An administrator deletes the lock key; the fence stays. */
  public void delete(String lockKey) {
    Slot s = slots.get(lockKey);
    if (s != null) {
      s.wrongType = false;
      delete(s, -1);
    }
  }

  /** An administrator changes the expiry of the lock key. */
  public void expireAt(String lockKey, long expiresMillis) {
    Slot s = slots.get(lockKey);
    if (s != null && s.owner != null) {
      write(s, String.valueOf(s.owner), expiresMillis, -1);
    }
  }

  /** The server evicts the fence key; the lock key stays. */
  public void deleteFence(String lockKey) {
    Slot s = slots.get(lockKey);
    if (s != null) {
      deleteFence(s);
    }
  }

  private static void deleteFence(Slot s) {
    s.fence = 0;
    s.ended = 0;
    s.wanted = false;
    s.further = "";
  }

  /** A later version has written more fields behind the fence; nothing without a fence. */
  public void appendToFence(String lockKey, String further) {
    Slot s = slots.get(lockKey);
    if (s != null && s.fence > 0) {
      s.further += further;
    }
  }

  /** Another application stores data without a time to live under the lock key. */
  public void putForeign(String lockKey, String value) {
    Slot s = slot(lockKey);
    write(s, value, FOREVER, -1);
  }

  /** Another application stores data of another type under the lock key. */
  public void putWrongType(String lockKey) {
    Slot s = slot(lockKey);
    delete(s, -1);
    s.wrongType = true;
  }

  /** All data is lost, by a flush or a crash. The caller informs the connected clients. */
  public void wipe() {
    slots.clear();
    queues.wipe();
  }

  /** The server stops: its data stays, its connections are closed. */
  public void forgetSessions() {
    queues.forgetSessions();
    for (Slot s : slots.values()) {
      s.readerCount = 0;
    }
  }

  /** The data as it is now, without readers; a server loads it after a crash. */
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
      c.further = s.further;
      c.fenceExpiresMillis = s.fenceExpiresMillis;
    }
    queues.copyTo(copy.queues);
    return copy;
  }

  // What is stored, for checks.

  /** The lease id under the key at that time, or null. */
  public @Nullable String owner(String lockKey, long nowMicros) {
    Slot s = slots.get(lockKey);
    return s == null || nowMicros / 1000 > s.expiresMillis ? null : s.owner;
  }

  /** The locks that are held; see {@code list.lua}. */
  public List<LockReader.StoredLock> locks(long nowMicros) {
    long nowMillis = nowMicros / 1000;
    List<LockReader.StoredLock> locks = new ArrayList<>();
    for (Slot s : slots.values()) {
      if (s.owner != null && !isForeign(s) && nowMillis <= s.expiresMillis) {
        locks.add(
            new LockReader.StoredLock(
                s.lockKey,
                s.expiresMillis - nowMillis,
                fence(s.lockKey, nowMicros),
                queues.size(s.lockKey + ":queue", nowMillis),
                HolderMark.of(mark(s))));
      }
    }
    return locks;
  }

  /** When the lock key expires by the node's clock; {@link Long#MAX_VALUE} for never. */
  public long expiresMillis(String lockKey) {
    Slot s = slots.get(lockKey);
    return s == null || s.owner == null ? 0 : s.expiresMillis;
  }

  /** When the fence of the name expires by the node's clock; 0 if there is none. */
  public long fenceExpiresMillis(String lockKey) {
    Slot s = slots.get(lockKey);
    return s == null || s.fence == 0 ? 0 : s.fenceExpiresMillis;
  }

  /** The stored fence, 0 if there is none. */
  public long fence(String lockKey, long nowMicros) {
    Slot s = slots.get(lockKey);
    return s == null || nowMicros / 1000 > s.fenceExpiresMillis ? 0 : s.fence;
  }

  /** The value of the fence key; null if there is none. */
  public @Nullable String fenceValue(String lockKey, long nowMicros) {
    Slot s = slots.get(lockKey);
    return s == null || fence(lockKey, nowMicros) == 0
        ? null
        : s.fence + ":" + s.ended + ":" + (s.wanted ? 1 : 0) + s.further;
  }

  /** The highest token of a lease known to have ended, 0 if there is none. */
  public long ended(String lockKey, long nowMicros) {
    Slot s = slots.get(lockKey);
    return s == null || nowMicros / 1000 > s.fenceExpiresMillis ? 0 : s.ended;
  }

  /** When the queue of the name expires by the node's clock; 0 if there is none. */
  public long queueExpiresMillis(String lockKey) {
    return queues.expiresMillis(lockKey + ":queue");
  }

  /** When the signs of life of the processes in this queue end, by the node's clock. */
  public Collection<Long> signsMillis(LockKeys keys) {
    return queues.signs(keys.queueKey());
  }

  /** How many processes are in the queue of the name. */
  public int queueLength(String lockKey) {
    return queues.size(lockKey + ":queue", 0);
  }
}
