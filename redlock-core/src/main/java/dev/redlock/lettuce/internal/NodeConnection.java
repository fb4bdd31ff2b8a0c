package dev.redlock.lettuce.internal;

import dev.redlock.internal.scripts.WireRequest;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeContext;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeListener;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.ReplyHandler;
import dev.redlock.spi.Time;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one server connected: makes a connection, looks at the server, gives the connection to
 * rounds, notices its end, and begins anew after a pause. What that means for voting is decided by
 * {@link ConnectionStates}; this class carries events to it, under one lock, and tells the listener
 * afterwards, outside of it.
 */
public final class NodeConnection {
  private static final Logger log = LoggerFactory.getLogger(NodeConnection.class);

  /** How often silence, and whatever keeps a refused node back, is looked at. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** Resolving the name, connecting, TLS, logging in: each may take the connect time-out. */
  private static final int CONNECT_STEPS = 4;

  /** How long to leave a node alone that would not vote when it was last looked at. */
  private static final long REFUSED_RETRY_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final LockNode self;
  private final NodeUri uri;
  private final LettuceOptions options;
  private final SharedResources resources;
  private final boolean clustered;
  private final Object lock = new Object();

  /** Set once by start; before it there is nothing to send to. */
  private volatile @Nullable Running running;

  private volatile NodeStatus status = new NodeStatus(State.CONNECTING, 1, 0, 0, "not started");
  private volatile @Nullable NodeIdentity identity;

  /** The probed connection; null while there is none. Written under the lock, read by senders. */
  private volatile @Nullable Pipe open;

  /** Why there is none. */
  private volatile NodeError whyNot =
      new NodeError(NodeError.Kind.DISCONNECTED, "not connected yet");

  private volatile boolean closed;

  /** Whether the newest probed connection is tracked. Written under the lock. */
  private volatile boolean tracking;

  /** A connection to an independent master. */
  public NodeConnection(
      LockNode self, NodeUri uri, LettuceOptions options, SharedResources resources) {
    this(self, uri, options, resources, false);
  }

  /**
   * A connection to a server.
   *
   * @param clustered whether it is one of the masters of a cluster: then it has no marker, its
   *     replicas are nothing to warn of, and having been one of them no reason to stay out
   */
  public NodeConnection(
      LockNode self,
      NodeUri uri,
      LettuceOptions options,
      SharedResources resources,
      boolean clustered) {
    this.clustered = clustered;
    this.self = self;
    this.uri = uri;
    this.options = options;
    this.resources = resources;
  }

  public String name() {
    return uri.name();
  }

  public NodeStatus status() {
    return status;
  }

  public @Nullable NodeIdentity identity() {
    return identity;
  }

  /** Looks at the server once more, if there is a connection; completes when that is done. */
  public CompletionStage<Void> look() {
    Running started = running;
    return started == null ? CompletableFuture.completedStage(null) : started.lookNow();
  }

  /** Begins to connect. */
  public void start(NodeContext context) {
    Running started;
    synchronized (lock) {
      if (running != null || closed) {
        throw new IllegalStateException("node " + name() + " was started or closed before");
      }
      started = new Running(context);
      running = started;
    }
    if (uri.unverified()) {
      log.warn("node {}: the server's certificate is not verified; anybody may answer", name());
    }
    started.connect();
    started.lookLater();
  }

  /** Sends the request, or answers at once that it cannot be sent. */
  public void send(LockRequest request, ReplyHandler handler) {
    Pipe pipe = open;
    Running started = running;
    if (pipe == null || started == null) {
      NodeError why = whyNot;
      answer(NodeReply.failed(status.connection(), why.kind(), why.message()), handler);
      return;
    }
    WireRequest wire;
    try {
      wire = request.wireForm(WireRequest.class, started.encoder);
    } catch (RuntimeException e) {
      answer(
          NodeReply.failed(
              status.connection(), NodeError.Kind.UNEXPECTED, "request cannot be encoded: " + e),
          handler);
      return;
    }
    pipe.send(wire, false, handler);
  }

  /**
   * Sends what is encoded already, or answers at once that it cannot be sent.
   *
   * @param asking whether a server that is about to get the slot is asked for it early ({@code
   *     ASKING})
   */
  public void send(WireRequest wire, boolean asking, ReplyHandler handler) {
    Pipe pipe = open;
    if (pipe == null) {
      NodeError why = whyNot;
      answer(NodeReply.failed(status.connection(), why.kind(), why.message()), handler);
    } else {
      pipe.send(wire, asking, handler);
    }
  }

  /**
   * Sends another command over the probed connection; its end is that of the command, unless there
   * is no connection: then it is null. What it reads is tracked like what scripts read.
   */
  public <T> @Nullable CompletionStage<T> dispatch(Command<byte[], byte[], T> command) {
    Pipe pipe = open;
    if (pipe == null) {
      return null;
    }
    try {
      return pipe.dispatch(new AsyncCommand<>(command));
    } catch (RuntimeException e) {
      return null; // It broke just now.
    }
  }

  /** Whether the server pushes what becomes of the keys that were read; false if not connected. */
  public boolean tracks() {
    return open != null && tracking;
  }

  private void answer(NodeReply reply, ReplyHandler handler) {
    try {
      handler.onReply(reply);
    } catch (RuntimeException | Error e) {
      log.error("node {}: a reply handler failed", name(), e);
    }
  }

  /** Ends the connection, and the threads if no other node uses them. Idempotent. */
  public void close() {
    Running started;
    synchronized (lock) {
      if (closed) {
        return;
      }
      closed = true;
      started = running;
      whyNot = new NodeError(NodeError.Kind.CLOSED, "the client is closed");
    }
    if (started != null) {
      started.end();
    }
  }

  /** What there is between start and close. */
  private final class Running {
    private final NodeContext context;
    private final Time time;
    private final Function<LockRequest, WireRequest> encoder;
    private final Prober prober;
    private final Connector connector;
    private final String lockKeyPrefix;

    // Guarded by lock.
    private final ConnectionStates states;
    private final Backoff backoff;
    private @Nullable Pipe probing;
    private boolean troubled;
    private String warned = "";
    private long lastLook;
    private Time.@Nullable Cancellable looking;
    private Time.@Nullable Cancellable release;

    Running(NodeContext context) {
      this.context = context;
      this.time = context.time();
      long fenceLife = WireRequest.fenceLifeMillis(context.maxLeaseTime());
      this.encoder = request -> WireRequest.of(request, fenceLife);
      this.prober = new Prober(context.keyPrefix(), context.maxLeaseTime().toMillis(), clustered);
      this.connector = new Connector(uri, options, resources.acquire(), time);
      this.lockKeyPrefix = context.keyPrefix() + ":{";
      this.states =
          new ConnectionStates(context.restartGuard(), context.maxLeaseTime(), time.nanos());
      this.backoff =
          new Backoff(
              options.shortestReconnectDelay(),
              options.longestReconnectDelay(),
              () -> ThreadLocalRandom.current().nextDouble());
      status = states.status();
    }

    void connect() {
      if (closed) {
        return;
      }
      // Connecting and the handshake have time-outs of their own; name resolution has not.
      AtomicBoolean decided = new AtomicBoolean();
      Duration patience = options.connectTimeout().multipliedBy(CONNECT_STEPS);
      Time.Cancellable deadline =
          time.schedule(
              () -> {
                if (decided.compareAndSet(false, true)) {
                  onConnectFailed(new IOException("no connection within " + patience));
                }
              },
              patience.toNanos());
      connector
          .connect()
          .whenComplete(
              (made, failure) -> {
                deadline.cancel();
                if (!decided.compareAndSet(false, true)) {
                  if (made != null) {
                    var unused = made.connection().closeAsync();
                  }
                } else if (made != null) {
                  onConnected(made);
                } else {
                  onConnectFailed(Objects.requireNonNull(failure));
                }
              });
    }

    private void onConnectFailed(Throwable failure) {
      NodeError.Kind kind = Failures.kind(failure);
      String message = Failures.message(failure);
      if (uri.encrypted()
          && kind == NodeError.Kind.DISCONNECTED
          && !message.startsWith(Failures.TLS)) {
        message += " (" + Failures.TLS + " was tried)"; // A plain port does not answer at all.
      }
      lost(null, new NodeError(kind, message));
    }

    private void onConnected(Connector.Made made) {
      Pipe pipe;
      synchronized (lock) {
        if (!closed) {
          states.onConnected(time.nanos());
        }
        pipe =
            new Pipe(
                name(),
                made.connection(),
                made.channel(),
                options.maxUnanswered(),
                states.status().connection());
        probing = pipe;
      }
      if (closed) {
        var unused = pipe.drop();
        return;
      }
      publish();
      made.connection()
          .addListener(
              message -> {
                if (message.getType().equals("invalidate")) {
                  Invalidations.read(
                      message, lockKeyPrefix, key -> onInvalidated(pipe, key), () -> onFlush(pipe));
                }
              });
      made.channel()
          .whenInactive(
              () -> lost(pipe, new NodeError(NodeError.Kind.DISCONNECTED, "the connection broke")));
      Time.Cancellable deadline =
          time.schedule(
              () ->
                  lost(
                      pipe,
                      new NodeError(
                          NodeError.Kind.DISCONNECTED,
                          "connected, but no answer within " + options.connectTimeout())),
              options.connectTimeout().toNanos());
      long askedNanos = time.nanos();
      prober
          .probe(pipe)
          .whenComplete(
              (result, failure) -> {
                deadline.cancel();
                if (result != null) {
                  tellClock(result.probe(), askedNanos);
                  onProbed(pipe, result);
                } else {
                  lost(
                      pipe,
                      new NodeError(
                          Failures.kind(Objects.requireNonNull(failure)),
                          Failures.message(failure)));
                }
              });
    }

    /** The first estimate of the node's clock, so that the first token is one it accepts. */
    private void tellClock(Probe probe, long askedNanos) {
      if (probe.nowMicros() != 0) {
        long answeredNanos = time.nanos();
        tell(listener -> listener.onClock(self, probe.nowMicros(), askedNanos, answeredNanos));
      }
    }

    private void onProbed(Pipe pipe, Prober.Result result) {
      boolean recovered;
      String objection = objection(result.probe().identity());
      synchronized (lock) {
        if (closed || probing != pipe) {
          return;
        }
        NodeIdentity known = result.probe().identity();
        if (known != null) {
          identity = known;
        }
        states.onProbed(result.probe(), objection, time.nanos());
        pipe.renumber(states.status().connection());
        tracking = result.tracking();
        open = pipe;
        backoff.reset();
        recovered = troubled;
        troubled = false;
        lastLook = time.nanos();
      }
      warn(result);
      if (recovered) {
        log.info("node {}: connected again", name());
      }
      publish();
    }

    /** Ends this connection, or records that none could be made, and tries again after a pause. */
    private void lost(@Nullable Pipe pipe, NodeError why) {
      boolean first;
      long delay;
      synchronized (lock) {
        if (pipe != null && probing != pipe) {
          return;
        }
        probing = null;
        open = null;
        if (closed) {
          delay = -1;
          first = false;
        } else {
          whyNot = why;
          states.onLost(why.toString(), time.nanos());
          first = !troubled;
          troubled = true;
          delay = backoff.nextNanos();
        }
      }
      publish();
      if (pipe != null) {
        var unused = pipe.drop();
      }
      if (first) {
        log.warn("node {}: {}; trying again until it comes back", name(), why);
      }
      if (delay >= 0) {
        time.schedule(this::connect, delay);
      }
    }

    private void onInvalidated(Pipe pipe, String key) {
      if (open == pipe) {
        tell(listener -> listener.onInvalidated(self, key));
      }
    }

    private void onFlush(Pipe pipe) {
      synchronized (lock) {
        if (closed || open != pipe) {
          return;
        }
        states.onFlush(time.nanos());
        pipe.renumber(states.status().connection());
      }
      publish();
      tell(listener -> listener.onAllInvalidated(self));
      prober
          .marker(pipe)
          .whenComplete(
              (outcome, failure) -> {
                synchronized (lock) {
                  if (closed || open != pipe) {
                    return;
                  }
                  states.onMarker(outcome == null ? null : outcome.value(), time.nanos());
                }
                publish();
              });
    }

    /** Tells of a new state, if there is one, and sees to it that a quarantine ends in time. */
    private void publish() {
      NodeStatus before;
      NodeStatus now;
      synchronized (lock) {
        before = status;
        now = states.status();
        if (before.equals(now)) {
          return;
        }
        status = now;
        if (release != null) {
          release.cancel();
          release = null;
        }
        if (now.state() == State.QUARANTINED && now.untilNanos() != 0) {
          long left = now.untilNanos() - time.nanos();
          release = time.schedule(this::tick, Math.max(0, left));
        }
      }
      if (closed) {
        return;
      }
      if (now.state() == State.QUARANTINED) {
        String left =
            now.untilNanos() == 0
                ? "until that changes"
                : "for another "
                    + Duration.ofNanos(Math.max(0, now.untilNanos() - time.nanos())).toMillis()
                    + " ms";
        log.info("node {}: does not vote {}: {}", name(), left, now.cause());
      } else if (now.state() == State.VOTING && before.state() == State.QUARANTINED) {
        log.info("node {}: votes again", name());
      }
      tell(listener -> listener.onStatus(self));
      if (before.state() == State.QUARANTINED && now.state() == State.VOTING) {
        tell(listener -> listener.onAllInvalidated(self));
      }
    }

    /** A listener that fails must take neither the connection nor the timer with it. */
    private void tell(Consumer<NodeListener> news) {
      try {
        news.accept(context.listener());
      } catch (RuntimeException | Error e) {
        log.error("node {}: the listener failed", name(), e);
      }
    }

    private void tick() {
      synchronized (lock) {
        states.onTick(time.nanos());
      }
      publish();
    }

    void lookLater() {
      synchronized (lock) {
        if (!closed) {
          looking = time.schedule(this::look, LOOK_NANOS);
        }
      }
    }

    private void look() {
      tick();
      Pipe pipe = open;
      if (pipe != null) {
        long silent = time.nanos() - pipe.channel().lastReadNanos();
        switch (ConnectionStates.judge(silent, pipe.unanswered() > 0)) {
          case BEAR -> {}
          case ASK -> pipe.ping();
          case GIVE_UP ->
              lost(
                  pipe,
                  new NodeError(
                      NodeError.Kind.DISCONNECTED,
                      "not a byte for " + TimeUnit.NANOSECONDS.toSeconds(silent) + " s"));
        }
        if (needsAnotherLook(pipe)) {
          prober
              .look(pipe)
              .whenComplete(
                  (result, failure) -> {
                    if (result != null) {
                      onLookedAgain(pipe, result, "");
                    }
                  });
        }
      }
      lookLater();
    }

    /** Whether it is kept back for what may change, or has answered as only a replica does. */
    private boolean needsAnotherLook(Pipe pipe) {
      synchronized (lock) {
        long now = time.nanos();
        if (now - lastLook < REFUSED_RETRY_NANOS) {
          return false;
        }
        if (!states.refused() && !pipe.takeSuspicion()) {
          return false;
        }
        lastLook = now;
        return true;
      }
    }

    /** What the client has against this server; asked outside the lock, it knows other nodes. */
    private @Nullable String objection(@Nullable NodeIdentity known) {
      try {
        return known == null ? null : context.listener().objection(self, known);
      } catch (RuntimeException | Error e) {
        log.error("node {}: the listener failed", name(), e);
        return null;
      }
    }

    private CompletionStage<Void> lookNow() {
      Pipe pipe = open;
      if (pipe == null) {
        return CompletableFuture.completedStage(null);
      }
      long askedNanos = time.nanos();
      return prober
          .look(pipe)
          .thenCombine(
              prober.appendFsync(pipe),
              (result, appendFsync) -> {
                tellClock(result.probe(), askedNanos);
                onLookedAgain(pipe, result, appendFsync);
                return null;
              })
          .handle((looked, failure) -> null);
    }

    private void onLookedAgain(Pipe pipe, Prober.Result result, String appendFsync) {
      String objection = objection(result.probe().identity());
      synchronized (lock) {
        if (closed || open != pipe) {
          return;
        }
        NodeIdentity known = result.probe().identity();
        if (known != null) {
          identity = known.withAppendFsync(appendFsync);
        }
        states.onProbed(result.probe(), objection, time.nanos());
      }
      publish();
    }

    /** Says what an operator should know, once for each run of the server. */
    private void warn(Prober.Result result) {
      NodeIdentity known = result.probe().identity();
      String run = known == null ? "unknown" : known.runId();
      synchronized (lock) {
        if (warned.equals(run)) {
          return;
        }
        warned = run;
      }
      for (String refused : result.refused()) {
        log.warn("node {}: this user has no permission for {}", name(), refused);
      }
      if (known == null) {
        return;
      }
      log.info(
          "node {}: {} {}, up for {} s",
          name(),
          known.product(),
          known.version(),
          known.uptimeSeconds());
      if (!known.maxmemoryPolicy().equals("noeviction")) {
        log.warn(
            "node {}: maxmemory-policy is {}: locks may be evicted; set noeviction",
            name(),
            known.maxmemoryPolicy());
      }
      if (known.connectedReplicas() > 0 && !clustered) {
        log.warn(
            "node {}: {} replicas are attached: if one is promoted, locks may be granted twice",
            name(),
            known.connectedReplicas());
      }
    }

    void end() {
      Pipe pipe;
      synchronized (lock) {
        pipe = probing;
        probing = null;
        open = null;
        states.onLost("closed", time.nanos());
        if (looking != null) {
          looking.cancel();
        }
        if (release != null) {
          release.cancel();
        }
      }
      publish();
      CompletionStage<Void> dropped =
          pipe == null ? CompletableFuture.completedStage(null) : pipe.drop();
      // Threads that still fail what is unanswered must outlive it.
      var unused = dropped.thenCompose(done -> connector.close()).thenRun(resources::release);
    }
  }
}
