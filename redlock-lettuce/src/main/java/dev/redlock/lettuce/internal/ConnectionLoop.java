package dev.redlock.lettuce.internal;

import dev.redlock.internal.text.Printable;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.redis.internal.ColdStart;
import dev.redlock.redis.internal.ConnectionStates;
import dev.redlock.redis.internal.GuardedListener;
import dev.redlock.redis.internal.OperatorLog;
import dev.redlock.redis.internal.Probe;
import dev.redlock.redis.internal.PublishedStatus;
import dev.redlock.redis.internal.ReconnectDelay;
import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.Time;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Keeps one server connected: connects, probes, opens the session for requests, notices its end and
 * connects again after a pause. Owns the current session. Events change the session and the states
 * under one lock; the listener is called afterwards, outside of it.
 */
final class ConnectionLoop {
  static final NodeError CLOSED = new NodeError(NodeError.Kind.CLOSED, "the client is closed");

  /** Why the client ended a session that reached its age. */
  static final NodeError OLD = disconnected("the connection reached its age and is replaced");

  private static final int REPLACE_TRIES = 200;
  private static final long REPLACE_RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Why nothing can be sent before the first connection. */
  static final NodeError CONNECTING =
      disconnected("still connecting for the first time; awaitReady waits for it");

  private final NodeUri uri;
  private final LettuceOptions options;
  private final SharedResources resources;
  private final boolean clustered;
  private final String keyPrefix;
  private final Time time;
  private final long fenceLifeMillis;
  private final Prober prober;
  private final Connector connector;
  private final GuardedListener listener;
  private final OperatorLog operator;
  private final PublishedStatus status;
  private final LivenessWatch liveness;

  /** Taken before the lock of {@link PublishedStatus}, never after it. */
  private final Object lock = new Object();

  /** The {@link #current} session once it is probed. */
  private volatile @Nullable NodeSession open;

  // Written under the lock, as open is; read by any thread.
  private volatile boolean tracking;
  private volatile @Nullable NodeIdentity identity;
  private volatile NodeError whyNot = CONNECTING;
  private volatile boolean closed;

  // Guarded by the lock.
  private final ReconnectDelay reconnectDelay;
  private @Nullable NodeSession current; // The newest, probed or not; null if it has ended.
  private long connectedNanos;
  private long openedNanos;
  private Time.@Nullable Cancellable replacement;

  ConnectionLoop(
      LockNode self,
      NodeUri uri,
      LettuceOptions options,
      SharedResources resources,
      boolean clustered,
      LockNode.Context context) {
    this.uri = uri;
    this.options = options;
    this.resources = resources;
    this.clustered = clustered;
    time = context.time();
    keyPrefix = context.keyPrefix();
    fenceLifeMillis = EncodedRequest.fenceLifeMillis(context.maxLeaseTime().toMillis());
    prober =
        new Prober(keyPrefix, context.maxLeaseTime().toMillis(), clustered, context.observes());
    connector = new Connector(uri, options, resources, time, context.label());
    listener = new GuardedListener(self, context.listener());
    operator = new OperatorLog(uri.name(), clustered);
    status =
        new PublishedStatus(
            new ConnectionStates(
                context.restartGuard(), context.maxLeaseTime(), !clustered, time.nanos()),
            time,
            listener,
            operator);
    liveness = new LivenessWatch(this, status, time, !clustered);
    reconnectDelay = new ReconnectDelay(() -> ThreadLocalRandom.current().nextDouble());
  }

  NodeStatus status() {
    return status.current();
  }

  @Nullable NodeIdentity identity() {
    return identity;
  }

  /** The probed session; null if there is none. */
  @Nullable NodeSession session() {
    return open;
  }

  /** Why there is no session. */
  NodeError whyNot() {
    return whyNot;
  }

  boolean tracks() {
    return open != null && tracking;
  }

  /**
   * Whether the record of the server may have changed without notice: it sends no invalidations,
   * and its marker was not read lately.
   */
  boolean mayHaveMissedAChange() {
    return !tracking && liveness.isUnread();
  }

  /** A reader of the locks on the server. */
  ScriptReader reader() {
    return new ScriptReader(this, time, options.connectTimeout().toNanos());
  }

  long now() {
    return time.nanos();
  }

  /** As long as the leases of all clients need, whose longest lease time may be greater. */
  long fenceLifeMillis() {
    NodeRecord record = status.current().record();
    return record == null
        ? fenceLifeMillis
        : Math.max(fenceLifeMillis, EncodedRequest.fenceLifeMillis(record.longestValid()));
  }

  void start() {
    operator.onStart(uri.weakness());
    connect();
    liveness.start();
  }

  private void connect() {
    if (closed) {
      return;
    }
    connector
        .connect()
        .whenComplete(
            (made, failure) -> {
              if (made != null) {
                onConnected(made);
              } else {
                lost(null, connector.error(Objects.requireNonNull(failure)));
              }
            });
  }

  private void onConnected(Connector.Made made) {
    NodeSession session;
    synchronized (lock) {
      connectedNanos = time.nanos();
      if (!closed) {
        status.apply(states -> states.onConnected(connectedNanos));
      }
      session = new NodeSession(uri.name(), made, options.maxUnanswered(), status.connection());
      current = session;
    }
    ServerEvents events = new ServerEvents(this, session, prober, listener, operator);
    session.onErrors(events.errors(clustered, time, keyPrefix));
    if (!clustered) { // In a cluster a promotion, which is normal, loses them too.
      session.onScriptsLost(events::onScriptsLost);
    }
    if (closed) {
      var unused = session.drop();
      return;
    }
    status.publish();
    made.connection().addListener(message -> events.onPush(message, keyPrefix));
    // Netty tells it before its handlers, in which Lettuce fails the requests that have no reply.
    made.channel()
        .channel()
        .closeFuture()
        .addListener(ended -> lost(session, disconnected("the connection ended")));
    probe(session, made.patience());
  }

  private void probe(NodeSession session, Duration patience) {
    Time.Cancellable deadline =
        time.schedule(
            () ->
                lost(
                    session,
                    disconnected("connected, but no reply within " + Printable.of(patience))),
            patience.toNanos());
    long sentNanos = time.nanos();
    prober
        .probe(session, markerSince())
        .whenComplete(
            (result, failure) -> {
              deadline.cancel();
              if (result != null) {
                reportClock(result.probe(), sentNanos); // Lease ids change before it opens.
                onProbed(session, result);
              } else {
                lost(session, Errors.of(Objects.requireNonNull(failure)));
              }
            });
  }

  /** The first estimate of the node's clock. The first token depends on it. */
  private void reportClock(Probe probe, long sentNanos) {
    if (probe.nowMicros() != 0) {
      listener.onClock(probe.nowMicros(), sentNanos, time.nanos());
    }
  }

  private void onProbed(NodeSession session, Prober.Result result) {
    ColdStart.OF_JVM.end();
    // Asked outside the lock, because the answer depends on other nodes.
    String objection = listener.objection(result.probe());
    synchronized (lock) {
      if (closed || current != session) {
        return;
      }
      if (result.probe().identity() != null) {
        identity = result.probe().identity();
      }
      long now = time.nanos();
      tracking = result.tracking();
      open = session; // Before the states: a node that votes must have a session.
      openedNanos = now;
      liveness.onProbed(now, connectedNanos);
      status.apply(states -> states.onProbed(result.probe(), objection, now));
      session.renumber(status.connection());
      session.foreign(status.test(ConnectionStates::isForeign));
      if (options.maxConnectionAge() != null) {
        double part = 0.5 + 0.5 * ThreadLocalRandom.current().nextDouble();
        long age = (long) (options.maxConnectionAge().toNanos() * part);
        replacement = time.schedule(() -> replace(session, REPLACE_TRIES), age);
      }
    }
    operator.onProbed(result.probe().identity(), result.refused());
    status.publish();
  }

  /** Replaces the session, at a moment at which it waits for no reply if there is one soon. */
  private void replace(NodeSession session, int tries) {
    synchronized (lock) {
      if (closed || open != session) {
        return;
      }
      if (session.unanswered() > 0 && tries > 0) {
        replacement = time.schedule(() -> replace(session, tries - 1), REPLACE_RETRY_NANOS);
        return;
      }
    }
    lost(session, OLD);
  }

  /** Called under the lock. The timer may have hours to go, and it holds the session. */
  private void cancelReplacement() {
    if (replacement != null) {
      replacement.cancel();
      replacement = null;
    }
  }

  /**
   * Ends the session and connects again after a pause.
   *
   * @param session null if none could be made; ignored if it is no longer the current one
   */
  void lost(@Nullable NodeSession session, NodeError why) {
    long delay = -1;
    synchronized (lock) {
      if (session != null && current != session) {
        return;
      }
      long usableNanos = open == null ? 0 : time.nanos() - openedNanos;
      boolean served = session != null && session.served();
      current = null;
      open = null;
      cancelReplacement();
      if (!closed) {
        whyNot = why;
        status.apply(states -> states.onLost(why.toString(), time.nanos()));
        delay = why.equals(OLD) ? 0 : reconnectDelay.nextNanos(usableNanos, served);
      }
    }
    status.publish();
    if (session != null) {
      var unused = session.drop();
    }
    if (delay >= 0) {
      operator.onLost(why, why.equals(OLD));
      time.schedule(this::connect, delay);
    }
  }

  /** Applies an event of the session to the states and publishes; false if it is not open. */
  boolean apply(NodeSession session, Consumer<ConnectionStates> event) {
    return test(
        session,
        states -> {
          event.accept(states);
          return true;
        });
  }

  /** The same for an event that returns whether it changed anything; false if it did not. */
  boolean test(NodeSession session, Predicate<ConnectionStates> event) {
    synchronized (lock) {
      if (closed || open != session || !status.test(event)) {
        return false;
      }
      session.renumber(status.connection());
      session.foreign(status.test(ConnectionStates::isForeign));
    }
    status.publish();
    return true;
  }

  /** When the known marker was written, in microseconds of node time; 0 if none is known. */
  long markerSince() {
    return status.markerSince();
  }

  /**
   * Changes the record of the server. Before the stage completes, the new record is published.
   *
   * @return the record that the server has then; exceptionally if the session has ended, or the
   *     server did not reply with a record
   */
  CompletionStage<NodeRecord> change(NodeRecord.Change change) {
    NodeSession session = open;
    if (session == null) {
      return CompletableFuture.failedStage(new IOException(whyNot.toString()));
    } else if (clustered) {
      return CompletableFuture.failedStage(
          new UnsupportedOperationException("node " + uri + " keeps no record"));
    }
    return prober
        .change(session, change)
        .thenApply(
            stored -> {
              if (!apply(session, states -> states.onRecord(stored, now()))) {
                throw new CompletionException(
                    new IOException("the connection ended when the server had replied"));
              }
              return stored;
            });
  }

  /** Probes the session again, unless that was done a moment ago. */
  void probeSoon(NodeSession session) {
    if (liveness.takeProbe(LivenessWatch.INTERVAL_NANOS)) {
      probeAgain(session);
    }
  }

  /** Probes the session again; a failure changes nothing. */
  void probeAgain(NodeSession session) {
    long sentNanos = time.nanos();
    prober
        .probeAgain(session, markerSince())
        .whenComplete(
            (result, failure) -> {
              if (result != null) {
                onProbedAgain(session, result, sentNanos, new Asked("", ""));
              }
            });
  }

  /** What only the doctor asks for. */
  private record Asked(String appendFsync, String otherDatabases) {}

  CompletionStage<Void> probeForDoctor() {
    NodeSession session = open;
    if (session == null) {
      return CompletableFuture.completedStage(null);
    }
    long sentNanos = time.nanos();
    return prober
        .probeAgain(session, markerSince())
        .thenCombine(
            prober.appendFsync(session).thenCombine(prober.otherDatabases(session), Asked::new),
            (result, asked) -> {
              reportClock(result.probe(), sentNanos);
              onProbedAgain(session, result, sentNanos, asked);
              return null;
            })
        .handle((done, failure) -> null);
  }

  private void onProbedAgain(
      NodeSession session, Prober.Result result, long sentNanos, Asked asked) {
    String objection = listener.objection(result.probe());
    boolean applied =
        apply(
            session,
            states -> {
              NodeIdentity known = result.probe().identity();
              if (known != null) {
                identity = known.asked(asked.appendFsync(), asked.otherDatabases());
              }
              states.onProbed(result.probe(), objection, time.nanos());
            });
    if (applied) {
      liveness.onProbedAgain(sentNanos);
    }
  }

  void close() {
    NodeSession last;
    synchronized (lock) {
      closed = true;
      whyNot = CLOSED;
      last = current;
      current = null;
      open = null;
      cancelReplacement();
    }
    liveness.close();
    status.close();
    CompletionStage<Void> dropped =
        last == null ? CompletableFuture.completedStage(null) : last.drop();
    // The threads fail the pending requests and must outlive them.
    resources.release(dropped.thenCompose(done -> connector.close()));
  }

  static NodeError disconnected(String message) {
    return new NodeError(NodeError.Kind.DISCONNECTED, message);
  }
}
