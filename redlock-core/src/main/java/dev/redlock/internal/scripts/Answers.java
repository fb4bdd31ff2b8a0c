package dev.redlock.internal.scripts;

import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import org.jspecify.annotations.Nullable;

/**
 * What the scripts answer: {@code code, node time, fence, remaining ms, others in line, mark}, cut
 * off after the last that matters. Code 10 is {@code 10, node time, index of the key that is
 * somebody's data}.
 */
public final class Answers {
  private static final int FOREIGN = 10;
  private static final ReplyCode[] CODES = {
    ReplyCode.FAILED,
    ReplyCode.GRANTED,
    ReplyCode.HELD,
    ReplyCode.QUEUED,
    ReplyCode.STALE,
    ReplyCode.EXTENDED,
    ReplyCode.REPAIRED,
    ReplyCode.LOST,
    ReplyCode.RELEASED,
    ReplyCode.NOT_OWNER
  };

  private Answers() {}

  /** The reply that these numbers mean; what the scripts never answer is a failure. */
  public static NodeReply reply(
      WireRequest request,
      String node,
      long connection,
      long code,
      long nodeMicros,
      long third,
      long remainingMillis,
      long others,
      @Nullable String mark) {
    if (code == FOREIGN) {
      return NodeReply.failed(
          connection,
          NodeError.Kind.FOREIGN_KEY,
          "key '"
              + request.keyName((int) third)
              + "' on "
              + node
              + " is not ours: it has another type or no time to live");
    }
    if (code <= 0 || code >= CODES.length) {
      return NodeReply.failed(
          connection, NodeError.Kind.UNEXPECTED, node + " answered code " + code);
    }
    return new NodeReply(
        CODES[(int) code],
        connection,
        nodeMicros,
        third,
        remainingMillis,
        mark,
        (int) others,
        null);
  }
}
