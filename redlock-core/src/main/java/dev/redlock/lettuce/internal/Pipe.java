package dev.redlock.lettuce.internal;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.redlock.internal.scripts.Script;
import dev.redlock.internal.scripts.WireRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyHandler;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.channel.ChannelOption;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection from its making to its end: an ordered pipe of script calls. A new connection is a
 * new pipe; nothing is carried over.
 */
final class Pipe {
  private static final Logger log = LoggerFactory.getLogger(Pipe.class);
  private static final byte[] LOAD = "LOAD".getBytes(US_ASCII);

  private final String node;
  private final StatefulRedisConnection<byte[], byte[]> connection;
  private final PipeHandler channel;
  private final int maxUnanswered;
  private final AtomicInteger unanswered = new AtomicInteger();
  private final Queue<ScriptCall> outbox = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean writing = new AtomicBoolean();
  private final AtomicBoolean loading = new AtomicBoolean();
  private final AtomicBoolean suspicious = new AtomicBoolean();

  /** Written under the node's lock, read wherever an answer arrives. */
  private volatile long number;

  /** Written by the prober and by answers, read by senders: a stale value costs one NO_SCRIPT. */
  private volatile boolean mayLoad = true;

  /** Bit per script that must be sent whole, because the node has not got it. */
  private final AtomicInteger missing = new AtomicInteger();

  Pipe(
      String node,
      StatefulRedisConnection<byte[], byte[]> connection,
      PipeHandler channel,
      int maxUnanswered,
      long number) {
    this.node = node;
    this.connection = connection;
    this.channel = channel;
    this.maxUnanswered = maxUnanswered;
    this.number = number;
  }

  String node() {
    return node;
  }

  /** The number that answers carry from now on. */
  long connection() {
    return number;
  }

  void renumber(long next) {
    number = next;
  }

  PipeHandler channel() {
    return channel;
  }

  int unanswered() {
    return unanswered.get();
  }

  /** Sends the request once; the handler is called once, whatever happens. */
  void send(WireRequest request, boolean asking, ReplyHandler handler) {
    int bit = request.script().bit();
    boolean whole = (missing.get() & bit) != 0;
    ScriptCall call =
        new ScriptCall(this, request, whole ? request.eval() : request.evalSha(), asking, handler);
    if (unanswered.incrementAndGet() > maxUnanswered) {
      call.refuse(
          NodeError.Kind.OVERLOADED, "more than " + maxUnanswered + " requests are unanswered");
      return;
    }
    enqueue(call);
    if (whole) {
      // Redis keeps what EVAL brought. The answer may still be out, but the pipe is ordered.
      missing.getAndUpdate(bits -> bits & ~bit);
    }
  }

  /**
   * Puts the call behind all that were sent before it, by whichever thread. Writing to the channel
   * at once would not do: Netty writes at once for its own thread and queues for others, so that an
   * acquire sent by an I/O thread would overtake a release that another thread sent before it, find
   * its own old key, and be refused; or, worse, a release would overtake the acquire that it
   * undoes.
   */
  private void enqueue(ScriptCall call) {
    outbox.add(call);
    if (writing.compareAndSet(false, true)) {
      try {
        channel.channel().eventLoop().execute(this::write);
      } catch (RuntimeException e) { // The event loop is shut down.
        writing.set(false); // Whoever comes later must get here too, or is never answered.
        for (ScriptCall late = outbox.poll(); late != null; late = outbox.poll()) {
          late.completeExceptionally(e);
        }
      }
    }
  }

  private void write() {
    writing.set(false); // Before the look: what is added from now on finds or makes another turn.
    for (ScriptCall next = outbox.poll(); next != null; next = outbox.poll()) {
      try {
        if (next.asking()) {
          connection.dispatch(
              new Command<>(CommandType.ASKING, new StatusOutput<>(ByteArrayCodec.INSTANCE)));
        }
        connection.dispatch(next);
      } catch (RuntimeException e) {
        next.completeExceptionally(e);
      }
    }
  }

  /** An answer, or the certainty that none will come. */
  void onAnswered() {
    unanswered.decrementAndGet();
  }

  /** Hands the answer over; a handler that fails must not take the connection with it. */
  void hand(NodeReply reply, ReplyHandler handler) {
    try {
      handler.onReply(reply);
    } catch (RuntimeException | Error e) {
      log.error("node {}: a reply handler failed", node, e);
    }
  }

  /** A command of our own beside the requests: probing, loading, pinging. */
  <T> CompletionStage<T> dispatch(AsyncCommand<byte[], byte[], T> command) {
    connection.dispatch(command);
    return command;
  }

  /** Asks for a sign of life; a refusal is one. Counts as unanswered until then. */
  void ping() {
    unanswered.incrementAndGet();
    dispatch(
            new AsyncCommand<>(
                new Command<>(CommandType.PING, new StatusOutput<>(ByteArrayCodec.INSTANCE))))
        .whenComplete((pong, failure) -> onAnswered());
  }

  /** Whether the server has answered like a replica since this was last asked. */
  boolean takeSuspicion() {
    return suspicious.getAndSet(false);
  }

  void onErrorReply(NodeError.Kind kind) {
    if (kind == NodeError.Kind.READONLY) {
      suspicious.set(true);
    }
    if (kind != NodeError.Kind.NO_SCRIPT) {
      return;
    }
    if (!mayLoad) {
      missing.set(-1);
    } else if (loading.compareAndSet(false, true)) {
      loadScripts().whenComplete((loaded, failure) -> loading.set(false));
    }
  }

  /**
   * Loads all scripts. Where that is not permitted each is sent whole when it is next used, which
   * loads it as well.
   */
  CompletionStage<Boolean> loadScripts() {
    CompletionStage<Boolean> all = CompletableFuture.completedStage(true);
    for (Script script : Script.LOADED) {
      CommandArgs<byte[], byte[]> args =
          new CommandArgs<>(ByteArrayCodec.INSTANCE).add(LOAD).add(script.text());
      CompletionStage<Boolean> one =
          dispatch(
                  new AsyncCommand<>(
                      new Command<>(
                          CommandType.SCRIPT, new StatusOutput<>(ByteArrayCodec.INSTANCE), args)))
              .handle((sha, failure) -> failure == null);
      all = all.thenCombine(one, Boolean::logicalAnd);
    }
    return all.thenApply(
        loaded -> {
          mayLoad = loaded;
          missing.set(loaded ? 0 : -1);
          return loaded;
        });
  }

  /**
   * Ends the connection with a reset. What was sent and not answered may still be executed; what is
   * unanswered is answered as disconnected. The stage is completed when that is done, and never
   * fails.
   */
  CompletionStage<Void> drop() {
    try {
      channel.channel().config().setOption(ChannelOption.SO_LINGER, 0);
    } catch (RuntimeException e) {
      log.debug("node {}: no reset on this channel", node, e);
    }
    return connection
        .closeAsync()
        .exceptionally(
            e -> {
              log.debug("node {}: closing", node, e);
              return null;
            });
  }
}
