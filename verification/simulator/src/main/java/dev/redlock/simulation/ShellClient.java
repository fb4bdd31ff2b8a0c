package dev.redlock.simulation;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.SimulatedBuilder;
import dev.redlock.internal.SimulatedClient;
import dev.redlock.internal.protocol.ExtendQueue;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.internal.protocol.Randomness;
import dev.redlock.internal.protocol.RoundLimiter;
import dev.redlock.redis.internal.Probe;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.ReleaseHints;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A process with the client as it ships: the builder makes it, and the users call its API. Clocks,
 * timers, threads, random numbers and nodes are those of the world.
 */
final class ShellClient extends SimClient implements SimulatedClient.Surroundings, Time {
  private static final int MAX_DEPTH = 3;
  private static final int GUESTS = 'Z' - 'A';
  private static final long TAKEN_NANOS = 5 * Scenario.SECOND;

  /** What user code and nodes throw on purpose. */
  static final class Thrown extends RuntimeException {
    private static final long serialVersionUID = 1;

    Thrown() {
      super("thrown on purpose", null, false, false);
    }
  }

  /** How the callback executor runs tasks. */
  enum Callbacks {
    POOL,
    /** Runs them on the calling thread. */
    DIRECT,
    LATER,
    /** Rejects some of them. */
    REJECTING
  }

  final ShellNode[] nodes;
  final Redlock redlock;

  /** Its list, or its user, is not right; see {@link Mistakes}. */
  boolean errs;

  private final boolean observes;

  /** The nodes that it is configured with. */
  final List<Integer> given;

  final Callbacks callbacks;
  final ShellListener listener;
  private final ShellHints hints;
  final ShellElection election;
  private final List<ShellWorker> workers = new ArrayList<>();
  private ShellWorker.Close close;

  /** Null if its lease ids are numbers, which is faster and easier to read. */
  private final ShellIds drawn;

  private int numbers;
  private int depth;

  /** How many events of this process are paused in {@link #stall}. */
  private int stalled;

  private long readTrue;
  private long readMono;
  private Reading lastReading = new Reading(0, 0, 0);

  ShellClient(int index, int life, World world) {
    this(index, life, world, null, List.of(), false);
  }

  /** A process that starts from a memory image of another one. */
  ShellClient(int index, World world, ShellClient image) {
    this(index, 0, world, image, List.of(), false);
  }

  /** A process without callers that knows these nodes. */
  ShellClient(int number, World world, List<Integer> nodes, boolean observes) {
    this(GUESTS, number, world, null, nodes, observes);
  }

  private ShellClient(
      int index, int life, World world, ShellClient image, List<Integer> guest, boolean observes) {
    super(index, life, world);
    this.observes = observes;
    Scenario s = world.scenario;
    Rng rng = world.rng;
    callbacks = rng.chance(0.6) ? Callbacks.POOL : rng.pick(Callbacks.values());
    nodes = new ShellNode[links.length];
    RedlockBuilder builder =
        Redlock.builder()
            .defaults(s.options)
            .maxLeaseTime(Duration.ofNanos(maxLeaseNanos))
            .restartGuard(s.guard)
            .observer(observes)
            .time(this);
    for (int i = 0; i < nodes.length; i++) {
      nodes[i] = new ShellNode(this, links[i]);
    }
    given = !guest.isEmpty() ? guest : image != null ? image.given : configured();
    drawn =
        image != null
            ? image.drawn.copy(this)
            : world.forks == null ? null : world.forks.newIds(this);
    for (SimLink link : links) {
      link.unreadable |= image != null && image.links[link.node.index].unreadable;
      if (!given.contains(link.node.index)) {
        link.withhold();
      }
    }
    given.forEach(i -> builder.nodes(nodes[i]));
    errs |= isLonger() || (image != null && image.errs);
    listener = guest.isEmpty() && rng.chance(0.5) ? new ShellListener(this) : null;
    if (listener != null) {
      builder.listener(listener);
    }
    hints = s.bus ? new ShellHints() : null;
    if (hints != null) {
      builder.hints(hints);
    }
    if (callbacks != Callbacks.POOL) {
      builder.callbackExecutor(this::call);
    }
    redlock = SimulatedClient.start(SimulatedBuilder.parts(builder), this);
    election = guest.isEmpty() && rng.chance(s.elections) ? new ShellElection(this) : null;
  }

  /** Whether it uses longer leases than those with which the deployment begins. */
  boolean isLonger() {
    return maxLeaseNanos > world.scenario.maxLeaseNanos;
  }

  boolean holds() {
    return ids.values().stream().anyMatch(id -> id.held != null && id.end == null);
  }

  private List<Integer> configured() {
    return world.sets == null ? allGiven() : world.sets.listOf(this);
  }

  private List<Integer> allGiven() {
    int count = world.scenario.given == 0 ? nodes.length : world.scenario.given;
    return IntStream.range(0, count).boxed().toList();
  }

  /** The index of the node to which the client has given this number. */
  int index(int number) {
    return ((ShellNode) SimulatedClient.node(redlock, number)).link.node.index;
  }

  /** Starts without callers. */
  void look() {
    for (SimLink link : links) {
      link.connect();
    }
  }

  /** It changes what a node stores. */
  void requireChanges(String node) {
    if (observes) {
      world.failed(new Violation("look", name() + " writes to " + node));
    }
  }

  @Override
  void start() {
    super.start();
    for (int i = 0; i < world.scenario.threads; i++) {
      ShellWorker worker = new ShellWorker(this, i);
      workers.add(worker);
      worker.begin();
    }
    if (election != null && !world.ending) {
      election.begin();
    }
  }

  @Override
  SimUser newUser(int number) {
    return new ShellUser(this, number);
  }

  @Override
  long afterPauseNanos() {
    return 150 * Scenario.MS; // Two graces of late timers, and the pool of callbacks.
  }

  /** If a timer is 2 ms late, the client assumes that it was paused. */
  @Override
  long endLateNanos() {
    return world.scenario.timerLateNanos >= 2 * Scenario.MS ? 60 * Scenario.MS : 0;
  }

  @Override
  long closeNanos() {
    return 7 * Scenario.SECOND;
  }

  // User code.

  /** Whether user code throws here. */
  boolean throwsNow() {
    boolean now = world.faults && world.rng.chance(world.scenario.userThrows);
    if (now) {
      world.disturbed(world.now);
    }
    return now;
  }

  /** User code may block here, but not on the thread that calls the client's queue. */
  void userBlocks() {
    if (!world.isFaultless()
        && callbacks != Callbacks.DIRECT
        && depth < MAX_DEPTH
        && world.rng.chance(world.scenario.userBlocks)) {
      long nanos = world.rng.spread(Scenario.MS, 4 * world.scenario.ttlNanos);
      world.fault(name(), "a callback blocks for " + Scenario.ms(nanos));
      park(world::isFaultless, nanos);
    }
  }

  private void call(Runnable callback) {
    switch (callbacks) {
      case DIRECT -> callback.run();
      case REJECTING -> {
        if (world.rng.chance(0.3)) {
          if (world.rng.chance(0.3)) {
            soon(callback); // The executor throws after it has accepted the task.
          }
          throw new RejectedExecutionException("on purpose");
        }
        soon(callback);
      }
      default ->
          world.at(world.now + world.rng.spread(1_000, 5 * Scenario.MS), () -> act(callback));
    }
  }

  // What the client takes from the JVM.

  @Override
  public Randomness randomness() {
    return drawn == null ? this : drawn;
  }

  @Override
  public String leaseId() {
    String number = Integer.toString(++numbers);
    return name() + ".000000000000".substring(number.length()) + number;
  }

  @Override
  public void failed(String kind, Throwable failure) {
    if (failure instanceof Thrown
        || failure instanceof RejectedExecutionException
        || failure instanceof SimThread.Killed
        || !alive) {
      return;
    }
    world.failed(
        failure instanceof Violation v
            ? v
            : new IllegalStateException(name() + ": " + kind + " failed", failure));
  }

  @Override
  public ThreadPoolExecutor pool() {
    return new SimPool(this);
  }

  @Override
  public Thread thread(Runnable task) {
    return new SimThread(this, task);
  }

  @Override
  public void later(Runnable task, long nanos) {
    atMono(mono() + nanos, task);
  }

  /** Parks the current thread; the thread of the world runs the other events meanwhile. */
  @Override
  public void park(BooleanSupplier done, long nanos) {
    Thread current = Thread.currentThread();
    if (current instanceof SimThread thread) {
      thread.park(done, nanos);
      return;
    }
    long begun = mono();
    depth++;
    try {
      while (alive && (isPaused() || (!done.getAsBoolean() && mono() - begun < nanos))) {
        long left = nanos == Long.MAX_VALUE ? nanos : Math.max(0, nanos - (mono() - begun));
        if (world.isIdle() && left == Long.MAX_VALUE) {
          throw new Violation("blocked", name() + " waits for ever");
        }
        long end =
            left > 1_000 * Scenario.SECOND ? Long.MAX_VALUE : world.now + trueDelay(left) + 1;
        world.step(isPaused() ? Math.max(end, pausedUntil()) : end);
      }
    } finally {
      depth--;
    }
    if (!alive) {
      throw new SimThread.Killed();
    }
  }

  /** Whether this is the thread of the world, which runs events for a thread that waits. */
  boolean isNested() {
    return depth > 0 && !(Thread.currentThread() instanceof SimThread);
  }

  /** The process, or the current thread alone, may pause here. */
  void stall() {
    if (world.isFaultless()
        || depth >= MAX_DEPTH
        || !world.rng.chance(world.scenario.pauseInStep)) {
      return;
    }
    long nanos = world.rng.between(1, world.scenario.pauseNanos);
    if (world.rng.chance(0.5)) {
      pause(nanos);
    } else {
      world.fault(name(), "a thread stalls for " + Scenario.ms(nanos));
      threadStalls(nanos);
      giveUpWithin(nanos);
    }
    stalled++;
    try {
      park(world::isFaultless, nanos);
    } catch (SimThread.Killed e) {
      // The process died: what follows has no effect.
      if (Thread.currentThread() instanceof SimThread) {
        throw e;
      }
    } finally {
      stalled--;
    }
    threadStalls(0); // Other threads may have delayed it further.
  }

  /**
   * A paused event stays on the call stack of the thread of the world. Events that pause later lie
   * above it on the stack, and end first. So the event, and the queue that it has begun to serve,
   * wait longer than the event was meant to pause.
   */
  @Override
  long resumedMono() {
    return stalled > 0 ? Math.max(super.resumedMono(), mono()) : super.resumedMono();
  }

  /** Callers give up while a thread is paused in the middle of an event. */
  private void giveUpWithin(long nanos) {
    for (SimUser user : users) {
      if (world.rng.chance(0.3)) {
        atMono(mono() + world.rng.between(0, nanos), ((ShellUser) user)::giveUp);
      }
    }
    if (election != null && world.rng.chance(0.5)) {
      atMono(mono() + world.rng.between(0, nanos), election::leave);
    }
    for (ShellWorker worker : workers) {
      if (world.rng.chance(0.3)) {
        atMono(mono() + world.rng.between(0, nanos), worker::interrupt);
      }
    }
  }

  @Override
  public int number() {
    return allLocks.size();
  }

  @Override
  public SimulatedClient.Observer queue(LockMachine machine) {
    ShellLock lock = new ShellLock(this, machine, 0);
    allLocks.add(lock);
    return lock;
  }

  // Clocks and timers.

  @Override
  public long nanos() {
    readTrue = world.now;
    readMono = mono();
    return readMono;
  }

  /** What the clocks showed when they were read last, and the true time. */
  record Reading(long trueNanos, long monoNanos, long wallMillis) {}

  Reading lastReading() {
    return lastReading;
  }

  @Override
  public long wallMillis() {
    Reading reading = new Reading(readTrue, readMono, wall());
    stall(); // The client has read its clocks, and acts on them later.
    lastReading = reading;
    return reading.wallMillis();
  }

  @Override
  public Cancellable schedule(Runnable task, long delayNanos) {
    boolean[] cancelled = new boolean[1];
    if (alive) {
      long late =
          world.faults && world.scenario.timerLateNanos > 0
              ? world.rng.between(0, world.scenario.timerLateNanos)
              : 0;
      atMono(
          mono() + Math.max(0, delayNanos) + late,
          () -> {
            if (!cancelled[0] && !isClosed()) { // The client's own timers end with it.
              task.run();
            }
          });
    }
    return () -> cancelled[0] = true;
  }

  // What the nodes report.

  @Override
  void clockRead(int node, long sentNanos, long micros) {
    nodes[node].listener.onClock(nodes[node], micros, sentNanos, mono());
  }

  @Override
  @Nullable String objection(int node, Probe probe) {
    ShellNode given = nodes[node];
    if (given.listener == null || world.scenario.mistakes == null) {
      return null; // Each name has a server of its own.
    }
    given.identity = probe.identity();
    return given.listener.objection(given, probe.identity(), "");
  }

  @Override
  void statusChanged(int node) {
    told++;
    if (nodes[node].listener != null) {
      nodes[node].listener.onStatus(nodes[node]);
    }
  }

  @Override
  void invalidated(int node, String key) {
    if (nodes[node].listener == null) {
      return; // A false hint of a node that this client does not know.
    }
    told(key);
    if (world.tracing) {
      world.row(name(), "invalidation of " + key + " from " + world.nodes[node].name);
    }
    nodes[node].listener.onInvalidated(nodes[node], key);
  }

  @Override
  void allInvalidated(int node) {
    told++;
    nodes[node].listener.onAllInvalidated(nodes[node]);
  }

  @Override
  void hint(String lockKey) {
    told++;
    if (hints != null && hints.receiver != null) {
      hints.receiver.mayBeFree(lockKey.substring("redlock:{".length(), lockKey.length() - 1));
    } else {
      ShellNode from = nodes[given.get(0)];
      from.listener.onReleaseHint(from, lockKey);
    }
  }

  @Override
  String processName() {
    return SimulatedClient.processName(redlock);
  }

  @Override
  public RoundLimiter limiter() {
    return SimulatedClient.limiter(redlock);
  }

  @Override
  public ExtendQueue extensions() {
    return SimulatedClient.extensions(redlock);
  }

  @Override
  void operate(int keySet, boolean breaks) {
    LockKeys keys = world.scenario.keySets.get(keySet);
    if (closing || redlock == null) {
      return; // A listener may be told of a node before the builder has returned.
    }
    String name = keys.names().get(world.rng.below(keys.size()));
    if (breaks) {
      world.fault(name(), "breaks " + name);
      answered("break", redlock.operations().breakLock(name).toCompletableFuture());
    } else {
      answered("inspection", redlock.operations().inspect(name).toCompletableFuture());
    }
  }

  // Futures that must complete.

  /** A future that the client must complete before it is closed, with a value or an exception. */
  private record Open(String what, java.util.concurrent.CompletableFuture<?> future) {}

  private final List<Open> open = new ArrayList<>();

  void answered(String what, java.util.concurrent.CompletableFuture<?> future) {
    open.removeIf(o -> o.future().isDone());
    open.add(new Open(what, future));
  }

  // The end.

  @Override
  void crash(String how) {
    super.crash(how);
    if (election != null) {
      election.die();
    }
    if (listener != null) {
      listener.die();
    }
  }

  @Override
  void close() {
    if (close == null) {
      closing = true;
      close = new ShellWorker.Close(this);
      close.begin(world.rng.chance(world.scenario.ownThread));
    }
  }

  /**
   * Leases that users have received. They must not become unreachable, because the client would
   * report a leak.
   */
  private final List<Lease> kept = new ArrayList<>();

  void keep(Lease lease) {
    kept.add(lease);
    taken.add(SimulatedClient.held(lease));
  }

  private final Set<HeldLease> taken = Collections.newSetFromMap(new IdentityHashMap<>());

  /** A lease whose caller has given up must end. A lease reaches a user soon, or never. */
  void requireTaken(HeldLease lease) {
    atMono(
        mono() + TAKEN_NANOS,
        () -> {
          if (depth > 0 || mono() - resumedMono() < TAKEN_NANOS) {
            requireTaken(lease); // A thread is paused, or was paused until now.
          } else if (lease.end() == null && !taken.contains(lease)) {
            world.failed(new Violation("leak", "no caller got the lease " + lease.id()));
          }
        });
  }

  /** Whether all nodes work, and the links to them. */
  boolean reachesAllNodes() {
    for (SimLink link : links) {
      if (!link.isLive() || link.isStalled()) {
        return false;
      }
    }
    return world.isHealthy();
  }

  /**
   * What must hold when a close has returned.
   *
   * @param reached whether it reached all nodes when it began
   */
  void requireClosed(boolean reached) {
    if (reached) {
      world.checker.requireNoKeys(this);
    }
    for (Lease lease : kept) {
      if (lease.isValid()) {
        world.failed(
            new Violation("close", SimulatedClient.id(lease) + " is valid after the close"));
      }
    }
  }

  boolean isClosed() {
    return close != null && close.isOver();
  }

  @Override
  boolean isSettled() {
    for (ShellWorker worker : workers) {
      if (!worker.isOver()) {
        return false;
      }
    }
    return election == null || election.isIdle();
  }

  @Override
  void settle() {
    if (election != null) {
      election.requireIdle();
    }
    for (ShellWorker worker : workers) {
      worker.requireOver();
    }
  }

  @Override
  void stopWork() {
    if (election != null && !closing) {
      act(election::stop);
    }
  }

  @Override
  void lastWork() {
    for (SimUser user : users) {
      user.wish(false, world.rng.below(world.scenario.keySets.size()), world.scenario.waitNanos);
    }
  }

  @Override
  void requireNothingLeft() {
    if (!alive) {
      return;
    }
    if (!isClosed()) {
      throw new Violation("close", name() + " has not returned from close");
    }
    if (SimulatedClient.queues(redlock) != 0) {
      throw new Violation("leftover", name() + " has queues after its close");
    }
    if (SimulatedClient.pendingReleases(redlock) != 0) {
      throw new Violation("leftover", name() + " counts pending releases after its close");
    }
    for (ShellNode node : nodes) {
      if (node.isWaitedFor()) {
        throw new Violation("waiting", node.name() + " was not told that none waits");
      }
    }
    for (Open o : open) {
      if (!o.future().isDone()) {
        throw new Violation("ack", name() + ": the future of " + o.what() + " never completes");
      }
    }
    if (listener != null) {
      listener.requireComplete();
    }
  }

  /** The bus between the processes. */
  private final class ShellHints implements ReleaseHints {
    Receiver receiver;

    @Override
    public void start(Receiver taker) {
      receiver = taker;
    }

    @Override
    public void waiting(String name) {
      if (throwsNow()) {
        throw new Thrown();
      }
    }

    @Override
    public void ended(Ended ended) {
      if (throwsNow()) {
        throw new Thrown();
      }
      if (ended.reason() == Reason.RELEASED && alive) {
        world.broadcast(ShellClient.this, LockKeys.of("redlock", ended.names()));
      }
    }

    @Override
    public void close() {}
  }
}
