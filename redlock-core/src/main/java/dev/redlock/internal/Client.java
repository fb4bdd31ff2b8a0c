package dev.redlock.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.Diagnosis;
import dev.redlock.DistributedLock;
import dev.redlock.LockInspection;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockClosedException;
import dev.redlock.ReentrantDistributedLock;
import dev.redlock.internal.protocol.Order;
import dev.redlock.internal.protocol.Randomness;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeContext;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeListener;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReleaseHints;
import dev.redlock.spi.Time;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The client: wires nodes, queues, hints, timers and callbacks together. */
final class Client implements Redlock, NodeListener, ReleaseHints.Receiver {
  private static final Logger LOG = LoggerFactory.getLogger(Redlock.class);

  private static final long HEARTBEAT_NANOS = 500_000_000;
  private static final long SUSPENDED_MILLIS = 200;

  private final NodeSet nodes;
  private final List<ReleaseHints> hints;
  private final LockOptions defaults;
  private final Duration maxLeaseTime;
  private final String keyPrefix;
  private final Time time;
  private final @Nullable SystemTime ownTime;
  private final Executor callbacks;
  private final @Nullable ExecutorService ownCallbacks;
  private final boolean traceLeaks;
  private final Randomness randomness = new SecureRandomness();
  private final String processName;
  private final Events events;
  private final Locks locks = new Locks(this);
  private final ReentrantHolds reentrantHolds = new ReentrantHolds();
  private final SurveyDesk surveys = new SurveyDesk(this);
  private final Siblings siblings;
  private final Doctor doctor;
  private final OwedCleanups cleanups;
  private final ReferenceQueue<DefaultLease> unreachable = new ReferenceQueue<>();

  /** Written once by {@link #close}, read by every new call. */
  private volatile boolean closed;

  // Confined to the heartbeat.
  private long clockGapMillis;

  /** Written by the heartbeat, read by {@link #close}. */
  private volatile Time.@Nullable Cancellable heartbeat;

  Client(
      Assembly.Parts parts,
      Duration maxLeaseTime,
      Time time,
      @Nullable SystemTime ownTime,
      Executor callbacks,
      @Nullable ExecutorService ownCallbacks) {
    nodes = new NodeSet(parts.nodes());
    hints = List.copyOf(parts.hints());
    defaults = parts.defaults();
    this.maxLeaseTime = maxLeaseTime;
    keyPrefix = parts.keyPrefix();
    this.time = time;
    this.ownTime = ownTime;
    this.callbacks = new NeverRefusing(callbacks);
    this.ownCallbacks = ownCallbacks;
    traceLeaks = parts.traceLeaks();
    processName = randomness.leaseId().substring(0, 12);
    cleanups = new OwedCleanups(nodes.count(), OwedCleanups.MOST, LOG);
    siblings = new Siblings(nodes);
    doctor = new Doctor(this, parts.restartGuard(), LOG);
    events = new Events(parts.listeners(), this.callbacks, LOG);
  }

  void start(Assembly.Parts parts) {
    NodeContext context =
        new NodeContext(maxLeaseTime, parts.restartGuard(), keyPrefix, time, this);
    for (LockNode node : parts.nodes()) {
      node.start(context);
    }
    for (ReleaseHints carrier : hints) {
      carrier.start(this);
    }
    clockGapMillis = clockGapMillis();
    beat();
  }

  // What the parts of the shell ask each other.

  NodeSet nodeSet() {
    return nodes;
  }

  Randomness randomness() {
    return randomness;
  }

  String processName() {
    return processName;
  }

  Time time() {
    return time;
  }

  Executor callbacks() {
    return callbacks;
  }

  Events events() {
    return events;
  }

  Locks locks() {
    return locks;
  }

  SurveyDesk surveys() {
    return surveys;
  }

  Logger log() {
    return LOG;
  }

  void submit(PendingAcquire pending) {
    if (closed) {
      pending.refusedBecauseClosed();
      return;
    }
    locks.post(pending.keys(), (machine, now, wall) -> machine.submit(pending, now, wall));
  }

  /** The caller is gone. If the grant was faster, its lease is released. */
  void abandon(PendingAcquire pending) {
    if (pending.outcome().giveUp()) {
      locks.post(pending.keys(), (machine, now, wall) -> machine.cancel(pending, now, wall));
    } else if (pending.outcome().failure() == null) {
      pending.outcome().result().ifPresent(dev.redlock.Lease::releaseAsync);
    }
  }

  OwedCleanups cleanups() {
    return cleanups;
  }

  void waitingChanged(LockKeys keys, boolean waits) {
    for (int i = 0; i < nodes.count(); i++) {
      if (waits) {
        nodes.node(i).waiting(keys);
      } else {
        nodes.node(i).idle(keys);
      }
    }
    for (ReleaseHints carrier : hints) {
      for (String name : keys.names()) {
        if (waits) {
          carrier.waiting(name);
        } else {
          carrier.idle(name);
        }
      }
    }
  }

  /** A lease has ended: other sets of this process that share a name, and other processes. */
  void announce(LockActor from, Order.Announce announce) {
    LockKeys keys = from.keys();
    if (announce.reason() != ReleaseHints.Reason.HANDED_OFF) {
      // The nodes do not push our own writes to us.
      for (int i = 0; i < keys.size(); i++) {
        for (LockActor other : locks.of(keys.lockKey(i))) {
          if (other != from) {
            other.post((machine, now, wall) -> machine.onHint(-1, now, wall));
          }
        }
      }
    }
    if (!hints.isEmpty()) {
      ReleaseHints.Ended ended =
          new ReleaseHints.Ended(keys.names(), announce.lease().token(), announce.reason());
      for (ReleaseHints carrier : hints) {
        carrier.ended(ended);
      }
    }
  }

  /** Where the current thread asks for a lease, if that is to be told when it loses it. */
  @Nullable Throwable traceOfCaller() {
    return traceLeaks ? new Throwable("the lease was asked for here") : null;
  }

  /** Notices when the user loses the lease object without having released it. */
  void watch(DefaultLease lease, @Nullable Throwable asked) {
    lease.core().trace(new Abandoned(lease, lease.core(), unreachable, asked));
  }

  // Nodes and hints.

  @Override
  public void onStatus(LockNode node) {
    int index = nodes.indexOf(node);
    events.node(nodeState(index));
    for (LockActor actor : locks.all()) {
      actor.post((machine, now, wall) -> machine.onNodeStatus(index, now, wall));
    }
  }

  @Override
  public void onClock(LockNode node, long nodeMicros, long sentNanos, long answeredNanos) {
    int index = nodes.indexOf(node);
    nodes.knowledge(index).observe(sentNanos, answeredNanos, nodeMicros);
    doctor.clockRead(index);
  }

  @Override
  public @Nullable String objection(LockNode node, NodeIdentity identity) {
    return siblings.meet(nodes.indexOf(node), identity);
  }

  @Override
  public void onInvalidated(LockNode node, String key) {
    int index = nodes.indexOf(node);
    for (LockActor actor : locks.of(key)) {
      actor.post((machine, now, wall) -> machine.onHint(index, now, wall));
    }
    passOn(key);
  }

  @Override
  public void onNotice(LockNode node, String key) {
    heard(key);
    passOn(key);
  }

  /** Not what carriers of hints deliver: they would tell each other for ever. */
  private void passOn(String key) {
    if (!hints.isEmpty()) {
      locks.nameOf(key).ifPresent(name -> hints.forEach(carrier -> carrier.pushed(name)));
    }
  }

  @Override
  public void onAllInvalidated(LockNode node) {
    int index = nodes.indexOf(node);
    for (LockActor actor : locks.all()) {
      actor.post((machine, now, wall) -> machine.onHint(index, now, wall));
    }
  }

  @Override
  public void mayBeFree(String name) {
    heard(LockKeys.of(keyPrefix, List.of(name)).lockKey(0));
  }

  private void heard(String key) {
    for (LockActor actor : locks.of(key)) {
      actor.post((machine, now, wall) -> machine.onHint(-1, now, wall));
    }
  }

  // Twice a second: lease objects nobody has any more, and a machine that was suspended.

  private void beat() {
    for (Reference<? extends DefaultLease> r = unreachable.poll(); r != null; ) {
      reportLeak((Abandoned) r);
      r = unreachable.poll();
    }
    reentrantHolds.releaseOrphans(LOG);
    long gap = clockGapMillis();
    if (gap - clockGapMillis > SUSPENDED_MILLIS) {
      // The timers stood still with the machine; leases did not.
      for (LockActor actor : locks.all()) {
        actor.post((machine, now, wall) -> machine.onTimer(now, wall));
      }
    }
    clockGapMillis = gap;
    if (!closed) {
      heartbeat = time.schedule(this::beat, HEARTBEAT_NANOS);
    }
  }

  private long clockGapMillis() {
    return time.wallMillis() - time.nanos() / 1_000_000L;
  }

  private void reportLeak(Abandoned trace) {
    LeaseCore core = trace.core();
    if (core.remainingNanos() > 0) {
      LOG.warn(
          "a lease on {} with token {} became unreachable without being released: it is no longer"
              + " extended and ends in {} ms{}",
          core.lease().keys(),
          core.lease().token(),
          core.remainingNanos() / 1_000_000L,
          trace.acquiredAt() == null ? " (traceLeaks(true) tells where it was acquired)" : "",
          trace.acquiredAt());
      core.abandon();
    }
  }

  // What a user calls.

  @Override
  public DistributedLock lock(String name) {
    return lock(List.of(name), defaults);
  }

  @Override
  public DistributedLock lock(String name, LockOptions options) {
    return lock(List.of(name), options);
  }

  @Override
  public DistributedLock lock(List<String> names) {
    return lock(names, defaults);
  }

  @Override
  public DistributedLock lock(List<String> names, LockOptions options) {
    Assembly.checkLeaseTime(requireNonNull(options, "options"), maxLeaseTime);
    LockKeys keys = LockKeys.of(keyPrefix, names);
    for (int i = 0; i < nodes.count(); i++) {
      nodes.node(i).requireServable(keys);
    }
    return new DefaultLock(this, keys, options);
  }

  @Override
  public ReentrantDistributedLock reentrantLock(String name) {
    return new ThreadLock(reentrantHolds, lock(name));
  }

  @Override
  public CompletionStage<LockInspection> inspect(String name) {
    requireOpen();
    return surveys.inspect(LockKeys.of(keyPrefix, List.of(name)));
  }

  @Override
  public CompletionStage<LockInspection> breakLock(String name) {
    requireOpen();
    return surveys.breakLock(LockKeys.of(keyPrefix, List.of(name)));
  }

  @Override
  public CompletionStage<Diagnosis> doctor() {
    requireOpen();
    return doctor.examine();
  }

  private void requireOpen() {
    if (closed) {
      throw new RedlockClosedException();
    }
  }

  @Override
  public List<NodeState> nodes() {
    List<NodeState> states = new ArrayList<>();
    for (int i = 0; i < nodes.count(); i++) {
      states.add(nodeState(i));
    }
    return states;
  }

  NodeState nodeState(int index) {
    NodeStatus status = nodes.status(index);
    long left =
        status.state() == NodeStatus.State.QUARANTINED ? status.untilNanos() - time.nanos() : 0;
    return new NodeState(
        nodes.name(index),
        status.state().name(),
        Duration.ofNanos(Math.max(0, left)),
        status.cause(),
        cleanups.of(index));
  }

  @Override
  public LockOptions defaultOptions() {
    return defaults;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    for (LockActor actor : locks.all()) {
      actor.post((machine, now, wall) -> machine.close(now, wall));
    }
    new Drain(this).await();
    Time.Cancellable beat = heartbeat;
    if (beat != null) {
      beat.cancel();
    }
    for (ReleaseHints carrier : hints) {
      carrier.close();
    }
    for (int i = 0; i < nodes.count(); i++) {
      nodes.node(i).close();
    }
    if (ownTime != null) {
      ownTime.close();
    }
    if (ownCallbacks != null) {
      ownCallbacks.shutdown();
    }
  }
}
