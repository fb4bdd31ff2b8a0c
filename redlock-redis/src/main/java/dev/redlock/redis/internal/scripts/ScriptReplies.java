package dev.redlock.redis.internal.scripts;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Decodes what the scripts reply: {@code code, node time, fence, remaining ms, others that want the
 * lock or come before in the queue, mark}, without the elements behind the last that matters. Code
 * 10 is {@code 10, node time, index of the key with foreign data}. In the usual case {@code
 * acquire.lua} and {@code release.lua} reply with one integer instead.
 *
 * <p>A reply that no script returns is a failure, never a vote. It is no exception either: the
 * request would remain without a reply.
 */
public final class ScriptReplies {
  /** The greatest number of elements of a reply. */
  public static final int MAX_ELEMENTS = 6;

  private static final int CODE_RELEASED = 8;
  private static final int FOREIGN_KEY = 10;

  /** Lua counts in doubles, so no script returns a greater number of microseconds. */
  private static final long MAX_MICROS = 1L << 53;

  /** About 31 years. A longer remaining life is cut to this, so that sums do not overflow. */
  private static final long MAX_REMAINING_MILLIS = 1_000_000_000_000L;

  private static final Code[] CODES = {
    Code.FAILED,
    Code.GRANTED,
    Code.HELD,
    Code.QUEUED,
    Code.STALE,
    Code.EXTENDED,
    Code.REPAIRED,
    Code.LOST,
    Code.RELEASED,
    Code.NOT_OWNER,
    Code.FAILED, // 10 is a foreign key.
    Code.ADMITTED
  };

  private static final Set<Code> OF_ACQUIRE =
      EnumSet.of(Code.GRANTED, Code.HELD, Code.QUEUED, Code.STALE);
  private static final Set<Code> OF_EXTEND = EnumSet.of(Code.EXTENDED, Code.REPAIRED, Code.LOST);
  private static final Set<Code> OF_RELEASE = EnumSet.of(Code.RELEASED, Code.NOT_OWNER);
  private static final Set<Code> OF_BREAK = EnumSet.of(Code.RELEASED, Code.NOT_OWNER, Code.STALE);
  private static final Set<Code> OF_ENQUEUE = EnumSet.of(Code.HELD, Code.QUEUED, Code.ADMITTED);
  private static final Set<Code> OF_LOCK_KEY =
      EnumSet.of(Code.GRANTED, Code.HELD, Code.EXTENDED, Code.LOST, Code.RELEASED, Code.NOT_OWNER);
  private static final Set<Code> OF_FENCE_KEY =
      EnumSet.of(Code.GRANTED, Code.STALE, Code.EXTENDED, Code.LOST, Code.RELEASED, Code.NOT_OWNER);
  private static final Set<Code> OF_INSPECT = EnumSet.of(Code.HELD, Code.NOT_OWNER);

  private ScriptReplies() {}

  /** Decodes these elements; what no script returns is a failure. */
  public static NodeReply reply(
      EncodedRequest request,
      String node,
      long connection,
      long code,
      long nodeMicros,
      long third,
      long remainingMillis,
      long others,
      @Nullable String mark) {
    boolean clock = isClock(nodeMicros);
    if (code == FOREIGN_KEY && clock && third >= 1 && third <= request.keyCount()) {
      return NodeReply.failed(
          connection,
          NodeError.Kind.FOREIGN_KEY,
          "key '"
              + request.keyName((int) third)
              + "' on "
              + node
              + " contains foreign data: it has another type or no time to live");
    }
    if (code <= 0 || code >= CODES.length || !codes(request.script()).contains(CODES[(int) code])) {
      return unexpected(connection, node + " replied with the unknown code " + code);
    }
    Code known = CODES[(int) code];
    boolean held = known == Code.HELD;
    boolean queued = known == Code.QUEUED;
    if (!clock
        || third < 0
        || others < 0
        || remainingMillis < (held ? -1 : 0)
        || (remainingMillis > 0 && !held && !queued)
        || held == (mark == null)
        || (mark != null && !NodeReply.isMark(mark))) {
      return unexpected(
          connection,
          node + " replied " + known + " with values that no script of this client returns");
    }
    return new NodeReply(
        known,
        connection,
        nodeMicros,
        third,
        Math.min(remainingMillis, MAX_REMAINING_MILLIS),
        mark,
        (int) Math.min(others, Integer.MAX_VALUE),
        null);
  }

  /**
   * Decodes a reply that is one integer: the node's time for a grant, or the code of a release. A
   * node grants a token only in the window around its time, so no other number is taken for a
   * grant.
   */
  public static NodeReply reply(
      EncodedRequest encoded, String node, long connection, long integer) {
    LockRequest request = encoded.request();
    if (encoded.script() == Script.ACQUIRE
        && request instanceof LockRequest.Acquire a
        && isClock(integer)
        && a.token() <= integer + LockRequest.Acquire.AHEAD_MICROS
        && a.token() >= integer - LockRequest.Acquire.SLACK_MICROS) {
      return usual(Code.GRANTED, connection, integer, a.token());
    }
    if (encoded.script() == Script.RELEASE
        && request instanceof LockRequest.Release r
        && integer == CODE_RELEASED) {
      return usual(Code.RELEASED, connection, 0, r.token());
    }
    return unexpected(connection, node + " replied with the unexpected number " + integer);
  }

  private static boolean isClock(long micros) {
    return micros > 0 && micros <= MAX_MICROS;
  }

  private static NodeReply usual(Code code, long connection, long nodeMicros, long fence) {
    return new NodeReply(code, connection, nodeMicros, fence, 0, null, 0, null);
  }

  /** The reply in place of one that no script returns. */
  public static NodeReply unexpected(long connection, String why) {
    return NodeReply.failed(connection, NodeError.Kind.UNEXPECTED, why);
  }

  private static Set<Code> codes(Script script) {
    return switch (script) {
      case ACQUIRE -> OF_ACQUIRE;
      case EXTEND -> OF_EXTEND;
      case RELEASE -> OF_RELEASE;
      case BREAK -> OF_BREAK;
      case ENQUEUE -> OF_ENQUEUE;
      case LOCK_KEY -> OF_LOCK_KEY;
      case FENCE_KEY -> OF_FENCE_KEY;
      case INSPECT, MARKER, LIST, RECORD, DATABASES -> OF_INSPECT;
    };
  }
}
