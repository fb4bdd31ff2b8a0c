package dev.redlock.simulation;

import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.NodeKnowledge;
import dev.redlock.internal.protocol.Nodes;
import dev.redlock.internal.protocol.Pace;
import dev.redlock.internal.protocol.Randomness;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * One process: its clocks, its links, its locks and those who use them. Nothing happens in it while
 * it is paused; what came meanwhile happens when it goes on.
 */
final class SimClient implements Nodes, Randomness {
  final int index;
  final int life;
  final World world;
  final SimLink[] links;
  final NodeKnowledge[] knowledge;
  final Pace pace;
  final SimLock[] locks;
  final List<SimLock> allLocks = new ArrayList<>();
  final List<SimUser> users = new ArrayList<>();
  boolean alive = true;
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
  private int ids;

  /** How many questions were put for the lock, to the door alone or to all. */
  int rounds;

  SimClient(int index, int life, World world) {
    this.index = index;
    this.life = life;
    this.world = world;
    name = (char) ('A' + index) + (life == 0 ? "" : Integer.toString(life));
    Rng rng = world.rng;
    monoOffset = rng.between(-1L << 40, 1L << 52);
    wallOffset = 1_760_000_000_000L + rng.between(-3_600_000, 3_600_000);
    ppm = (int) rng.between(-world.scenario.clientPpm, world.scenario.clientPpm);
    int n = world.nodes.length;
    links = new SimLink[n];
    knowledge = new NodeKnowledge[n];
    int most = world.scenario.roundsAtOnce;
    pace = new Pace(most, most);
    for (int i = 0; i < n; i++) {
      knowledge[i] = new NodeKnowledge();
      links[i] = new SimLink(this, world.nodes[i]);
    }
    locks = new SimLock[world.scenario.keySets.size()];
  }

  void start() {
    for (SimLink link : links) {
      link.connect();
    }
    for (int i = 0; i < world.scenario.users; i++) {
      SimUser user = new SimUser(this, i);
      users.add(user);
      user.think();
    }
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

  /** When this process last went on after a pause, on its monotonic clock. */
  long resumedMono() {
    return mono(resumed);
  }

  /** True time until the monotonic clock shows that much more. */
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

  // Running, paused, dead.

  /** Something happens in this process, now or as soon as it runs again. */
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

  void pause(long nanos) {
    world.fault(name, "paused for " + Scenario.ms(nanos));
    pausedUntil = Math.max(pausedUntil, world.now + nanos);
    resumed = Math.max(resumed, pausedUntil);
  }

  long pausedUntil() {
    return pausedUntil;
  }

  boolean isPaused() {
    return world.now < pausedUntil;
  }

  /** Stops in the middle of something, and goes on with it. */
  void pauseInStep(long nanos, Runnable rest) {
    pause(nanos);
    deferred.addFirst(rest);
    drainLater();
  }

  /** The machine sleeps: its monotonic clock stands still, its wall clock goes on. */
  void suspend(long nanos) {
    world.fault(name, "suspended for " + Scenario.ms(nanos));
    if (world.now < pausedUntil) {
      return;
    }
    pausedUntil = world.now + nanos;
    resumed = pausedUntil;
    suspended += nanos; // Nothing reads the clock of a process until it goes on, but for checks.
    suspendedNow = pausedUntil;
  }

  private long suspendedNow;

  /** What a user who looks at the lease now is told is left of it. */
  long remaining(HeldLease lease) {
    long at = Math.max(world.now, suspendedNow);
    // While asleep nobody looks; what counts is what they see when it wakes up.
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

  // What the machines are given.

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
  public Pace pace() {
    return pace;
  }

  @Override
  public NodeKnowledge knowledge(int node) {
    return knowledge[node];
  }

  @Override
  public double next() {
    return world.rng.next();
  }

  @Override
  public String leaseId() {
    return name + "." + ++ids;
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
    for (SimLock lock : allLocks) {
      lock.act((m, now, wall) -> m.onNodeStatus(node, now, wall));
    }
  }

  void hint(int node, String lockKey) {
    if (world.tracing) {
      world.row(name, "hint " + lockKey + (node < 0 ? "" : " from " + world.nodes[node].name));
    }
    for (SimLock lock : locks) {
      if (lock != null && lock.covers(lockKey)) {
        lock.act((m, now, wall) -> m.onHint(node, now, wall));
      }
    }
  }

  void hintAll(int node) {
    for (SimLock lock : locks) {
      if (lock != null) {
        lock.act((m, now, wall) -> m.onHint(node, now, wall));
      }
    }
  }

  void close() {
    closing = true;
    for (SimLock lock : allLocks) {
      lock.act((m, now, wall) -> m.close(now, wall));
    }
  }
}
