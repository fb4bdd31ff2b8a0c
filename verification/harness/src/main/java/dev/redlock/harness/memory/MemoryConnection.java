package dev.redlock.harness.memory;

import dev.redlock.redis.internal.ConnectionStates;
import dev.redlock.redis.internal.Probe;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of one client to a {@link MemoryServer}. Requests keep their order in it, and it
 * reconnects when it breaks. State is guarded by the server's lock. Listeners and handlers are
 * called without the lock, one after another, on the timer's thread.
 */
abstract class MemoryConnection implements LockNode {
  private static final Logger log = LoggerFactory.getLogger(MemoryConnection.class);
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long REFUSED_RETRY_NANOS = TimeUnit.SECONDS.toNanos(2);

  /**
   * The connection is closed after this time without a reply to an open request, as with Lettuce.
   */
  private static final long DEAD_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final NodeStatus NOT_STARTED =
      new NodeStatus(NodeStatus.State.CONNECTING, 1, 0, 0, "not started", false, NodeRecord.NONE);

  /** What the server executes, and what becomes of the reply. */
  private interface Work {
    /** The server executes it; called with its lock held. */
    void execute();

    /** No reply comes; called with the lock held. */
    void fail(NodeReply why);
  }

  private record Call(Work work, long sentNanos, long dueNanos) {}

  final MemoryServer server;
  private final Queue<Runnable> outbox = new ConcurrentLinkedQueue<>();
  private final AtomicInteger untold = new AtomicInteger();

  // Guarded by the server's lock; volatile fields are read without it.
  private volatile NodeStatus status = NOT_STARTED;
  private volatile @Nullable NodeIdentity identity;
  private volatile @Nullable Context context;
  private @Nullable ConnectionStates states;
  private final ArrayDeque<Call> calls = new ArrayDeque<>();
  private long session;
  private boolean closed;

  MemoryConnection(MemoryServer server) {
    this.server = server;
  }

  @Override
  public String name() {
    return server.name();
  }

  @Override
  public NodeStatus status() {
    return status;
  }

  @Override
  public Optional<NodeIdentity> identity() {
    return Optional.ofNullable(identity);
  }

  @Override
  public void start(Context given) {
    long maxLeaseMillis = given.maxLeaseTime().toMillis();
    server.begin(given.time(), 2 * maxLeaseMillis + 60_000);
    synchronized (server) {
      if (context != null || closed) {
        throw new IllegalStateException("node " + name() + " was started or closed before");
      }
      context = given;
      states =
          new ConnectionStates(
              given.restartGuard(), given.maxLeaseTime(), true, given.time().nanos());
    }
    connect(given);
  }

  private void connect(Context c) {
    NodeIdentity seen;
    long sent = c.time().nanos();
    synchronized (server) {
      ConnectionStates s = states;
      if (closed || session != 0 || s == null) {
        return;
      }
      if (!server.isUp() || server.isHung()) {
        later(c, RETRY_NANOS, () -> connect(c));
        return;
      }
      session = server.open(this);
      s.onConnected(sent);
      update(c, s);
      seen = server.identity();
      identity = seen;
    }
    deliver();
    probed(c, seen, sent);
  }

  /** Asks the client whether it objects to the server. Called without the lock. */
  private void probed(Context c, NodeIdentity seen, long sent) {
    String objection = c.listener().objection(this, seen, "");
    synchronized (server) {
      ConnectionStates s = states;
      if (closed || session == 0 || s == null) {
        return;
      }
      long micros = server.nodeMicros();
      long now = c.time().nanos();
      outbox(() -> c.listener().onClock(this, micros, sent, now));
      s.onProbed(new Probe(seen, server.marker()), objection, now);
      settle(c, s);
      if (s.refused()) {
        later(c, REFUSED_RETRY_NANOS, () -> probeAgain(c));
      }
    }
    deliver();
  }

  private void probeAgain(Context c) {
    NodeIdentity seen;
    synchronized (server) {
      if (session == 0) {
        return;
      }
      seen = server.identity();
      identity = seen;
    }
    probed(c, seen, c.time().nanos());
  }

  private void settle(Context c, ConnectionStates s) {
    update(c, s);
    if (s.status().state() == NodeStatus.State.QUARANTINED && s.status().untilNanos() != 0) {
      later(c, s.status().untilNanos() - c.time().nanos(), () -> tick(c, s));
    }
  }

  private void tick(Context c, ConnectionStates s) {
    synchronized (server) {
      s.onTick(c.time().nanos());
      update(c, s);
    }
    deliver();
  }

  private void update(Context c, ConnectionStates s) {
    NodeStatus before = status;
    NodeStatus now = s.status();
    status = now;
    if (before.state() != now.state()
        || before.connection() != now.connection()
        || !Objects.equals(before.record(), now.record())) {
      outbox(() -> c.listener().onStatus(this));
    }
  }

  private static void later(Context c, long delayNanos, Runnable task) {
    c.time().schedule(task, Math.max(0, delayNanos) + 1);
  }

  /** Sends a request. If the node is down, the error reply comes at once, as with Lettuce. */
  @Override
  public void send(LockRequest request, Consumer<NodeReply> handler) {
    NodeReply refusal =
        enqueue(
            new Work() {
              @Override
              public void execute() {
                NodeReply reply = server.execute(request, session, status.connection());
                outbox(() -> handler.accept(reply));
              }

              @Override
              public void fail(NodeReply why) {
                outbox(() -> handler.accept(why));
              }
            });
    if (refusal != null) {
      handler.accept(refusal);
    }
  }

  /**
   * Changes the record of the server, in order with the requests. Completes at once if the server
   * executes it at once: a client can lock as soon as it is built.
   */
  @Override
  public CompletionStage<NodeRecord> change(NodeRecord.Change change) {
    CompletableFuture<NodeRecord> result = new CompletableFuture<>();
    AtomicReference<@Nullable NodeRecord> stored = new AtomicReference<>();
    NodeReply refusal =
        enqueue(
            new Work() {
              @Override
              public void execute() {
                stored.set(changed(change));
                outbox(() -> result.complete(stored.get()));
              }

              @Override
              public void fail(NodeReply why) {
                outbox(() -> result.completeExceptionally(failure(why)));
              }
            });
    if (refusal != null) {
      result.completeExceptionally(failure(refusal));
    }
    NodeRecord now = stored.get();
    if (now != null) {
      result.complete(now);
    }
    return result;
  }

  private NodeRecord changed(NodeRecord.Change change) {
    NodeRecord stored = server.change(change, this);
    Context c = context;
    ConnectionStates s = states;
    if (c != null && s != null) {
      s.onRecord(stored, c.time().nanos());
      update(c, s);
    }
    return stored;
  }

  private static IOException failure(NodeReply why) {
    return new IOException(String.valueOf(why.error()));
  }

  /** Returns the reply if it cannot be sent. */
  private @Nullable NodeReply enqueue(Work work) {
    synchronized (server) {
      Context c = context;
      if (c == null || closed || session == 0 || !status.usable()) {
        NodeError.Kind kind = closed ? NodeError.Kind.CLOSED : NodeError.Kind.DISCONNECTED;
        return NodeReply.failed(status.connection(), kind, status.cause());
      }
      long now = c.time().nanos();
      long delay = server.takeOn(now);
      calls.add(new Call(work, now, now + delay));
      if (delay > 0) {
        later(c, delay, this::goOn);
      }
      if (server.isHung()) {
        later(c, DEAD_NANOS, this::giveUpIfSilent);
      }
      work(c);
    }
    server.deliverAll();
    deliver();
    return null;
  }

  /** Executes the requests that are due, in order. */
  private void work(Context c) {
    while (!server.isHung() && server.isUp() && session != 0) {
      Call call = calls.peek();
      if (call == null || call.dueNanos() - c.time().nanos() > 0) {
        return;
      }
      calls.remove();
      call.work().execute();
    }
  }

  void goOn() {
    synchronized (server) {
      Context c = context;
      if (c != null) {
        work(c);
      }
    }
    server.deliverAll();
    deliver();
  }

  private void giveUpIfSilent() {
    synchronized (server) {
      Context c = context;
      Call oldest = calls.peek();
      if (c == null || oldest == null || c.time().nanos() - oldest.sentNanos() < DEAD_NANOS) {
        return;
      }
    }
    lost("no reply for 5 s");
  }

  /** Breaks the connection: every open request ends with an error, and the client reconnects. */
  void lost(String why) {
    synchronized (server) {
      Context c = context;
      ConnectionStates s = states;
      if (session == 0 || c == null || s == null) {
        return;
      }
      disconnect(c, s, why, NodeError.Kind.DISCONNECTED);
      later(c, RETRY_NANOS, () -> connect(c));
    }
    deliver();
  }

  private void disconnect(Context c, ConnectionStates s, String why, NodeError.Kind kind) {
    long number = status.connection();
    server.close(session);
    session = 0;
    s.onLost(why, c.time().nanos());
    update(c, s);
    for (Call call : calls) {
      call.work().fail(NodeReply.failed(number, kind, why));
    }
    calls.clear();
  }

  @Override
  public void close() {
    synchronized (server) {
      Context c = context;
      ConnectionStates s = states;
      closed = true;
      if (session != 0 && c != null && s != null) {
        disconnect(c, s, "the client is closed", NodeError.Kind.CLOSED);
      }
    }
    deliver();
  }

  /** Called with the lock held. */
  void invalidated(long to, String lockKey) {
    Context c = context;
    if (to == session && c != null) {
      outbox(() -> c.listener().onInvalidated(this, lockKey));
    }
  }

  /** Another client has changed the record. Called with the lock held. */
  void markerChanged() {
    Context c = context;
    ConnectionStates s = states;
    if (session != 0 && c != null && s != null) {
      s.onMarkerInvalidated(c.time().nanos());
      s.onMarker(server.marker(), null, c.time().nanos());
      update(c, s);
    }
  }

  void flushed() {
    synchronized (server) {
      Context c = context;
      ConnectionStates s = states;
      if (session == 0 || c == null || s == null) {
        return;
      }
      s.onFlush(c.time().nanos());
      update(c, s);
      s.onMarker(server.marker(), null, c.time().nanos());
      settle(c, s);
      outbox(() -> c.listener().onAllInvalidated(this));
    }
    deliver();
  }

  private void outbox(Runnable message) {
    outbox.add(message);
  }

  /** Delivers queued events in order, on the timer's thread. Never called with a lock held. */
  void deliver() {
    if (outbox.isEmpty() || untold.getAndIncrement() != 0) {
      return; // The thread that is delivering delivers these events too.
    }
    Context c = context;
    if (c == null) {
      drain();
    } else {
      c.time().schedule(this::drain, 0);
    }
  }

  private void drain() {
    int seen = 1;
    do {
      for (Runnable next = outbox.poll(); next != null; next = outbox.poll()) {
        try {
          next.run();
        } catch (RuntimeException | Error e) {
          log.error("node {}: a handler failed with an exception", name(), e);
        }
      }
      seen = untold.addAndGet(-seen);
    } while (seen != 0);
  }
}
