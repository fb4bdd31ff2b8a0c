package dev.redlock.simulation;

import dev.redlock.internal.protocol.ExtendQueue;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.RestartGuard;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * The world of a seed: clients, nodes, links and time. It runs on one thread. Every event comes
 * from the {@link Agenda}, and all randomness comes from the seed.
 *
 * <p>A run has four parts. First there are faults and work. Then the faults end, except that a
 * minority of the nodes stays dead, hung or erring; every other node must vote again, and every
 * waiter must get its reply. Then one client after another dies with a lock, and all others must
 * acquire it within a bound. At last all clients close, and no key may be left.
 */
final class World {
  /** Limit of events in a history for each node: a poll asks every node. */
  private static final int MAX_EVENTS = 6_000;

  private static final long STEP_NANOS = 100 * Scenario.MS;

  /** A heartbeat of the client, and more. */
  private static final long STABLE_NANOS = 600 * Scenario.MS;

  final Scenario scenario;
  final Rng rng;
  final History history = new History();
  final Coverage coverage;
  final Margins margins = new Margins();
  final Checker checker;
  final Trace trace;
  final SimNode[] nodes;

  /** The present process of each index; a fork adds one. */
  SimClient[] clients;

  /** Processes without callers, beside those with a number. */
  final List<SimClient> guests = new ArrayList<>();

  /** The set of nodes; null if it does not change. */
  final ChangingSet sets;

  /** Null in settings without this fault. */
  final Forks forks;

  final List<SimAck> acks = new ArrayList<>();
  final boolean tracing;

  long now;
  long events;
  long machineEvents;
  int wishes;
  boolean faults = true;
  boolean ending;
  private long lastStraggler;
  private long disturbedUntil;
  private long lastCopy;

  /** Probes do not show the nodes' clocks: the client learns them from its first round. */
  boolean clocksUnknown;

  private final Agenda agenda = new Agenda();
  private final List<SimLink.Connection> connections = new ArrayList<>();
  private int[] lives;

  /** How many processes have died. They may still be in queues. */
  private int died;

  /** Counts events in the given coverage, which several worlds may share. */
  static World of(long seed, Scenario.Setting setting, boolean tracing, Coverage coverage) {
    Rng rng = new Rng(seed);
    return new World(rng, new Scenario(setting, rng), tracing, coverage);
  }

  World(Rng rng, Scenario scenario, boolean tracing) {
    this(rng, scenario, tracing, new Coverage());
  }

  private World(Rng rng, Scenario scenario, boolean tracing, Coverage coverage) {
    this.tracing = tracing;
    this.coverage = coverage;
    this.rng = rng;
    this.scenario = scenario;
    nodes = new SimNode[scenario.nodes];
    checker = new Checker(this);
    trace = new Trace(this);
    for (int i = 0; i < nodes.length; i++) {
      nodes[i] = new SimNode(i, this);
    }
    sets = scenario.changesSets() ? new ChangingSet(this) : null;
    forks = scenario.changesSets() ? new Forks(this) : null;
    clients = new SimClient[scenario.clients];
    lives = new int[scenario.clients];
    for (int i = 0; i < clients.length; i++) {
      clients[i] = newClient(i, 0);
    }
  }

  private SimClient newClient(int index, int life) {
    return scenario.isShell()
        ? new ShellClient(index, life, this)
        : new SimClient(index, life, this);
  }

  void at(long time, Runnable what) {
    agenda.add(Math.max(time, now), rng.nextLong(), what);
  }

  long nextSession() {
    return connections.size();
  }

  void register(SimLink.Connection c) {
    connections.add(c);
  }

  SimLink.Connection connection(long session) {
    return connections.get((int) session);
  }

  Stream<SimClient> clients() {
    return Stream.concat(Arrays.stream(clients), List.copyOf(guests).stream());
  }

  /** The links with a connection to this server, in the order of the clients. */
  List<SimLink> linksTo(SimNode server) {
    return clients()
        .flatMap(client -> Arrays.stream(client.links))
        .filter(link -> link.leadsTo(server))
        .toList();
  }

  void row(String actor, String what) {
    if (tracing) {
      history.row(now, actor, what);
    }
  }

  /** The reply of this node has reached the client. */
  void arrives(SimClient client, int node, LockRequest request, NodeReply reply) {
    if (tracing) {
      row(
          client.name(),
          String.format("← %s %s to ", nodes[node].name, Describe.reply(reply))
              + Describe.request(request));
    }
  }

  /** A fault has an effect until that time. A fault without end begins now. */
  void disturbed(long until) {
    boolean lasts = until - now > 1_000 * Scenario.SECOND;
    disturbedUntil = Math.max(disturbedUntil, lasts ? now : until);
  }

  /** When the effect of the newest fault ended, or ends. */
  long disturbedUntil() {
    return disturbedUntil;
  }

  /** How many processes have died. */
  int died() {
    return died;
  }

  /** A request of a broken connection is in flight, and a node may execute it at that time. */
  void straggles(long at) {
    disturbed(at);
    lastStraggler = Math.max(lastStraggler, at);
  }

  /** A copy of a request arrives at that time. */
  void copied(long at) {
    lastCopy = Math.max(lastCopy, at);
  }

  /** Records a fault. Both texts are part of the digest. */
  void fault(String actor, String what) {
    disturbed(now);
    history.mix(actor.hashCode() * 31L + what.hashCode());
    row(actor, "** " + what);
    span(actor, History.Kind.FAULT, now, now, 0, what);
  }

  void span(String lane, History.Kind kind, long from, long to, long token, String what) {
    if (tracing) {
      history.span(lane, kind, from, to, token, what);
    }
  }

  void run() {
    for (SimClient client : clients) {
      client.start();
    }
    for (Scenario.Fault f : Scenario.Fault.values()) {
      if (scenario.every(f) > 0) {
        faultLater(f);
      }
    }
    if (scenario.every(Scenario.Fault.NODE_CRASH) > 0) {
      checkpointLater();
    }
    if (sets != null) {
      sets.begin();
      forks.begin();
    }
    while (!isFaultless()) {
      runUntil(Math.min(scenario.safetyNanos, now + 10 * Scenario.MS));
    }
    long healthy = repair();
    if (sets != null) {
      if (!sets.completes(healthy)) {
        return;
      }
      healthy = now;
      fallSick(sets.members());
      sets.mistakes.areCorrected(); // With a wrong node and a sick one, a list has no majority.
    }
    long quiet = healthy + scenario.guardNanos() * 102 / 100 + 12 * Scenario.SECOND;
    long waits = healthy + 2 * scenario.waitNanos + 12 * Scenario.SECOND;
    runUntil(Math.max(healthy, Math.min(quiet, Math.max(disturbedUntil, lastCopy))));
    await(Math.max(quiet, waits), this::isSettled);
    settled();
    if (scenario.isShell()) {
      runUntil(now + 2 * Scenario.SECOND); // Two heartbeats, which find what dead threads held.
      checker.requireNoneHeld();
    }
    finalRound();
    close();
  }

  /**
   * Runs until this time. Most events of a client as it ships are those of its heartbeat and of
   * links to sick nodes, so a small world ends earlier: when this has held for some time.
   */
  private void await(long time, BooleanSupplier holds) {
    if (scenario.isSmallShell()) {
      for (long since = now; now < time && now - since < STABLE_NANOS; ) {
        runUntil(Math.min(time, now + STEP_NANOS));
        since = holds.getAsBoolean() ? since : now;
      }
    } else {
      runUntil(time);
    }
  }

  void runUntil(long time) {
    while (agenda.size() > 0 && agenda.nextTime() <= time) {
      now = agenda.nextTime();
      boolean many = scenario.isShell() || scenario.thinkNanos < Scenario.MS / 10;
      int limit = MAX_EVENTS * Math.max(5, nodes.length) * (many ? 10 : 1);
      if (++events > limit) {
        throw new Violation("busy", "more than " + limit + " events");
      }
      try {
        agenda.take().run();
      } catch (SimThread.Killed e) {
        // The process of this event is gone.
      } catch (RuntimeException | AssertionError e) {
        failed(e);
      }
      if (!threads.isEmpty()) {
        wakeThreads();
      }
      if (failure != null) {
        throwFailure();
      }
    }
    now = Math.max(now, time); // An event may have run this loop for a longer time.
  }

  // Simulated threads, and shells that continue after an exception.

  private final List<SimThread> threads = new ArrayList<>();
  private int threadNumber;
  private Throwable failure;

  /** A rule is broken; the run ends with the first failure, even if the shell swallows it. */
  void failed(Throwable e) {
    if (failure == null) {
      failure = e;
    }
  }

  private void throwFailure() {
    if (failure instanceof AssertionError e) {
      throw e;
    }
    throw (RuntimeException) failure;
  }

  /** Runs the next event, or advances the time to this one if there is none before. */
  void step(long limit) {
    runUntil(agenda.size() == 0 ? limit : Math.min(limit, Math.max(now, agenda.nextTime())));
  }

  boolean isIdle() {
    return agenda.size() == 0;
  }

  int threadNumber() {
    return ++threadNumber;
  }

  void add(SimThread thread) {
    threads.add(thread);
  }

  private void wakeThreads() {
    for (int i = threads.size() - 1; i >= 0; i--) {
      SimThread thread = threads.get(i);
      if (thread.isOver()) {
        threads.remove(i);
      } else {
        thread.wakeIfDone();
      }
    }
  }

  /** Ends the threads that have not ended, when the world does. */
  void endThreads() {
    List.copyOf(threads).forEach(SimThread::kill);
    threads.clear();
  }

  // Faults.

  /** Whether the part with faults is over, or must end. */
  boolean isFaultless() {
    return !faults || events >= scenario.safetyEvents || now >= scenario.safetyNanos;
  }

  private void faultLater(Scenario.Fault f) {
    long every = scenario.every(f);
    at(
        now + rng.between(1, 2 * every),
        () -> {
          if (faults) {
            strike(f);
            faultLater(f);
          }
        });
  }

  private void checkpointLater() {
    at(
        now + rng.between(1, scenario.safetyNanos / 4),
        () -> {
          if (faults) {
            SimNode node = nodes[rng.below(nodes.length)];
            if (node.up) {
              node.takeCheckpoint();
            }
            checkpointLater();
          }
        });
  }

  private void strike(Scenario.Fault f) {
    SimNode node = nodes[rng.below(nodes.length)];
    SimClient client = clients[rng.below(clients.length)];
    if (!client.alive) {
      return;
    }
    coverage.count("fault", f);
    disturbed(now);
    switch (f) {
      case RESET -> client.links[node.index].reset();
      case STALL -> client.links[node.index].stall(rng.spread(Scenario.MS, 7 * Scenario.SECOND));
      case NODE_CRASH -> {
        if (sets == null) {
          crash(node);
        } else {
          sets.crash(node);
        }
      }
      case NODE_PAUSE -> node.pause(rng.spread(Scenario.MS, 3 * Scenario.SECOND));
      case NODE_STEP -> step(node);
      case CLIENT_PAUSE -> client.pause(rng.spread(Scenario.MS, 3 * scenario.ttlNanos));
      case CLIENT_SUSPEND -> client.suspend(rng.spread(Scenario.MS, 3 * scenario.ttlNanos));
      case CLIENT_CRASH -> replace(client, "crashes");
      case CLIENT_CLOSE -> shutDown(client);
      case WALL_STEP -> {
        long limit = scenario.ttlNanos / Scenario.MS;
        client.stepWall(rng.between(scenario.walksBack ? -limit : 0, limit));
      }
      case SCRIPT_FLUSH -> node.forgetScripts();
      case NODE_ERRS -> node.err(rng.spread(Scenario.MS, 10 * Scenario.SECOND));
      case FLUSH -> flush(node);
      case EVICT -> evict(node);
      case FALSE_HINT -> {
        LockKeys keys = scenario.keySets.get(rng.below(scenario.keySets.size()));
        int from = rng.below(nodes.length + 1) - 1;
        boolean turn = rng.chance(0.5);
        String key = turn ? keys.wakeKey(keys.member(client.processName())) : keys.lockKey(0);
        client.act(
            () -> {
              if (from < 0) {
                client.hint(keys.lockKey(0));
              } else {
                client.invalidated(from, key);
              }
            });
      }
      case BREAK -> operate(client, true);
      case INSPECT -> operate(client, false);
    }
  }

  private void crash(SimNode node) {
    SimNode.Kept kept = rng.pick(SimNode.KEPT_BY_A_SERVER);
    if (scenario.isWide() && rng.chance(0.3)) {
      kept = SimNode.Kept.BY_A_REPLICA;
    }
    node.crash(
        kept,
        rng.chance(0.5)
            ? rng.between(1, 5 * Scenario.MS)
            : rng.spread(Scenario.MS, 10 * Scenario.SECOND));
  }

  /** A step forward expires keys early and hides that a server is young: only where allowed. */
  private void step(SimNode node) {
    long limit = Math.max(1, scenario.stepMicros() - scenario.skewMicros);
    long micros = rng.between(-limit, limit) - node.stepped(); // A quorum must stay within 4 s.
    if (scenario.setting != Scenario.Setting.FORGETFUL && micros > 0 && !mayForgetAll(node)) {
      return;
    }
    if (scenario.changesSets() && micros > 0) {
      return; // The rule above knows one set only.
    }
    if (now < node.guardedUntil) {
      if (!scenario.isWide() || micros > 0) {
        // If the clock is set forward, a new client would take the server for older than it is.
        return;
      }
      coverage.count("step", "in quarantine");
    }
    coverage.count("step", Math.abs(micros) > 1_000_000 ? "by more than 1 s" : "by less");
    node.step(micros);
    trace.fails(node);
  }

  private boolean mayForgetAll(SimNode node) {
    for (LockKeys keys : scenario.keySets) {
      for (int i = 0; i < keys.size(); i++) {
        if (!checker.mayForget(node, keys.lockKey(i))) {
          return false;
        }
      }
    }
    return true;
  }

  /** A client that connects for the first time cannot detect an earlier flush: not promised. */
  private void flush(SimNode node) {
    if (node.refusesMarker) {
      return; // No client could detect it.
    }
    if (rng.chance(0.2)) {
      node.flushAnother();
      return;
    }
    if (scenario.isWide() && rng.chance(0.5)) {
      flushAtProbe = node; // While the reply to a probe is on its way.
      rng.pick(clients).links[node.index].reset();
      return;
    }
    flushIfSeen(node);
  }

  private SimNode flushAtProbe;

  /** The node has answered a probe, and the reply arrives after this time. */
  void probed(SimNode node, long delayNanos) {
    if (flushAtProbe == node) {
      flushAtProbe = null;
      at(
          now + rng.between(0, delayNanos),
          () -> {
            if (faults) {
              flushIfSeen(node);
            }
          });
    }
  }

  private void flushIfSeen(SimNode node) {
    for (SimClient client : clients) {
      if (scenario.guard != RestartGuard.MARKER
          && (!client.alive || !client.links[node.index].wouldSeeFlush())) {
        return;
      }
    }
    node.flush();
  }

  private void evict(SimNode node) {
    LockKeys keys = scenario.keySets.get(rng.below(scenario.keySets.size()));
    String key = keys.lockKey(0);
    boolean outside = scenario.setting == Scenario.Setting.FORGETFUL;
    if (node.up && (outside || checker.mayForget(node, key))) {
      fault(node.name, "loses " + key);
      node.model.delete(key);
      trace.fails(node);
      if (rng.chance(0.3)) {
        node.model.deleteFence(key);
        checker.fenceEvicted(node, keys.names().get(0));
      }
    }
  }

  void replace(SimClient client, String how) {
    client.crash(how);
    bury(client);
  }

  private void bury(SimClient client) {
    died++;
    for (SimUser user : client.users) {
      user.die();
    }
    at(now + rng.spread(Scenario.MS, Scenario.SECOND), () -> born(client.index));
  }

  private void born(int index) {
    for (SimNode node : nodes) {
      if (now < node.flushedUntil) {
        at(node.flushedUntil, () -> born(index)); // It could not detect the flush.
        return;
      }
    }
    SimClient next = newClient(index, ++lives[index]);
    clients[index] = next;
    row(next.name(), "starts");
    next.start();
  }

  /** A process starts from a memory image of this one, which continues. */
  void fork(ShellClient image) {
    int index = clients.length;
    ShellClient copy = new ShellClient(index, this, image);
    clients = Arrays.copyOf(clients, index + 1);
    lives = Arrays.copyOf(lives, index + 1);
    clients[index] = copy;
    fault(copy.name(), "starts as a copy of " + image.name());
    copy.start();
  }

  private void shutDown(SimClient client) {
    if (client.closing || client.isPaused()) {
      return;
    }
    fault(client.name(), "closes");
    client.close();
    at(
        now + client.closeNanos(),
        () -> {
          if (client.alive) {
            client.crash("is closed");
            bury(client);
          }
        });
  }

  private void operate(SimClient client, boolean breaks) {
    int keySet = rng.below(scenario.keySets.size());
    client.act(() -> client.operate(keySet, breaks));
  }

  void broadcast(SimClient from, LockKeys keys) {
    for (SimClient client : clients) {
      if (client != from && !rng.chance(0.2)) {
        for (int copies = rng.chance(0.1) ? 2 : 1; copies > 0; copies--) {
          at(
              now + scenario.delayNanos + rng.between(0, 2 * scenario.jitterNanos),
              () -> client.act(() -> client.hint(keys.lockKey(0))));
        }
      }
    }
  }

  // The second part.

  /** Whether the faults are over, and every node works. */
  boolean isHealthy() {
    for (SimNode node : nodes) {
      if (node.isSick()) {
        return false;
      }
    }
    return !faults;
  }

  /** Ends all faults except in a minority of the nodes; returns when the last pause ends. */
  private long repair() {
    row("world", "faults end");
    faults = false;
    ending = true;
    if (sets == null) {
      fallSick(List.of(nodes));
    } else {
      sets.networkWorks();
    }
    for (SimClient client : clients) {
      client.stopWork();
    }
    if (scenario.isWide()) {
      setClocks();
    }
    long latest = now;
    for (SimNode node : nodes) {
      if (!node.isSick()) {
        node.restart();
        node.getWell();
        latest = Math.max(latest, node.pausedUntil());
      }
    }
    for (SimClient client : clients) {
      latest = Math.max(latest, client.pausedUntil());
    }
    return latest;
  }

  /** A minority. */
  private void fallSick(List<SimNode> of) {
    int sick = rng.below((of.size() - 1) / 2 + 1);
    int first = rng.below(of.size());
    for (int i = 0; i < sick; i++) {
      SimNode.Illness illness = rng.pick(SimNode.Illness.values());
      coverage.count("illness", illness);
      of.get((first + i) % of.size()).fallSick(illness);
    }
  }

  /** Whether clients need its vote at the end. */
  private boolean counts(SimNode node) {
    return !node.isSick() && (sets == null || sets.isMember(node));
  }

  /** Sets clocks back that differ by more than a quorum tolerates. Keys then live longer. */
  private void setClocks() {
    long slowest = Long.MAX_VALUE;
    for (SimNode node : nodes) {
      slowest = Math.min(slowest, node.clock());
    }
    for (SimNode node : nodes) {
      long ahead = node.clock() - slowest - 1_000_000; // Their rates differ too.
      if (ahead > 0) {
        node.step(-ahead);
        trace.fails(node);
      }
    }
  }

  private boolean isSettled() {
    for (SimNode node : nodes) {
      if (now < node.flushedUntil) {
        return false; // A new process could not start.
      }
    }
    for (SimClient client : clients) {
      if (!client.isSettled() || !allVoteFor(client)) {
        return false;
      }
    }
    return areAnswered();
  }

  private boolean allVoteFor(SimClient client) {
    for (SimNode node : nodes) {
      if (counts(node) && !client.links[node.index].isVoting()) {
        return false;
      }
    }
    return true;
  }

  /** Also when a new process has taken the place of each that died. */
  private boolean areAnswered() {
    for (SimClient client : clients) {
      if (!client.alive) {
        return false;
      }
      for (SimUser user : client.users) {
        if (!user.isAnswered()) {
          return false;
        }
      }
    }
    return true;
  }

  private void settled() {
    row("world", "every waiter must have its reply");
    for (SimClient client : clients) {
      client.settle();
    }
    for (SimClient client : clients) {
      for (SimNode node : nodes) {
        if (counts(node) && !client.links[node.index].isVoting()) {
          throw new Violation(
              "liveness",
              String.format("%s does not vote for %s ", node.name, client.name())
                  + client.links[node.index].status());
        }
      }
    }
    for (SimClient client : clients) {
      for (SimUser user : client.users) {
        user.requireAnswered();
      }
      client.users.forEach(SimUser::releaseNow);
    }
  }

  /** A client dies with the lock; the others get it within its lease time and a bound. */
  private void finalRound() {
    long bound =
        scenario.ttlNanos * 102 / 100
            + clients.length * scenario.options.minimumHold().toNanos()
            + 3 * Scenario.SECOND;
    // Dead processes that queued at another home node are passed over one by one, with each poll.
    long queued =
        scenario.isWide() || scenario.isShell()
            ? 2L * died * scenario.options.pollInterval().toNanos()
            : 0;
    // The lease of a process that died may be a longer one (seed 188456 of SHELL_SETS).
    long patience =
        3 * Scenario.SECOND
            + queued
            + (scenario.longer == null ? 0 : scenario.longestNanos() * 102 / 100);
    int sets = scenario.keySets.size();
    boolean one = scenario.isSmallShell(); // The worlds are many.
    int first = one ? rng.below(sets) : 0;
    for (int set = first; set < (one ? first + 1 : sets); set++) {
      int keySet = set;
      SimClient doomed = clients[rng.below(clients.length)];
      doomed.users.get(0).dieWith(keySet, patience);
      for (long end = now + Scenario.SECOND + patience; doomed.alive && now < end; ) {
        runUntil(now + Scenario.MS);
      }
      doomed.users.get(0).requireAnswered();
      // In fair mode the home node decides, so a late request of the dead client delays the others.
      long late =
          queued
              + guardOfNewClients()
              + (scenario.options.fair() ? Math.max(0, lastStraggler - now) : 0);
      for (SimClient client : clients) {
        client.soon(() -> client.users.get(0).wish(true, keySet, bound + late));
      }
      await(now + bound + late + scenario.ttlNanos, this::areAnswered);
      for (SimClient client : clients) {
        client.users.get(0).requireAnswered();
      }
    }
  }

  /** A client that has just started treats a server that refuses INFO like one that restarted. */
  private long guardOfNewClients() {
    for (SimNode node : nodes) {
      if (node.refusesInfo) {
        return scenario.guardNanos() * 102 / 100 + Scenario.SECOND;
      }
    }
    return 0;
  }

  private void close() {
    row("world", "all close");
    for (SimClient client : clients) {
      if (scenario.isShell()) {
        client.soon(client::lastWork);
        at(now + rng.spread(10_000, 50 * Scenario.MS), () -> client.act(client::close));
      } else {
        client.soon(client::close);
      }
    }
    runUntil(now + 2 * scenario.ttlNanos + 15 * Scenario.SECOND);
    for (SimClient client : clients) {
      for (SimLock lock : client.allLocks) {
        LockMachine m = lock.machine;
        if (!m.mayRetire(client.mono())) {
          throw new Violation("leftover", client.name() + " is not idle after close " + lock.keys);
        }
      }
      if (client.alive && client.limiter().underWay() != 0) {
        throw new Violation("limiter", client.name() + " counts rounds that have ended");
      }
      ExtendQueue extensions = client.extensions();
      if (client.alive && extensions.underWay() + extensions.waiting() != 0) {
        throw new Violation("limiter", client.name() + " counts extensions that have ended");
      }
    }
    for (SimClient client : clients) {
      client.requireNothingLeft();
    }
    checker.atEnd();
    for (SimAck ack : acks) {
      if (!ack.isSettled() && ack.isAlive()) {
        throw new Violation("ack", ack + " was never settled");
      }
    }
    if (wishes != 0) {
      throw new Violation("once", wishes + " callers never got a reply");
    }
  }
}
