package dev.redlock.lettuce.internal;

import dev.redlock.internal.scripts.Answers;
import dev.redlock.internal.scripts.ServerErrors;
import dev.redlock.internal.scripts.WireRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyHandler;
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
import org.jspecify.annotations.Nullable;

/**
 * One request on its way to one node: Lettuce's command and the place its answer is read into, in
 * one object. The bytes were made when the request was, and the integers of the answer go straight
 * into fields; nothing else is allocated but the reply.
 */
final class ScriptCall extends CommandOutput<byte[], byte[], NodeReply>
    implements RedisCommand<byte[], byte[], NodeReply> {

  private final Pipe pipe;
  private final WireRequest request;
  private final byte[] frame;
  private final boolean asking;
  private final ReplyHandler handler;

  /** Set by whoever answers first; a broken connection is reported from several sides at once. */
  private final AtomicBoolean answered = new AtomicBoolean();

  // Filled by the decoder on the connection's thread.
  private int position = -1;
  private boolean malformed;
  private long code;
  private long nodeMicros;
  private long third;
  private long remaining;
  private long others;
  private @Nullable String mark;

  ScriptCall(Pipe pipe, WireRequest request, byte[] frame, boolean asking, ReplyHandler handler) {
    super(ByteArrayCodec.INSTANCE, null);
    this.pipe = pipe;
    this.request = request;
    this.frame = frame;
    this.asking = asking;
    this.handler = handler;
  }

  /** Whether {@code ASKING} goes right before it. */
  boolean asking() {
    return asking;
  }

  @Override
  public void encode(ByteBuf buf) {
    buf.writeBytes(frame);
  }

  @Override
  public ProtocolKeyword getType() {
    return CommandType.EVALSHA;
  }

  @Override
  @SuppressWarnings(
      "NullAway") // Lettuce knows commands without arguments, and we have ours encoded.
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

  // The answer, as it is decoded.

  @Override
  public void multi(int count) {
    if (position >= 0 || count < 3) {
      malformed = true;
    }
    position = Math.max(position, 0);
  }

  @Override
  public void set(long integer) {
    switch (position++) {
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
    if (position++ == 5 && bytes != null) {
      mark = StandardCharsets.US_ASCII.decode(bytes).toString();
    } else {
      malformed = true;
    }
  }

  @Override
  public void set(double number) {
    malformed = true;
  }

  @Override
  public void set(boolean value) {
    malformed = true;
  }

  // How it ends.

  @Override
  public void complete() {
    if (hasError()) {
      NodeError error = ServerErrors.of(getError());
      if (answered.compareAndSet(false, true)) {
        pipe.onErrorReply(error.kind());
        deliver(NodeReply.failed(pipe.connection(), error.kind(), error.message()));
      }
    } else if (malformed || position < 3) {
      fail(NodeError.Kind.UNEXPECTED, "an answer that no script of ours gives");
    } else if (answered.compareAndSet(false, true)) {
      deliver(
          Answers.reply(
              request,
              pipe.node(),
              pipe.connection(),
              code,
              nodeMicros,
              third,
              remaining,
              others,
              mark));
    }
  }

  @Override
  public boolean completeExceptionally(Throwable throwable) {
    return fail(Failures.kind(throwable), Failures.message(throwable));
  }

  @Override
  public void cancel() {
    fail(NodeError.Kind.DISCONNECTED, "the connection broke before the answer came");
  }

  /** Answers without having been sent. */
  void refuse(NodeError.Kind kind, String message) {
    fail(kind, message);
  }

  private boolean fail(NodeError.Kind kind, String message) {
    if (!answered.compareAndSet(false, true)) {
      return false;
    }
    deliver(NodeReply.failed(pipe.connection(), kind, message));
    return true;
  }

  private void deliver(NodeReply reply) {
    pipe.onAnswered();
    pipe.hand(reply, handler);
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
