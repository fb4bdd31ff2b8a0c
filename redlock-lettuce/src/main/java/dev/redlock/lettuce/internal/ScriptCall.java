package dev.redlock.lettuce.internal;

import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.redis.internal.scripts.Script;
import dev.redlock.redis.internal.scripts.ScriptReplies;
import dev.redlock.redis.internal.scripts.ServerErrors;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.RedisCommand;
import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One request to one node: Lettuce's command and the output of its reply in one object. The request
 * is encoded already, and the decoder writes the integers of the reply into fields, so that only
 * the reply is allocated.
 */
final class ScriptCall extends CommandOutput<byte[], byte[], NodeReply>
    implements RedisCommand<byte[], byte[], NodeReply> {

  /** A longer reply ends the connection; a shorter one is read to its end. */
  private static final int MAX_ELEMENTS = 64;

  private final NodeSession session;
  private final EncodedRequest request;
  private final byte[] command;
  private final boolean asking;
  private final boolean again;
  private final Consumer<NodeReply> handler;

  /** Set by the first reply or failure; several threads may report the end of a connection. */
  private final AtomicBoolean answered = new AtomicBoolean();

  // Written by the decoder on the connection's thread.
  private int position = -1;
  private boolean isInteger;
  private boolean malformed;
  private int releasesBefore;
  private long code;
  private long nodeMicros;
  private long third;
  private long remaining;
  private long others;
  private @Nullable String mark;

  ScriptCall(
      NodeSession session,
      EncodedRequest request,
      byte[] command,
      boolean asking,
      Consumer<NodeReply> handler) {
    this(session, request, command, asking, false, handler);
  }

  private ScriptCall(
      NodeSession session,
      EncodedRequest request,
      byte[] command,
      boolean asking,
      boolean again,
      Consumer<NodeReply> handler) {
    super(ByteArrayCodec.INSTANCE, null);
    this.session = session;
    this.request = request;
    this.command = command;
    this.asking = asking;
    this.again = again;
    this.handler = handler;
  }

  /** Whether {@code ASKING} is sent directly before it. */
  boolean asking() {
    return asking;
  }

  EncodedRequest request() {
    return request;
  }

  /** Whether it undoes other requests. */
  boolean isRelease() {
    return request.script() == Script.RELEASE;
  }

  /** Whether a release undoes it. */
  boolean isUndoable() {
    return request.script() == Script.ACQUIRE || request.script() == Script.EXTEND;
  }

  /** The session writes it after this many releases of the same names. */
  void written(int releases) {
    releasesBefore = releases;
  }

  int releasesBefore() {
    return releasesBefore;
  }

  /**
   * The same call for a second try; null if this is one.
   *
   * @param whole whether it carries the text of the script
   */
  @Nullable ScriptCall again(boolean whole) {
    return again
        ? null
        : new ScriptCall(
            session, request, whole ? request.eval() : request.evalSha(), asking, true, handler);
  }

  @Override
  public void encode(ByteBuf buf) {
    buf.writeBytes(command);
  }

  @Override
  public ProtocolKeyword getType() {
    return CommandType.EVALSHA;
  }

  @Override
  @SuppressWarnings(
      "NullAway") // Lettuce allows commands without arguments; ours are encoded already.
  public CommandArgs<byte[], byte[]> getArgs() {
    return null;
  }

  @Override
  public CommandOutput<byte[], byte[], NodeReply> getOutput() {
    return this;
  }

  @Override
  public void setOutput(CommandOutput<byte[], byte[], NodeReply> output) {
    throw new UnsupportedOperationException();
  }

  // The decoder calls these. None may throw: Lettuce would end the call and take the rest of this
  // reply for the reply of the next call.

  @Override
  public void multi(int count) {
    if (position >= 0 || count < 3 || count > ScriptReplies.MAX_ELEMENTS) {
      malformed = true;
    }
    position = Math.max(position, 0);
    if (count > MAX_ELEMENTS) {
      // The decoder would take further replies of this connection for elements of this one.
      fail(NodeError.Kind.UNEXPECTED, "a reply with " + count + " elements");
      session.abort();
    }
  }

  @Override
  public void multiSet(int count) {
    multi(count);
    malformed = true; // No script returns a set, nor a map.
  }

  @Override
  public void multiMap(int count) {
    multi(count);
    malformed = true;
  }

  @Override
  public void set(long integer) {
    if (position < 0) {
      isInteger = true;
      code = integer;
      return;
    }
    switch (next()) {
      case 0 -> code = integer;
      case 1 -> nodeMicros = integer;
      case 2 -> third = integer;
      case 3 -> remaining = integer;
      case 4 -> others = integer;
      default -> malformed = true;
    }
  }

  @Override
  public void set(@Nullable ByteBuffer bytes) {
    if (next() == 5 && bytes != null) {
      mark = StandardCharsets.US_ASCII.decode(bytes).toString();
    } else {
      malformed = true;
    }
  }

  @Override
  public void setSingle(@Nullable ByteBuffer bytes) {
    malformed = true;
  }

  @Override
  public void setBigNumber(@Nullable ByteBuffer bytes) {
    malformed = true;
  }

  @Override
  public void set(double number) {
    malformed = true;
  }

  @Override
  public void set(boolean value) {
    malformed = true;
  }

  @Override
  public void setError(ByteBuffer error) {
    if (position < 0) {
      super.setError(error);
    } else {
      malformed = true; // An error among the elements.
    }
  }

  /** The position of this element; always −1 outside of an array. */
  private int next() {
    return position < 0 || position >= ScriptReplies.MAX_ELEMENTS ? -1 : position++;
  }

  // The end of the call.

  @Override
  public void complete() {
    if (!answered.compareAndSet(false, true)) {
      return;
    }
    NodeReply reply;
    try {
      reply = read();
    } catch (RuntimeException e) { // The handler must be called in any case.
      reply = ScriptReplies.unexpected(session.connection(), "a reply that cannot be read: " + e);
    }
    if (reply != null) {
      deliver(reply);
    }
  }

  /** The reply; null if the call was sent again and the new call will deliver it. */
  private @Nullable NodeReply read() {
    if (malformed || (!hasError() && !isInteger && position < 3)) {
      return ScriptReplies.unexpected(
          session.connection(), "a reply that no script of this client returns");
    }
    if (hasError()) {
      NodeError error = ServerErrors.of(getError());
      if (error.kind() == NodeError.Kind.NO_SCRIPT && session.sendAgain(this)) {
        return null;
      }
      session.onErrorReply(error, request.keys());
      return NodeReply.failed(session.connection(), error);
    }
    if (isInteger) {
      return ScriptReplies.reply(request, session.node(), session.connection(), code);
    }
    return ScriptReplies.reply(
        request,
        session.node(),
        session.connection(),
        code,
        nodeMicros,
        third,
        remaining,
        others,
        mark);
  }

  @Override
  public boolean completeExceptionally(Throwable throwable) {
    return fail(Errors.kind(throwable), Errors.message(throwable));
  }

  @Override
  public void cancel() {
    fail(NodeError.Kind.DISCONNECTED, "the connection ended before the reply arrived");
  }

  /** Fails the call, which was not sent. */
  void refuse(NodeError.Kind kind, String message) {
    fail(new NodeError(kind, message, true));
  }

  private boolean fail(NodeError.Kind kind, String message) {
    return fail(new NodeError(kind, message));
  }

  private boolean fail(NodeError error) {
    if (!answered.compareAndSet(false, true)) {
      return false;
    }
    deliver(NodeReply.failed(session.connection(), error));
    return true;
  }

  private void deliver(NodeReply reply) {
    session.onAnswered();
    session.deliver(reply, handler);
  }

  @Override
  public boolean isCancelled() {
    return false;
  }

  @Override
  public boolean isDone() {
    return answered.get();
  }
}
