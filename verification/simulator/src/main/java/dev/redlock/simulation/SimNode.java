package dev.redlock.simulation;

import dev.redlock.harness.model.NodeModel;
import dev.redlock.harness.model.RecordScript;
import dev.redlock.redis.internal.Probe;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.RestartGuard;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Set;

/** A server: the model, a clock that may be wrong, and its faults. */
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

  /** The number of starts of the server; connections to an earlier run are dead. */
  int run;

  /** Until when clients that know of the loss of its keys keep this node in quarantine. */
  long guardedUntil = Long.MIN_VALUE;

  /** Until when a client that has not seen the flush of this node would trust it wrongly. */
  long flushedUntil = Long.MIN_VALUE;

  private long offsetMicros;
  private final int ppm;

  /** The user of the clients has no permission for INFO. */
  final boolean refusesInfo;

  /** The user of the clients has no permission for the marker. */
  final boolean refusesMarker;

  /** When it was promoted, on its clock; 0 if it never was. */
  private long promotedMicros;

  private boolean replica;
  private long stepMicros;
  private boolean wasSet;
  private long startedMicros;
  private long markerMicros;

  /** What it stores about the node set; stays NONE in worlds without records. */
  private NodeRecord record = NodeRecord.NONE;

  private long pausedUntil;

  /** How long it works on each request, one after another; 0 in random worlds. */
  long workNanos;

  private final ArrayDeque<SimLink.Message> toDo = new ArrayDeque<>();
  private long downSince;
  private final ArrayDeque<SimLink.Message> held = new ArrayDeque<>();
  private boolean draining;

  /** The error that it replies to every request instead of executing it; null if it works. */
  private NodeError.Kind refusing;

  private long errsUntil;

  /** The key of the queue has another type. */
  boolean queuesNone;

  private boolean sick;
  private NodeModel checkpoint;
  private NodeRecord recordAtCheckpoint = NodeRecord.NONE;
  private final Set<String> scripts = new HashSet<>();
  private boolean scriptsForgotten;
  private final long[] expiryDue;

  SimNode(int index, World world) {
    this.index = index;
    this.world = world;
    Scenario s = world.scenario;
    name = s.nameOf(index);
    Rng rng = world.rng;
    offsetMicros = rng.between(-s.skewMicros, s.skewMicros);
    ppm = (int) rng.between(-s.nodePpm, s.nodePpm);
    model = newModel();
    checkpoint = model.copy();
    refusesInfo = s.isWide() && rng.chance(0.1);
    refusesMarker = s.isWide() && s.guard == RestartGuard.UPTIME && rng.chance(0.1) && !s.records;
    if (refusesInfo) {
      world.coverage.count("probe", "INFO refused");
    }
    if (refusesMarker) {
      world.coverage.count("probe", "marker refused");
    }
    boolean fresh = rng.chance(s.fresh);
    startedMicros = clock() - (fresh ? 3_000_000 : 3_600_000_000L);
    markerMicros = startedMicros;
    expiryDue = new long[Math.max(Checker.NAMES, s.keySets.size() + 2)];
  }

  private NodeModel newModel() {
    NodeModel m =
        new NodeModel(2 * world.scenario.longestNanos() / Scenario.MS + 60_000, id -> "#" + id);
    m.sendInvalidationsTo(this::invalidate);
    return m;
  }

  private void invalidate(long session, String lockKey) {
    SimLink.Connection c = world.connection(session);
    c.invalidate(lockKey);
  }

  long clock() {
    long micros = world.now / 1000;
    return BASE_MICROS + offsetMicros + micros + micros * ppm / 1_000_000 + stepMicros;
  }

  /** The true time at which this node's clock shows that value, if it is not stepped. */
  long trueTime(long micros) {
    long ahead = Math.max(0, micros - clock());
    return world.now + (ahead - ahead * ppm / (1_000_000 + ppm)) * 1000 + 1000;
  }

  /** What a probe of this server returns. */
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
            name + "-" + promotedMicros,
            0,
            false,
            "",
            0,
            "",
            promotedMicros != 0,
            0,
            0,
            "");
    Probe.Marker marker = marker();
    return new Probe(
        refusesInfo ? null : identity,
        refusesInfo,
        marker,
        null,
        marker == null ? 0 : marker.nowMicros(),
        false,
        promotedMicros == 0 ? 0 : Math.max(0, clock() - promotedMicros));
  }

  Probe.Marker marker() {
    if (refusesMarker) {
      return null;
    }
    if (markerMicros == 0) {
      markerMicros = clock();
    }
    return new Probe.Marker(markerMicros, clock(), record);
  }

  /** What it stores about the node set. */
  NodeRecord record() {
    return record;
  }

  /** It has this record from the beginning. */
  void store(NodeRecord given) {
    record = given;
    takeCheckpoint();
  }

  /**
   * Changes the record. All other connections that have read the marker get an invalidation.
   *
   * @param by the connection that gets the reply; null if there is none
   */
  NodeRecord change(NodeRecord.Change change, SimLink.Connection by) {
    long clock = clock();
    NodeRecord stored = markerMicros == 0 ? record : RecordScript.after(record, change, clock);
    if (!stored.equals(record)) {
      NodeRecord before = record;
      record = stored;
      if (change.kind() == NodeRecord.Change.Kind.FORGET) {
        markerMicros = 0; // It goes with the marker.
      }
      world.history.mix(clock * 31 + stored.epoch() * 7 + stored.floor());
      if (world.tracing) {
        world.row(name, "stores " + stored + ", floor " + stored.floor());
      }
      if (world.sets != null) {
        world.sets.stored(this, before, stored, by);
      }
      world.linksTo(this).forEach(link -> link.markerChanged(by));
    }
    return stored;
  }

  /** Why it cannot execute a change now; null if it can. */
  NodeError.Kind refusal() {
    if (refusing != null) {
      return refusing;
    }
    return world.faults && world.rng.chance(world.scenario.error)
        ? ERRORS[world.rng.below(ERRORS.length)]
        : null;
  }

  boolean isPaused() {
    return world.now < pausedUntil;
  }

  long pausedUntil() {
    return pausedUntil;
  }

  /** A request arrives; it waits while the server is paused. */
  void arrive(SimLink.Message m) {
    if (!up || m.connection.run != run) {
      m.connection.refusedByNode();
      return;
    }
    if (workNanos > 0) {
      toDo.add(m);
      if (toDo.size() == 1) {
        world.at(world.now + workNanos, this::work);
      }
      return;
    }
    if (isPaused() || draining) {
      held.add(m);
      drainLater();
      return;
    }
    execute(m);
  }

  private void work() {
    if (isPaused()) {
      world.at(pausedUntil + workNanos, this::work);
      return;
    }
    SimLink.Message m = toDo.remove();
    if (!toDo.isEmpty()) {
      world.at(world.now + workNanos, this::work);
    }
    if (up && m.connection.run == run) {
      execute(m);
    } else {
      m.connection.refusedByNode();
    }
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
    NodeReply reply = execute(m.request, m.connection, m.whole);
    m.connection.executed(m);
    m.connection.reply(m, reply);
  }

  /** From now on the node replies to every request with an error, or executes requests again. */
  void refuse(boolean refuses) {
    refusing = refuses ? NodeError.Kind.OUT_OF_MEMORY : null;
  }

  /** For this time the node replies to every request with the same error. */
  void err(long nanos) {
    refusing = ERRORS[world.rng.below(ERRORS.length)];
    world.fault(name, "answers " + refusing + " for " + Scenario.ms(nanos));
    errsUntil = world.now + nanos;
    world.at(
        errsUntil,
        () -> {
          if (world.now >= errsUntil && !sick) {
            getWell();
          }
        });
  }

  void getWell() {
    if (refusing != null) {
      world.fault(name, "answers no longer " + refusing);
      refusing = null;
    }
  }

  /** The reply to a trial, which checks whether the node works: an error, or null. */
  String tried() {
    if (refusing != null) {
      return refusing.name();
    }
    return world.faults && world.rng.chance(world.scenario.error) ? "for a moment" : null;
  }

  NodeReply execute(LockRequest request, SimLink.Connection c) {
    return execute(request, c, false);
  }

  private NodeReply execute(LockRequest request, SimLink.Connection c, boolean whole) {
    long clock = clock();
    if (refusing != null) {
      return failed(request, c, refusing, clock);
    }
    if (queuesNone && request instanceof LockRequest.Enqueue) {
      return failed(request, c, NodeError.Kind.FOREIGN_KEY, clock);
    }
    if (world.faults && world.rng.chance(world.scenario.error)) {
      return failed(request, c, ERRORS[world.rng.below(ERRORS.length)], clock);
    }
    if (scriptsForgotten && scripts.add(request.getClass().getSimpleName()) && !whole) {
      return failed(request, c, NodeError.Kind.NO_SCRIPT, clock);
    }
    return run(request, c, clock);
  }

  private NodeReply failed(
      LockRequest request, SimLink.Connection c, NodeError.Kind kind, long clock) {
    if (refusing == null) {
      world.disturbed(world.now); // One that errs for longer is a fault by itself.
    }
    boolean executed = kind == NodeError.Kind.REPLICAS;
    if (executed) {
      run(request, c, clock); // Executed, but too few replicas confirmed the write.
    }
    if (world.tracing) {
      world.row(name, kind + " to " + c.link.client.name() + " " + Describe.request(request));
    }
    return NodeReply.failed(c.number, new NodeError(kind, "simulated", !executed));
  }

  private NodeReply run(LockRequest request, SimLink.Connection c, long clock) {
    Checker checker = world.checker;
    checker.beforeExecution(this, request, clock);
    NodeReply reply = model.execute(request, c.session, c.number, clock);
    checker.afterExecution(this, c.link, request, reply, clock);
    world.history.mix(clock * 31 + reply.code().ordinal() + reply.fence());
    if (world.tracing) {
      world.row(
          name,
          Describe.reply(reply) + " to " + c.link.client.name() + " " + Describe.request(request));
    }
    if (reply.code() == Code.GRANTED
        || reply.code() == Code.EXTENDED
        || reply.code() == Code.REPAIRED) {
      watchExpiry(request.keys());
    }
    return reply;
  }

  /** Servers also expire keys that no client reads, but late. */
  private void watchExpiry(LockKeys keys) {
    for (int i = 0; i < keys.size(); i++) {
      watchExpiry(keys.lockKey(i), Checker.slot(keys.lockKey(i)));
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
    world.disturbed(pausedUntil);
    world.span(name, History.Kind.PAUSED, world.now, pausedUntil, 0, "");
  }

  /** Sets the initial error of this clock, before the first event. */
  void setClock(long micros) {
    offsetMicros = micros;
    startedMicros = clock() - 3_600_000_000L;
  }

  void step(long micros) {
    world.fault(name, "clock steps by " + micros / 1000 + " ms");
    stepMicros += micros;
    wasSet = true;
  }

  /** Whether its clock was ever set, even if it was corrected later. */
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
    recordAtCheckpoint = record;
  }

  /** How much of its data a server keeps in a crash. */
  enum Kept {
    ALL,
    NOTHING,
    ALL_BUT_THE_LAST_WRITES,
    /** A replica without the last writes is promoted at its address. */
    BY_A_REPLICA
  }

  /** The data that a server may keep when it starts again. */
  static final Kept[] KEPT_BY_A_SERVER = {Kept.ALL, Kept.NOTHING, Kept.ALL_BUT_THE_LAST_WRITES};

  void crash(Kept kept, long downNanos) {
    if (!up) {
      return;
    }
    world.coverage.count("crash", kept);
    world.fault(name, "crashes, keeps " + kept + ", down for " + Scenario.ms(downNanos));
    up = false;
    downSince = world.now;
    world.checker.nodeLost(this, kept);
    replica = kept == Kept.BY_A_REPLICA;
    switch (kept) {
      case ALL -> model.forgetSessions();
      case NOTHING -> {
        model = newModel();
        markerMicros = 0;
        record = NodeRecord.NONE;
      }
      case ALL_BUT_THE_LAST_WRITES, BY_A_REPLICA -> {
        model = checkpoint.copy();
        record = recordAtCheckpoint;
        model.sendInvalidationsTo(this::invalidate);
      }
    }
    if (kept != Kept.ALL) {
      world.trace.fails(this);
    }
    world.linksTo(this).forEach(SimLink::nodeGone);
    world.at(world.now + downNanos, this::restart);
  }

  /** A fault of a node that lasts until the end of the run. */
  enum Illness {
    DEAD,
    /** It does not run, but keeps its connections. */
    HUNG,
    ERRING
  }

  void fallSick(Illness illness) {
    sick = true;
    if (!up) {
      return;
    }
    switch (illness) {
      case DEAD -> crash(Kept.ALL, FOR_EVER);
      case HUNG -> pause(FOR_EVER);
      case ERRING -> err(FOR_EVER);
    }
  }

  /** Whether it replies to requests, and not with errors. */
  boolean works() {
    return up && !isPaused() && refusing == null;
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
    if (replica) {
      promotedMicros = clock(); // It has run for long.
    } else {
      startedMicros = clock();
    }
    scripts.clear();
    scriptsForgotten = false;
    guardedUntil = world.now + world.scenario.guardNanos() * 102 / 100;
    takeCheckpoint();
    if (world.sets != null) {
      world.sets.mistakes.comesBack(this);
    }
    world.fault(name, "is up again");
    world.span(name, History.Kind.DEAD, downSince, world.now, 0, "");
    world.span(name, History.Kind.QUARANTINED, world.now, guardedUntil, 0, "");
  }

  /** Another database of the server is flushed: the clients get the same invalidation. */
  void flushAnother() {
    world.fault(name, "another data base flushed");
    invalidateAll();
  }

  void flush() {
    world.fault(name, "flushed");
    world.checker.nodeLost(this, Kept.NOTHING);
    model.wipe();
    world.trace.fails(this);
    markerMicros = 0;
    record = NodeRecord.NONE;
    guardedUntil = world.now + world.scenario.guardNanos() * 102 / 100;
    world.span(name, History.Kind.QUARANTINED, world.now, guardedUntil, 0, "");
    flushedUntil = world.scenario.guard == RestartGuard.MARKER ? 0 : guardedUntil;
    invalidateAll();
  }

  private void invalidateAll() {
    for (SimLink link : world.linksTo(this)) {
      SimLink.Connection c = link.connection;
      if (c != null) {
        c.invalidate(null);
      }
      link.flushedWhileProbing();
    }
  }
}
