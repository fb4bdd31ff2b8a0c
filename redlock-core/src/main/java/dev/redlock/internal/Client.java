package dev.redlock.internal;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.joining;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.ReentrantDistributedLock;
import dev.redlock.internal.election.ElectionClient;
import dev.redlock.internal.operations.OperatorClient;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.internal.sets.Members;
import dev.redlock.internal.text.Printable;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.Operations;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The client that a user holds: makes its parts, passes calls on to them, and closes them. */
final class Client implements Redlock, ElectionClient, OperatorClient {
  private static final long HEARTBEAT_NANOS = 500_000_000;
  private static final long SUSPENDED_MILLIS = 200;

  /** The most names of leases in the log line of a close. */
  private static final int NAMES_IN_LOG = 20;

  /** The longest time that a close takes after its drain: nodes may close slowly. */
  private static final long CLOSE_NANOS = 5_000_000_000L;

  private final ClientContext context;
  private final LockOptions defaults;
  private final Duration maxLeaseTime;
  private final boolean observes;
  private final ReentrantHolds reentrantHolds = new ReentrantHolds();
  private final HealthLog health;
  private final OperatorRequests requests;

  /** Set by the first thread that closes; other threads that close wait for that one. */
  private final AtomicReference<@Nullable Thread> closer = new AtomicReference<>();

  private final CompletableFuture<Boolean> closed = new CompletableFuture<>();

  private final OwnThreads threads;

  /** Set once, before the first heartbeat. */
  private @Nullable NodeEvents nodeEvents;

  // Confined to the heartbeat.
  private long clockGapMillis;

  /** Written by the heartbeat, read by {@link #close}. */
  private volatile Time.Cancellable heartbeat = () -> {};

  Client(Assembly.Parts parts, Duration maxLeaseTime, Platform platform) {
    context = new ClientContext(parts, platform);
    defaults = parts.defaults();
    this.maxLeaseTime = maxLeaseTime;
    observes = parts.observes();
    threads = new OwnThreads(context);
    health = new HealthLog(context);
    requests = new OperatorRequests(context);
  }

  void start(Assembly.Parts parts) {
    NodeEvents events = new NodeEvents(context);
    LockNode.Context nodeContext =
        new LockNode.Context(
            maxLeaseTime,
            parts.restartGuard(),
            parts.keyPrefix(),
            parts.label(),
            parts.observes(),
            context.time,
            events);
    context.set(new SetKeeper(context, nodeContext));
    nodeEvents = events;
    for (LockNode node : parts.nodes()) {
      node.start(nodeContext);
    }
    events.begin();
    context.hints.start(events);
    clockGapMillis = clockGapMillis();
    beat();
  }

  ClientContext context() {
    return context;
  }

  // Twice a second: leaked leases, reentrant locks of dead threads, a machine that was suspended.

  private void beat() {
    try {
      context.leaks.reportLeaks();
      reentrantHolds.releaseOrphans(context.log);
      resumeAfterSuspension();
      reportNodes();
      requireNonNull(nodeEvents).reviewSet();
      health.review();
      context.bursts.review(false);
    } catch (Throwable e) {
      context.failures.report("the client's heartbeat", e);
    }
    if (!context.locks.isClosed()) {
      heartbeat = context.time.schedule(this::beat, HEARTBEAT_NANOS);
    }
  }

  /** While the machine was suspended, its timers stood still, but its leases expired. */
  private void resumeAfterSuspension() {
    long gap = clockGapMillis();
    if (gap - clockGapMillis > SUSPENDED_MILLIS) {
      context.time.schedule(
          () -> context.locks.tellAll(LockMachine::onTimer), ClientContext.GRACE_NANOS);
    }
    clockGapMillis = gap;
  }

  /** Tells the listeners the sums of what is too frequent for one event each. */
  private void reportNodes() {
    NodeRequestCounts counts = context.nodeRequests;
    if (counts != null) {
      counts.report();
    }
  }

  private long clockGapMillis() {
    return context.time.wallMillis() - context.time.nanos() / 1_000_000L;
  }

  // What a user calls.

  @Override
  public DistributedLock lock(String name) {
    return lock(name, defaults);
  }

  @Override
  public DistributedLock lock(String name, LockOptions options) {
    return lock(List.of(requireNonNull(name, "name")), options);
  }

  @Override
  public DistributedLock lock(List<String> names) {
    return lock(names, defaults);
  }

  @Override
  public DistributedLock lock(List<String> names, LockOptions options) {
    Assembly.checkLeaseTime(requireNonNull(options, "options"), maxLeaseTime);
    LockKeys keys = LockKeys.of(context.keyPrefix, names);
    if (observes) {
      if (!names.equals(List.of(SET_LOCK))) {
        throw new IllegalStateException("this client was built as an observer: it makes no locks");
      }
      context.set().operates();
    }
    for (int i = 0; i < context.nodes.count(); i++) {
      context.nodes.node(i).requireServable(keys);
    }
    return new DefaultLock(context, keys, options);
  }

  @Override
  public ReentrantDistributedLock reentrantLock(String name) {
    return reentrantLock(name, defaults);
  }

  @Override
  public ReentrantDistributedLock reentrantLock(String name, LockOptions options) {
    return new ThreadLock(reentrantHolds, lock(name, options));
  }

  @Override
  public Operations operations() {
    List<Side> sides = context.operators;
    if (sides.isEmpty()) {
      Assembly.services(Factory.class, "redlock-operations").forEach(f -> sides.add(f.side(this)));
    }
    return sides.isEmpty() ? this : sides.get(0);
  }

  @Override
  public boolean awaitReady(Duration timeout) {
    return context.readiness.await(timeout, context.blocking);
  }

  @Override
  public LockOptions defaultOptions() {
    return defaults;
  }

  // The rest of ElectionClient.

  @Override
  public Time.Cancellable schedule(Runnable task, long nanos) {
    return context.locks.isClosed()
        ? context.platform.runLater(task, nanos)
        : context.time.schedule(task, nanos);
  }

  @Override
  public Executor executor(@Nullable Executor given) {
    return context.callbackThreads.preferring(given);
  }

  @Override
  public boolean isClosed() {
    return context.locks.isClosed();
  }

  @Override
  public void onEnd(Lease lease, Consumer<LeaseEnd> taker) {
    if (lease instanceof DefaultLease own) {
      own.core().onEnd(taker);
    } else {
      var unused = lease.whenEnded().thenAccept(taker); // The lease of a decorated lock.
    }
  }

  @Override
  public void onClosing(Lease lease, Runnable task) {
    if (lease instanceof DefaultLease own) {
      own.core().onClosing(task);
    } // Else the lease of a decorated lock: the holder learns of the close when the lease ends.
  }

  @Override
  public void await(CompletionStage<?> stage, long nanos) {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    stage.whenComplete((value, failure) -> done.complete(true));
    context.blocking.awaitUninterruptibly(done, nanos);
  }

  @Override
  public void log(boolean warning, String kind, Supplier<String> line) {
    context.bursts.add(warning, kind, line);
  }

  @Override
  public void report(String kind, String election, Throwable failure) {
    context.failures.report(kind, election, failure);
  }

  // The rest of OperatorClient.

  @Override
  public CompletionStage<Void> ready() {
    return context.readiness.ready(context.callbacks);
  }

  @Override
  public List<NodeState> nodes() {
    return context.nodes.openIndexes().mapToObj(context::nodeState).toList();
  }

  @Override
  public <T> T unwrap(Class<T> type) {
    if (!type.isInstance(this)) {
      throw new IllegalArgumentException("a client made by Redlock.builder() is no " + type);
    }
    return type.cast(this);
  }

  @Override
  public LockNode.Context settings() {
    return context.set().nodeContext;
  }

  @Override
  public Executor callbacks() {
    return context.callbacks;
  }

  @Override
  public OperatedSet set() {
    return context.set();
  }

  @Override
  public Members members() {
    return context.nodes.members();
  }

  @Override
  public LockNode node(int node) {
    return context.nodes.node(node);
  }

  @Override
  public <T> T ask(int node, String what, Function<LockNode, @Nullable T> question, T otherwise) {
    return context.nodes.ask(node, what, question, otherwise);
  }

  @Override
  public NodeState state(int node) {
    return context.nodeState(node);
  }

  @Override
  public Clock clock(int node) {
    return context.clocks.clock(node);
  }

  @Override
  public boolean isPolled(int node) {
    return context.hints.isEmpty() && !context.nodes.notifiesWaiters(node);
  }

  @Override
  public CompletionStage<Replies> inspectOnAll(LockKeys keys, boolean listens) {
    return requests.inspect(keys, listens);
  }

  @Override
  public CompletionStage<Replies> breakOnAll(LockKeys keys) {
    return requests.breakLock(keys);
  }

  @Override
  public void stopListening(LockKeys keys) {
    context.locks.post(keys, (machine, now, wall) -> machine.stopListening(now));
  }

  // Closing.

  @Override
  public void close(Duration grace) {
    if (grace.isNegative()) {
      throw new IllegalArgumentException("grace " + Printable.of(grace) + " must not be negative");
    }
    long graceNanos = TimeUnit.NANOSECONDS.convert(grace);
    context.locks.refuseWaiters();
    if (isNeededHere()) {
      context.platform.closingThread(() -> closeAfter(graceNanos)).start();
    } else {
      closeAfter(graceNanos);
    }
  }

  /** Waits for the holders, for this time at most, then closes. */
  private void closeAfter(long graceNanos) {
    long begin = context.time.nanos();
    boolean interrupted = false;
    while (!interrupted
        && !context.locks.held().isEmpty()
        && context.time.nanos() - begin < graceNanos) {
      if (context.locks.isClosed()) {
        break; // Another thread does not wait for the holders.
      }
      interrupted = !context.blocking.await(new CompletableFuture<>(), Drain.CHECK_NANOS);
    }
    List<LockKeys> held = context.locks.isClosed() ? List.of() : context.locks.held();
    if (!held.isEmpty()) {
      context.log.warn(
          "closing the client{}: {} leases are still held, and are released now: {}{}",
          interrupted ? " early, because the thread that closes it was interrupted" : "",
          held.size(),
          held.stream().limit(NAMES_IN_LOG).map(LockKeys::toString).collect(joining(", ")),
          held.size() > NAMES_IN_LOG ? " …" : "");
    }
    close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    Thread here = Thread.currentThread();
    if (!closer.compareAndSet(null, here)) {
      awaitClosed(here);
      return;
    }
    // Before the locks, so that the close waits for what they send, and for those that begin now.
    attempt("the watches", () -> context.operators.forEach(Side::closed));
    context.locks.close();
    attempt("the watches", () -> context.operators.forEach(Side::closed));
    attempt("the futures of ready()", context.readiness::close);
    if (isNeededHere()) {
      // The close has to wait for this thread, or for the I/O thread that it may be.
      Thread other = context.platform.closingThread(this::finish);
      closer.set(other);
      other.start();
    } else {
      finish();
    }
  }

  /** Returns when the first close does; at once on a thread that the first close waits for. */
  private void awaitClosed(Thread here) {
    if (closer.get() != here && !isNeededHere()) {
      context.blocking.awaitUninterruptibly(closed, Drain.LIMIT_NANOS + CLOSE_NANOS);
      if (!threads.areHere()) { // Else the first close waits for the end of this thread.
        threads.awaitEnd();
      }
    }
  }

  /** Whether this thread handles events of a lock now, or may be a node's I/O thread. */
  private boolean isNeededHere() {
    return context.locks.isHandledHere() || CallbackThreads.isOnCallersThread();
  }

  /** Releases what can be released, closes the nodes, timers and threads, and waits for them. */
  private void finish() {
    attempt("the drain", () -> new Drain(context).await());
    heartbeat.cancel();
    context.hints.close();
    context.set().close();
    for (int i = 0; i < context.nodes.count(); i++) {
      attempt("closing node " + context.nodes.name(i), context.nodes.node(i)::close);
    }
    context.locks.end();
    attempt("requests of operators", requests::end);
    attempt("the last counts of requests", this::reportNodes);
    context.bursts.review(true);
    attempt("the last events", context.events::close);
    attempt("ending an examination", () -> context.operators.forEach(Side::ended));
    context.systemTime.close();
    context.callbackThreads.close();
    closed.complete(true);
    attempt("waiting for the end of the threads", threads::awaitEnd);
  }

  private void attempt(String what, Runnable step) {
    try {
      step.run();
    } catch (Throwable e) {
      context.failures.report(what, e);
    }
  }
}
