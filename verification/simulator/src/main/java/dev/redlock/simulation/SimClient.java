package dev.redlock.simulation;

import dev.redlock.internal.protocol.Broadcast;
import dev.redlock.internal.protocol.ExtendQueue;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.internal.protocol.NodeKnowledge;
import dev.redlock.internal.protocol.Nodes;
import dev.redlock.internal.protocol.Randomness;
import dev.redlock.internal.protocol.RoundLimiter;
import dev.redlock.redis.internal.Probe;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One process: its clocks, its links, its locks and its callers. It runs nothing while it is
 * paused; events of that time run when it resumes.
 */
class SimClient implements Nodes, Randomness {
  final int index;
  final int life;
  final World world;
  final long maxLeaseNanos;
  final SimLink[] links;
  final NodeKnowledge[] knowledge;
  final RoundLimiter limiter;
  final ExtendQueue extensions = new ExtendQueue();
  final SimLock[] locks;
  final List<SimLock> allLocks = new ArrayList<>();
  final List<SimUser> users = new ArrayList<>();

  /** What the {@link Checker} knows of its lease ids. Another process could draw the same. */
  final Map<String, Checker.Id> ids = new HashMap<>();

  boolean alive = true;

  /** As if it had more pending releases than it keeps. */
  boolean tooManyPending;

  boolean closing;

  private final String name;
  private final long monoOffset;
  private final long wallOffset;
  private final int ppm;
  private long suspended;
  private long wallStep;
  private long pausedUntil;
  private long resumed;
  private final ArrayDeque<Runnable> deferred = new ArrayDeque<>();
  private boolean draining;
  private int numbers;

  /** How many hints and changes of status it has received; see {@link LockCost}. */
  long told;

  /** How often its turn was reported to it. */
  long wakes;

  /** How many rounds were started, requests to be queued included. */
  int rounds;

  SimClient(int index, int life, World world) {
    this.index = index;
    this.life = life;
    this.world = world;
    maxLeaseNanos =
        world.sets == null ? world.scenario.maxLeaseNanos : world.sets.maxLeaseOf(index, life);
    name = (char) ('A' + index) + (life == 0 ? "" : Integer.toString(life));
    Rng rng = world.rng;
    monoOffset = rng.between(-1L << 40, 1L << 52);
    wallOffset = 1_760_000_000_000L + rng.between(-3_600_000, 3_600_000);
    ppm = (int) rng.between(-world.scenario.clientPpm, world.scenario.clientPpm);
    int n = world.nodes.length;
    links = new SimLink[n];
    knowledge = new NodeKnowledge[n];
    int limit = world.scenario.roundsAtOnce;
    limiter = new RoundLimiter(limit, limit);
    for (int i = 0; i < n; i++) {
      knowledge[i] = NodeKnowledge.NONE;
      links[i] = new SimLink(this, world.nodes[i]);
    }
    locks = new SimLock[world.scenario.keySets.size()];
  }

  void start() {
    for (SimLink link : links) {
      link.connect();
    }
    for (int i = 0; i < world.scenario.users; i++) {
      SimUser user = newUser(i);
      users.add(user);
      user.think();
    }
  }

  SimUser newUser(int number) {
    return new SimUser(this, number);
  }

  /** By how much later than other timers its timers may fire after it was paused. */
  long afterPauseNanos() {
    return 0;
  }

  /** How late the end of a lease may be although the process was not paused. */
  long endLateNanos() {
    return 0;
  }

  /** How long a close takes at most. */
  long closeNanos() {
    return world.scenario.config.nodeTimeout().toNanos();
  }

  // Clocks.

  long mono() {
    return mono(world.now);
  }

  long mono(long trueNanos) {
    long ran = trueNanos - suspended;
    return monoOffset + ran + ran / 1000 * ppm / 1000;
  }

  long wall() {
    return wall(world.now);
  }

  private long wall(long trueNanos) {
    return wallOffset + (trueNanos + trueNanos / 1000 * ppm / 1000) / 1_000_000 + wallStep;
  }

  /** When this process last resumed after a pause, on its monotonic clock. */
  long resumedMono() {
    return mono(resumed);
  }

  /** The true time in which the monotonic clock advances by that much. */
  long trueDelay(long monoDelay) {
    return monoDelay - (long) (monoDelay / (1e6 + ppm) * ppm);
  }

  /** Runs the action once the monotonic clock shows that time. */
  void atMono(long mono, Runnable action) {
    long delay = trueDelay(Math.max(0, mono - mono())) + 1;
    world.at(
        world.now + delay,
        () ->
            act(
                () -> {
                  if (mono() - mono < 0) {
                    atMono(mono, action); // It was suspended in between.
                  } else {
                    action.run();
                  }
                }));
  }

  /** A probe has read the clock of a node. */
  void clockRead(int node, long sentNanos, long micros) {
    heard(node, sentNanos, mono(), micros);
  }

  /** Why the node must not vote although its server is well; null if it may. */
  @Nullable String objection(int node, Probe probe) {
    return null;
  }

  // Running, paused, dead.

  /** Runs the action in this process, now or when it resumes. */
  void act(Runnable action) {
    if (!alive) {
      return;
    }
    if (world.now < pausedUntil || !deferred.isEmpty()) {
      deferred.add(action);
      drainLater();
      return;
    }
    action.run();
  }

  void soon(Runnable action) {
    world.at(world.now, () -> act(action));
  }

  private void drainLater() {
    if (!draining) {
      draining = true;
      world.at(Math.max(world.now + 1, pausedUntil), this::drain);
    }
  }

  private void drain() {
    draining = false;
    if (!alive) {
      deferred.clear();
      return;
    }
    if (world.now < pausedUntil) {
      drainLater();
      return;
    }
    Runnable next = deferred.poll();
    if (next != null) {
      next.run();
    }
    if (!deferred.isEmpty()) {
      drainLater();
    }
  }

  /** A thread of this process is paused for this time. */
  void threadStalls(long nanos) {
    resumed = Math.max(resumed, world.now + nanos);
  }

  void pause(long nanos) {
    world.fault(name, "paused for " + Scenario.ms(nanos));
    pausedUntil = Math.max(pausedUntil, world.now + nanos);
    world.disturbed(pausedUntil);
    resumed = Math.max(resumed, pausedUntil);
  }

  long pausedUntil() {
    return pausedUntil;
  }

  boolean isPaused() {
    return world.now < pausedUntil;
  }

  /** Pauses in the middle of a step, and continues with the rest of it. */
  void pauseInStep(long nanos, Runnable rest) {
    pause(nanos);
    deferred.addFirst(rest);
    drainLater();
  }

  /** The machine is suspended: its monotonic clock stops, its wall clock continues. */
  void suspend(long nanos) {
    world.fault(name, "suspended for " + Scenario.ms(nanos));
    world.trace.leavesTheModel();
    if (world.now < pausedUntil) {
      return;
    }
    pausedUntil = world.now + nanos;
    world.disturbed(pausedUntil);
    resumed = pausedUntil;
    suspended += nanos; // Until it resumes, only checks read its clock.
    suspendedNow = pausedUntil;
  }

  private long suspendedNow;

  /** The remaining validity that a caller would see now. */
  long remaining(HeldLease lease) {
    long at = Math.max(world.now, suspendedNow);
    // While it sleeps, no caller reads it; what counts is the value when it wakes up.
    return alive ? lease.remainingNanos(mono(at), wall(at)) : 0;
  }

  void stepWall(long millis) {
    world.fault(name, "wall clock steps by " + millis + " ms");
    wallStep += millis;
  }

  void crash(String how) {
    world.fault(name, how);
    alive = false;
    world.checker.clientGone(this);
    for (SimLink link : links) {
      link.close();
    }
  }

  // What the machines use.

  String name() {
    return name;
  }

  @Override
  public int count() {
    return links.length;
  }

  @Override
  public String name(int node) {
    return world.nodes[node].name;
  }

  @Override
  public NodeStatus status(int node) {
    return links[node].status();
  }

  @Override
  public RoundLimiter limiter() {
    return limiter;
  }

  @Override
  public ExtendQueue extensions() {
    return extensions;
  }

  @Override
  public NodeKnowledge knowledge(int node) {
    return knowledge[node];
  }

  @Override
  public void learn(int node, UnaryOperator<NodeKnowledge> change) {
    knowledge[node] = change.apply(knowledge[node]);
  }

  @Override
  public boolean tooManyReleasesPending() {
    return tooManyPending;
  }

  @Override
  public double next() {
    return world.rng.next();
  }

  @Override
  public String leaseId() {
    return name + "." + ++numbers;
  }

  // Locks.

  SimLock lock(int keySet) {
    SimLock lock = locks[keySet];
    if (lock == null) {
      LockKeys keys = world.scenario.keySets.get(keySet);
      lock = new SimLock(this, keys, keySet);
      locks[keySet] = lock;
      allLocks.add(lock);
    }
    return lock;
  }

  void retired(SimLock lock) {
    if (locks[lock.keySet] == lock) {
      locks[lock.keySet] = null;
    }
  }

  void statusChanged(int node) {
    told++;
    for (SimLock lock : allLocks) {
      lock.act((m, now, wall) -> m.onNodeStatus(node, now, wall));
    }
  }

  void invalidated(int node, String key) {
    told(key);
    if (world.tracing) {
      world.row(name, "invalidation of " + key + " from " + world.nodes[node].name);
    }
    tell(LockKeys.lockKeyOf(key), (m, now, wall) -> m.onInvalidation(node, key, now, wall));
  }

  private void tell(String lockKey, SimLock.Event event) {
    for (SimLock lock : locks) {
      if (lock != null && lock.covers(lockKey)) {
        lock.act(event);
      }
    }
  }

  /** Counts an invalidation. */
  final void told(String key) {
    told++;
    wakes += key.contains(":1:wake:") ? 1 : 0;
  }

  void allInvalidated(int node) {
    told++;
    for (SimLock lock : locks) {
      if (lock != null) {
        lock.act((m, now, wall) -> m.onInvalidation(node, lock.keys.lockKey(0), now, wall));
      }
    }
  }

  /** The lease of these names may be extended. */
  void admit(LockKeys keys) {
    soon(
        () -> {
          for (SimLock lock : locks) {
            if (lock != null && lock.keys.equals(keys)) {
              lock.act(LockMachine::onAdmitted);
            }
          }
        });
  }

  void hint(String lockKey) {
    told++;
    if (world.tracing) {
      world.row(name, "hint " + lockKey);
    }
    tell(lockKey, LockMachine::onReleaseHint);
  }

  /** An operator breaks or inspects this lock, as by the shell's {@code OperatorRequests}. */
  void operate(int keySet, boolean breaks) {
    LockKeys keys = world.scenario.keySets.get(keySet);
    if (breaks) {
      world.fault(name, "breaks " + keys);
    }
    LockRequest inspect = new LockRequest.Inspect(keys, true);
    Broadcast b =
        breaks ? Broadcast.breaking(this, keys, 0, mono()) : new Broadcast(this, inspect, mono());
    LockRequest request = b.send().request();
    for (SimLink link : links) {
      link.send(null, (e, node, r, reply) -> operated(b, node, r, reply), null, request);
    }
  }

  private void operated(Broadcast b, int node, LockRequest request, NodeReply reply) {
    answered(node, request, reply);
    b.onReply(node, reply, mono());
    if (request instanceof LockRequest.Break && reply.code().definite()) {
      String key = request.keys().lockKey(0);
      tell(key, (m, now, wall) -> m.onInvalidation(node, key, now, wall));
      tell(key, (m, now, wall) -> m.broken(b::hasEnded, now, wall));
    }
  }

  /** A node has replied to the request of an operator. */
  final void answered(int node, LockRequest request, NodeReply reply) {
    world.arrives(this, node, request, reply);
    world.coverage.count(request.getClass(), reply);
    told += request instanceof LockRequest.Break ? 1 : 0;
  }

  /** Stops the actions that this client begins by itself, because the faults have ended. */
  void stopWork() {}

  /** Begins something a moment before the close at the end. */
  void lastWork() {}

  /** Whether nothing waits any more; the callers are not counted. */
  boolean isSettled() {
    return true;
  }

  /** Checks that nothing waits any more. */
  void settle() {}

  /** Checks that a closed client has left nothing. */
  void requireNothingLeft() {}

  /** The name in the queues of the nodes. */
  String processName() {
    return name;
  }

  void close() {
    closing = true;
    for (SimLock lock : allLocks) {
      lock.act((m, now, wall) -> m.close(now, wall));
    }
  }
}
