package dev.redlock.simulation;

import dev.redlock.internal.memory.NodeModel;
import dev.redlock.lettuce.internal.Probe;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import dev.redlock.spi.RestartGuard;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;

/** A server: the model, a clock that may be wrong, and ways to fail. */
final class SimNode {
  private static final long BASE_MICROS = 1_760_000_000_000_000L;
  private static final long FOR_EVER = 1_000_000 * Scenario.SECOND;
  private static final NodeError.Kind[] ERRORS = {
    NodeError.Kind.OUT_OF_MEMORY,
    NodeError.Kind.READONLY,
    NodeError.Kind.LOADING,
    NodeError.Kind.BUSY,
    NodeError.Kind.NO_PERMISSION,
    NodeError.Kind.REPLICAS
  };

  final int index;
  final String name;
  final World world;
  NodeModel model;
  boolean up = true;

  /** Counts runs of the server: connections to an earlier run are dead. */
  int run;

  /** Until when this node is kept out by those who know that it lost its keys. */
  long guardedUntil = Long.MIN_VALUE;

  /** Until when whoever has not seen that this node was flushed would be misled. */
  long flushedUntil = Long.MIN_VALUE;

  private long offsetMicros;
  private final int ppm;
  private long stepMicros;
  private boolean wasSet;
  private long startedMicros;
  private long markerMicros;
  private long pausedUntil;
  private long downSince;
  private final ArrayDeque<SimLink.Message> held = new ArrayDeque<>();
  private boolean draining;
  private boolean refusing;
  private boolean sick;
  private NodeModel checkpoint;
  private final Set<String> scripts = new HashSet<>();
  private boolean scriptsForgotten;
  private final long[] expiryDue;

  SimNode(int index, World world) {
    this.index = index;
    this.world = world;
    name = "n" + (index + 1);
    Scenario s = world.scenario;
    Rng rng = world.rng;
    offsetMicros = rng.between(-s.skewMicros, s.skewMicros);
    ppm = (int) rng.between(-s.nodePpm, s.nodePpm);
    model = newModel();
    checkpoint = model.copy();
    boolean fresh = rng.chance(s.fresh);
    startedMicros = clock() - (fresh ? 3_000_000 : 3_600_000_000L);
    markerMicros = startedMicros;
    expiryDue = new long[s.keySets.size() + 2];
  }

  private NodeModel newModel() {
    NodeModel m =
        new NodeModel(2 * world.scenario.maxLeaseNanos / Scenario.MS + 60_000, id -> "#" + id);
    m.pushTo(this::push);
    return m;
  }

  private void push(long session, String lockKey) {
    SimLink.Connection c = world.connection(session);
    c.push(lockKey);
  }

  long clock() {
    long micros = world.now / 1000;
    return BASE_MICROS + offsetMicros + micros + micros * ppm / 1_000_000 + stepMicros;
  }

  /** True time at which this node's clock shows that, were it not stepped. */
  long trueTime(long micros) {
    long ahead = Math.max(0, micros - clock());
    return world.now + (ahead - ahead * ppm / (1_000_000 + ppm)) * 1000 + 1000;
  }

  /** What a client is told that looks at this server. */
  Probe probe() {
    long uptime = (clock() - startedMicros) / 1_000_000;
    NodeIdentity identity =
        new NodeIdentity(
            name + "-" + run,
            "redis",
            "7",
            uptime,
            "master",
            false,
            "noeviction",
            name,
            0,
            false,
            "",
            0,
            "");
    return new Probe(identity, marker());
  }

  Probe.Marker marker() {
    if (markerMicros == 0) {
      markerMicros = clock();
    }
    return new Probe.Marker(world.scenario.maxLeaseNanos / Scenario.MS, markerMicros, clock());
  }

  boolean isPaused() {
    return world.now < pausedUntil;
  }

  long pausedUntil() {
    return pausedUntil;
  }

  /** A request has come in; it waits its turn while the server does not run. */
  void arrive(SimLink.Message m) {
    if (!up || m.connection.run != run) {
      m.connection.refusedByNode();
      return;
    }
    if (isPaused() || draining) {
      held.add(m);
      drainLater();
      return;
    }
    execute(m);
  }

  private void drainLater() {
    if (!draining) {
      draining = true;
      world.at(pausedUntil, this::drain);
    }
  }

  private void drain() {
    draining = false;
    if (isPaused()) {
      drainLater();
      return;
    }
    SimLink.Message m = held.poll();
    if (m == null) {
      return;
    }
    if (!held.isEmpty()) {
      draining = true;
      world.at(world.now + 1, this::drain);
    }
    if (up && m.connection.run == run) {
      execute(m);
    } else {
      m.connection.refusedByNode();
    }
  }

  private void execute(SimLink.Message m) {
    NodeReply reply = execute(m.request, m.connection);
    m.connection.executed(m);
    m.connection.reply(m, reply);
  }

  /** From now on every request is answered with an error, and not executed; or no longer. */
  void refuse(boolean refuses) {
    refusing = refuses;
  }

  NodeReply execute(LockRequest request, SimLink.Connection c) {
    long clock = clock();
    if (refusing) {
      return failed(request, c, NodeError.Kind.OUT_OF_MEMORY);
    }
    if (world.faults && world.rng.chance(world.scenario.error)) {
      NodeError.Kind kind = ERRORS[world.rng.below(ERRORS.length)];
      if (kind != NodeError.Kind.REPLICAS) {
        return failed(request, c, kind);
      }
      run(request, c, clock); // Executed, but not to the caller's liking.
      return failed(request, c, kind);
    }
    if (scriptsForgotten && scripts.add(request.getClass().getSimpleName())) {
      return failed(request, c, NodeError.Kind.NO_SCRIPT);
    }
    return run(request, c, clock);
  }

  private NodeReply failed(LockRequest request, SimLink.Connection c, NodeError.Kind kind) {
    if (world.tracing) {
      world.row(name, kind + " to " + c.link.client.name() + " " + Describe.request(request));
    }
    return NodeReply.failed(c.number, kind, "simulated");
  }

  private NodeReply run(LockRequest request, SimLink.Connection c, long clock) {
    Checker checker = world.checker;
    checker.beforeExecution(this, request, clock);
    NodeReply reply = model.execute(request, c.session, c.number, clock);
    checker.afterExecution(this, request, reply, clock);
    world.history.mix(clock * 31 + reply.code().ordinal() + reply.fence());
    if (world.tracing) {
      world.row(
          name,
          Describe.reply(reply) + " to " + c.link.client.name() + " " + Describe.request(request));
    }
    if (reply.code() == ReplyCode.GRANTED
        || reply.code() == ReplyCode.EXTENDED
        || reply.code() == ReplyCode.REPAIRED) {
      watchExpiry(request.keys());
    }
    return reply;
  }

  /** Servers expire what nobody reads as well, but late. */
  private void watchExpiry(LockKeys keys) {
    for (int i = 0; i < keys.size(); i++) {
      watchExpiry(keys.lockKey(i), keys.lockKey(i).charAt(9) - 'a');
    }
  }

  private void watchExpiry(String key, int slot) {
    if (expiryDue[slot] > world.now) {
      return;
    }
    long late = world.rng.chance(0.3) ? world.rng.between(0, 100) * Scenario.MS : 0;
    long due = trueTime((model.expiresMillis(key) + 1) * 1000) + late;
    expiryDue[slot] = due;
    world.at(
        due,
        () -> {
          if (!up) {
            return;
          }
          if (isPaused()) {
            expiryDue[slot] = pausedUntil;
            world.at(pausedUntil, () -> expired(key, slot));
          } else {
            expired(key, slot);
          }
        });
  }

  private void expired(String key, int slot) {
    model.expireAll(clock());
    if (model.owner(key, clock()) != null) {
      expiryDue[slot] = 0;
      watchExpiry(key, slot);
    }
  }

  // Faults.

  void pause(long nanos) {
    world.fault(name, "paused for " + Scenario.ms(nanos));
    pausedUntil = Math.max(pausedUntil, world.now + nanos);
    world.span(name, History.Kind.PAUSED, world.now, pausedUntil, 0, "");
  }

  /** Before anything has happened: how far this clock is from the others. */
  void setClock(long micros) {
    offsetMicros = micros;
    startedMicros = clock() - 3_600_000_000L;
  }

  void step(long micros) {
    world.fault(name, "clock steps by " + micros / 1000 + " ms");
    stepMicros += micros;
    wasSet = true;
  }

  /** Whether its clock was ever set, also if it was set right again. */
  boolean wasSet() {
    return wasSet;
  }

  long stepped() {
    return stepMicros;
  }

  void forgetScripts() {
    world.fault(name, "scripts flushed");
    scriptsForgotten = true;
    scripts.clear();
  }

  void takeCheckpoint() {
    checkpoint = model.copy();
  }

  /** How much of its data a server has after a crash. */
  enum Kept {
    ALL,
    NOTHING,
    ALL_BUT_THE_LAST_WRITES
  }

  void crash(Kept kept, long downNanos) {
    if (!up) {
      return;
    }
    world.fault(name, "crashes, keeps " + kept + ", down for " + Scenario.ms(downNanos));
    up = false;
    downSince = world.now;
    world.checker.nodeLost(this, kept);
    switch (kept) {
      case ALL -> model.forgetSessions();
      case NOTHING -> {
        model = newModel();
        markerMicros = 0;
      }
      case ALL_BUT_THE_LAST_WRITES -> {
        model = checkpoint.copy();
        model.pushTo(this::push);
      }
    }
    for (SimClient client : world.clients) {
      client.links[index].nodeGone();
    }
    world.at(world.now + downNanos, this::restart);
  }

  /** From now on, for good, it is dead, or runs no more but keeps its connections. */
  void fallSick(boolean hangs) {
    sick = true;
    if (hangs && up) {
      pause(FOR_EVER);
    } else if (up) {
      crash(Kept.ALL, FOR_EVER);
    }
  }

  boolean isSick() {
    return sick;
  }

  void restart() {
    if (up || sick) {
      return;
    }
    up = true;
    run++;
    pausedUntil = 0;
    startedMicros = clock();
    scripts.clear();
    scriptsForgotten = false;
    guardedUntil = world.now + world.scenario.guardNanos() * 102 / 100;
    checkpoint = model.copy();
    world.fault(name, "is up again");
    world.span(name, History.Kind.DEAD, downSince, world.now, 0, "");
    world.span(name, History.Kind.QUARANTINED, world.now, guardedUntil, 0, "");
  }

  /** Another data base of the server is flushed: the clients are told the same. */
  void flushAnother() {
    world.fault(name, "another data base flushed");
    pushFlush();
  }

  void flush() {
    world.fault(name, "flushed");
    world.checker.nodeLost(this, Kept.NOTHING);
    model.wipe();
    markerMicros = 0;
    guardedUntil = world.now + world.scenario.guardNanos() * 102 / 100;
    world.span(name, History.Kind.QUARANTINED, world.now, guardedUntil, 0, "");
    flushedUntil = world.scenario.guard == RestartGuard.MARKER ? 0 : guardedUntil;
    pushFlush();
  }

  private void pushFlush() {
    for (SimClient client : world.clients) {
      SimLink.Connection c = client.links[index].connection;
      if (c != null) {
        c.push(null);
      }
    }
  }
}
