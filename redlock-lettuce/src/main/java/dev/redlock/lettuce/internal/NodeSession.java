package dev.redlock.lettuce.internal;

import static dev.redlock.redis.internal.OperatorLog.log;

import dev.redlock.redis.internal.GuardedListener;
import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/**
 * One connection from connect to close. It writes requests in the order in which they were sent. A
 * new connection is a new session; nothing is carried over.
 */
final class NodeSession {
  /** A power of two; each connection uses 4 bytes for each of them. */
  private static final int RELEASE_COUNTERS = 1024;

  private final String node;
  private final StatefulRedisConnection<byte[], byte[]> connection;
  private final ChannelActivity channel;
  private final int maxUnanswered;
  private final LoadedScripts scripts;
  private final AtomicInteger unanswered = new AtomicInteger();
  private final Queue<ScriptCall> outbox = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean writing = new AtomicBoolean();

  /**
   * Releases beyond half of what may be unanswered. After a hang there is one for each of thousands
   * of names, and all names send at once. If they were refused, each name would retry by a timer of
   * its own, and the client would do little else. So they wait here and follow as replies come.
   */
  private final Queue<ScriptCall> waiting = new ConcurrentLinkedQueue<>();

  /** Calls of {@link #sendWaiting} that are not served yet. */
  private final AtomicInteger sendCalls = new AtomicInteger();

  /** Set once by drop, read by the thread that sends what waits. */
  private volatile boolean dropped;

  /** Set where the first reply arrives that is no error, read when the connection has ended. */
  private volatile boolean served;

  /** Written under the lock of the {@link ConnectionLoop}, read where a reply arrives. */
  private volatile long number;

  /** Written under the lock of the {@link ConnectionLoop}, read by each thread that sends. */
  private volatile boolean foreign;

  /** Written once before the first request, read where a reply arrives. */
  private volatile BiConsumer<NodeError, LockKeys> errors = (error, keys) -> {};

  /** Written once before the first request, read where a reply arrives. */
  private volatile Runnable scriptsLost = () -> {};

  /** Whether the server exempts commands from tracking. Confined to the connection's thread. */
  private boolean mayExempt = true;

  /**
   * Counts the written releases by a hash of their names. If two locks share a counter, a request
   * may fail that could have been sent again. Confined to the connection's thread.
   */
  private final int[] releases = new int[RELEASE_COUNTERS];

  NodeSession(String node, Connector.Made made, int maxUnanswered, long number) {
    this.node = node;
    this.connection = made.connection();
    this.channel = made.channel();
    this.maxUnanswered = maxUnanswered;
    this.number = number;
    scripts = new LoadedScripts(this);
  }

  String node() {
    return node;
  }

  /** The connection number that replies carry from now on. */
  long connection() {
    return number;
  }

  void renumber(long next) {
    number = next;
  }

  /** Whether the server's marker says another version: then the client sends no request. */
  boolean isForeign() {
    return foreign;
  }

  void foreign(boolean isForeign) {
    foreign = isForeign;
  }

  ChannelActivity channel() {
    return channel;
  }

  int unanswered() {
    return unanswered.get();
  }

  /** Sends the request. The handler is called exactly once. */
  void send(EncodedRequest request, boolean asking, Consumer<NodeReply> handler) {
    boolean whole = scripts.isMissing(request);
    ScriptCall call =
        new ScriptCall(this, request, whole ? request.eval() : request.evalSha(), asking, handler);
    if (call.isRelease()) {
      if (!waiting.isEmpty() || !takeRoom()) {
        waiting.add(call);
        sendWaiting();
        return;
      }
    } else if (unanswered.incrementAndGet() > maxUnanswered) {
      call.refuse(
          NodeError.Kind.OVERLOADED, "more than " + maxUnanswered + " requests have no reply yet");
      return;
    }
    addToOutbox(call);
    if (whole) {
      scripts.onTextSent(request);
    }
  }

  /** One thread at a time, and never nested: a call that fails at once would end the next one. */
  private void sendWaiting() {
    if (sendCalls.getAndIncrement() != 0) {
      return;
    }
    int seen;
    do {
      seen = sendCalls.get();
      while (!waiting.isEmpty() && takeRoom()) { // Nothing else takes a call out.
        ScriptCall next = waiting.remove();
        if (dropped) {
          next.refuse(NodeError.Kind.DISCONNECTED, "the connection broke before it was sent");
        } else {
          addToOutbox(next);
        }
      }
    } while (!sendCalls.compareAndSet(seen, 0));
  }

  /** Counts one more unanswered release; false at half of the limit. Each reply tries again. */
  private boolean takeRoom() {
    int now;
    do {
      now = unanswered.get();
      if (now >= Math.max(1, maxUnanswered / 2) && !dropped) {
        return false;
      }
    } while (!unanswered.compareAndSet(now, now + 1));
    return true;
  }

  /**
   * Adds the call behind all calls that any thread sent before. A direct write to the channel would
   * break this order: Netty writes at once for its own thread and queues for other threads. An
   * acquire of the I/O thread would overtake an earlier release of another thread, find the old key
   * and be refused. Worse, a release would overtake the acquire that it undoes.
   */
  private void addToOutbox(ScriptCall call) {
    outbox.add(call);
    if (writing.compareAndSet(false, true)) {
      try {
        channel.channel().eventLoop().execute(this::write);
      } catch (RuntimeException e) { // The event loop is shut down.
        writing.set(false); // Later calls must fail here too, or their handlers are never called.
        for (ScriptCall late = outbox.poll(); late != null; late = outbox.poll()) {
          late.completeExceptionally(e);
        }
      }
    }
  }

  private void write() {
    writing.set(false); // Before the poll, so that a call added from now on starts another write.
    for (ScriptCall next = outbox.poll(); next != null; next = outbox.poll()) {
      int slot = slot(next);
      if (next.isRelease()) {
        releases[slot]++;
      }
      next.written(releases[slot]);
      write(next);
    }
  }

  private void write(ScriptCall call) {
    try {
      if (!call.request().isTracked() && !call.asking() && mayExempt) {
        exempt();
      } else if (call.asking()) {
        connection.dispatch(
            new Command<>(CommandType.ASKING, new StatusOutput<>(ByteArrayCodec.INSTANCE)));
      }
      connection.dispatch(call);
    } catch (RuntimeException e) {
      call.completeExceptionally(e);
    }
  }

  /**
   * Sends what exempts the next command from tracking. A read of a missing key would else leave an
   * entry in the server's table until the key is written. The server may refuse it, where it does
   * not track or this user has no permission; then it is not sent again.
   */
  private void exempt() {
    CommandArgs<byte[], byte[]> no =
        new CommandArgs<>(ByteArrayCodec.INSTANCE).add("CACHING").add("NO");
    dispatch(new Command<>(CommandType.CLIENT, new StatusOutput<>(ByteArrayCodec.INSTANCE), no))
        .whenComplete((done, failure) -> mayExempt &= failure == null);
  }

  /** Whether the server has replied to a request without an error. */
  boolean served() {
    return served;
  }

  /** A reply arrived, or none can arrive any more. */
  void onAnswered() {
    unanswered.decrementAndGet();
    sendWaiting();
  }

  /** Calls the handler, whose exception must not end the connection. */
  void deliver(NodeReply reply, Consumer<NodeReply> handler) {
    if (reply.error() == null && !served) {
      served = true;
    }
    GuardedListener.reply(node, reply, handler);
  }

  /**
   * Sends a command beside the requests: for a probe, a script, or a ping. Only the event loop
   * writes: Netty would leave objects in the thread locals of another thread.
   */
  <T> CompletionStage<T> dispatch(Command<byte[], byte[], T> command) {
    AsyncCommand<byte[], byte[], T> sent = new AsyncCommand<>(command);
    EventLoop loop = channel.channel().eventLoop();
    if (loop.inEventLoop()) {
      connection.dispatch(sent);
    } else {
      try {
        loop.execute(() -> connection.dispatch(sent));
      } catch (RejectedExecutionException e) { // The event loop is shut down.
        sent.completeExceptionally(e);
      }
    }
    return sent;
  }

  /**
   * The same for a command that reads keys of which the server shall send no invalidations. A
   * connection that is to be exchanged waits for its reply.
   */
  <T> CompletionStage<T> dispatchUntracked(Command<byte[], byte[], T> command) {
    unanswered.incrementAndGet();
    return CompletableFuture.supplyAsync(
            () -> {
              if (mayExempt) {
                exempt();
              }
              return dispatch(command);
            },
            channel.channel().eventLoop())
        .thenCompose(sent -> sent)
        .whenComplete((reply, failure) -> onAnswered());
  }

  /** Sends a ping. Any reply shows that the server is alive, an error too. */
  void ping() {
    unanswered.incrementAndGet();
    dispatch(new Command<>(CommandType.PING, new StatusOutput<>(ByteArrayCodec.INSTANCE)))
        .whenComplete((pong, failure) -> onAnswered());
  }

  /** Sets the consumer of each error that the server replies with, and of the names asked for. */
  void onErrors(BiConsumer<NodeError, LockKeys> consumer) {
    errors = consumer;
  }

  /** Sets what happens when the server has lost its scripts, before the call is sent again. */
  void onScriptsLost(Runnable task) {
    scriptsLost = task;
  }

  void onErrorReply(NodeError error, LockKeys keys) {
    errors.accept(error, keys);
  }

  /**
   * Sends a call again, because the server has not loaded the script and so has not executed the
   * call. The call goes behind everything that was sent since. It must not follow the release that
   * undoes it: nothing would undo it then. Called by the connection's thread, which alone decides
   * what is written next.
   *
   * <p>The scripts are on their way again, and the marker is read behind them. So the call carries
   * the text only if this user may not load scripts: a server that restarts behind a proxy after it
   * has replied about its marker would execute the text, and its vote would count. Without the text
   * it replies again that it has no script.
   *
   * @return false if such a release was written, or if this was the second try
   */
  boolean sendAgain(ScriptCall call) {
    if (scripts.onMissing()) {
      scriptsLost.run();
    }
    ScriptCall again = call.again(!scripts.mayLoad());
    if (again == null || (call.isUndoable() && releases[slot(call)] != call.releasesBefore())) {
      return false;
    }
    write(again);
    return true;
  }

  private static int slot(ScriptCall call) {
    return call.request().keys().hashCode() & RELEASE_COUNTERS - 1;
  }

  LoadedScripts scripts() {
    return scripts;
  }

  /**
   * Ends the connection, because the client can no longer assign replies to requests. It does so in
   * a later task: the decoder is running now and must not be reset meanwhile.
   */
  void abort() {
    log.debug("node {}: a reply is unreadable; the client ends the connection", node);
    channel
        .channel()
        .eventLoop()
        .execute(
            () -> {
              var unused = drop();
            });
  }

  /**
   * Ends the connection with a TCP reset. The server may still execute requests that were sent; the
   * client fails them as disconnected. The stage completes afterwards and never fails.
   */
  CompletionStage<Void> drop() {
    try {
      channel.channel().config().setOption(ChannelOption.SO_LINGER, 0);
    } catch (RuntimeException e) {
      log.debug("node {}: this channel cannot send a TCP reset", node, e);
    }
    CompletionStage<Void> ended =
        connection
            .closeAsync()
            .exceptionally(
                e -> {
                  log.debug("node {}: close failed with an exception", node, e);
                  return null;
                });
    dropped = true;
    sendWaiting();
    return ended;
  }
}
