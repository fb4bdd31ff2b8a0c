package dev.redlock.simulation;

import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.RestartGuard;
import java.util.ArrayList;
import java.util.List;

/**
 * A seed's world: clients, nodes, links and time. One thread; everything that happens is taken from
 * the {@link Agenda}, and all chance comes from the seed.
 *
 * <p>A run has three parts: faults and work; then no faults, but for a minority of the nodes that
 * stays dead or hung, until every other node votes again and everybody who waited was answered;
 * then one client after another dies with a lock, which all others must have within a bound; and
 * all close, after which nothing may be left.
 */
final class World {
  /** Of a history, for each node: a poll asks all of them. */
  private static final int MOST_EVENTS = 6_000;

  final Scenario scenario;
  final Rng rng;
  final History history = new History();
  final Checker checker;
  final SimNode[] nodes;
  final SimClient[] clients;
  final List<SimTicket> tickets = new ArrayList<>();
  final boolean tracing;

  long now;
  long events;
  long machineEvents;
  int wishes;
  boolean faults = true;
  boolean ending;
  private long lastStraggler;

  /** Probing tells nothing of the nodes' clocks: the first round has to. */
  boolean clocksUnknown;

  private final Agenda agenda = new Agenda();
  private final List<SimLink.Connection> connections = new ArrayList<>();
  private final int[] lives;

  World(long seed, Scenario.Setting setting, boolean tracing) {
    this(new Rng(seed), setting, tracing);
  }

  private World(Rng rng, Scenario.Setting setting, boolean tracing) {
    this(rng, new Scenario(setting, rng), tracing);
  }

  World(Rng rng, Scenario scenario, boolean tracing) {
    this.tracing = tracing;
    this.rng = rng;
    this.scenario = scenario;
    nodes = new SimNode[scenario.nodes];
    checker = new Checker(this);
    for (int i = 0; i < nodes.length; i++) {
      nodes[i] = new SimNode(i, this);
    }
    clients = new SimClient[scenario.clients];
    lives = new int[scenario.clients];
    for (int i = 0; i < clients.length; i++) {
      clients[i] = new SimClient(i, 0, this);
    }
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

  void row(String who, String what) {
    if (tracing) {
      history.row(now, who, what);
    }
  }

  /** A request of a broken connection is still under way, and may be executed then. */
  void straggles(long at) {
    lastStraggler = Math.max(lastStraggler, at);
  }

  void fault(String who, String what) {
    history.mix(who.hashCode() * 31L + what.hashCode());
    row(who, "** " + what);
    span(who, History.Kind.FAULT, now, now, 0, what);
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
    while (events < scenario.safetyEvents && now < scenario.safetyNanos) {
      runUntil(Math.min(scenario.safetyNanos, now + 10 * Scenario.MS));
    }
    long healthy = heal();
    long quiet = healthy + scenario.guardNanos() * 102 / 100 + 12 * Scenario.SECOND;
    long waits = healthy + 2 * scenario.waitNanos + 12 * Scenario.SECOND;
    runUntil(Math.max(quiet, waits));
    settled();
    finalRound();
    close();
  }

  void runUntil(long time) {
    while (agenda.size() > 0 && agenda.nextTime() <= time) {
      now = agenda.nextTime();
      int most = MOST_EVENTS * Math.max(5, nodes.length);
      if (++events > most) {
        throw new Violation("busy", "more than " + most + " events");
      }
      agenda.take().run();
    }
    now = time;
  }

  // Faults.

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
    switch (f) {
      case RESET -> client.links[node.index].reset();
      case STALL -> client.links[node.index].stall(rng.spread(Scenario.MS, 7 * Scenario.SECOND));
      case NODE_CRASH -> crash(node);
      case NODE_PAUSE -> node.pause(rng.spread(Scenario.MS, 3 * Scenario.SECOND));
      case NODE_STEP -> step(node);
      case CLIENT_PAUSE -> client.pause(rng.spread(Scenario.MS, 3 * scenario.ttlNanos));
      case CLIENT_SUSPEND -> client.suspend(rng.spread(Scenario.MS, 3 * scenario.ttlNanos));
      case CLIENT_CRASH -> replace(client, "crashes");
      case CLIENT_CLOSE -> shutDown(client);
      case WALL_STEP -> {
        long most = scenario.ttlNanos / Scenario.MS;
        client.stepWall(rng.between(scenario.walksBack ? -most : 0, most));
      }
      case SCRIPT_FLUSH -> node.forgetScripts();
      case FLUSH -> flush(node);
      case EVICT -> evict(node);
      case FALSE_HINT -> {
        LockKeys keys = scenario.keySets.get(rng.below(scenario.keySets.size()));
        int from = rng.below(nodes.length + 1) - 1;
        client.act(() -> client.hint(from, keys.lockKey(0)));
      }
      case BREAK -> operate(client, true);
      case INSPECT -> operate(client, false);
    }
  }

  private void crash(SimNode node) {
    SimNode.Kept kept = rng.pick(SimNode.Kept.values());
    node.crash(
        kept,
        rng.chance(0.5)
            ? rng.between(1, 5 * Scenario.MS)
            : rng.spread(Scenario.MS, 10 * Scenario.SECOND));
  }

  /** A step forward ends keys early, and makes a young server look old: only where it may. */
  private void step(SimNode node) {
    long most = Math.max(1, 900_000 - scenario.skewMicros);
    long micros = rng.between(-most, most) - node.stepped(); // A quorum has to stay within 4 s.
    if (scenario.setting != Scenario.Setting.FORGETFUL && micros > 0 && !mayForgetAll(node)) {
      return;
    }
    if (now < node.guardedUntil) {
      return;
    }
    node.step(micros);
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

  /** Who sees a node for the first time cannot know that it was flushed: not promised. */
  private void flush(SimNode node) {
    if (rng.chance(0.2)) {
      node.flushAnother();
      return;
    }
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
      if (rng.chance(0.3)) {
        node.model.deleteFence(key);
        checker.fenceEvicted(node);
      }
    }
  }

  void replace(SimClient client, String how) {
    client.crash(how);
    bury(client);
  }

  private void bury(SimClient client) {
    for (SimUser user : client.users) {
      user.die();
    }
    at(now + rng.spread(Scenario.MS, Scenario.SECOND), () -> born(client.index));
  }

  private void born(int index) {
    for (SimNode node : nodes) {
      if (now < node.flushedUntil) {
        at(node.flushedUntil, () -> born(index)); // It could not know of the flush.
        return;
      }
    }
    SimClient next = new SimClient(index, ++lives[index], this);
    clients[index] = next;
    row(next.name(), "starts");
    next.start();
  }

  private void shutDown(SimClient client) {
    if (client.closing || client.isPaused()) {
      return;
    }
    fault(client.name(), "closes");
    client.close();
    at(
        now + scenario.terms.nodeTimeoutNanos(),
        () -> {
          if (client.alive) {
            client.crash("is closed");
            bury(client);
          }
        });
  }

  private void operate(SimClient client, boolean breaks) {
    int keySet = rng.below(scenario.keySets.size());
    client.act(
        () ->
            client
                .lock(keySet)
                .act(
                    (m, at, wall) -> {
                      m.onTimer(at, wall);
                      if (breaks) {
                        fault(client.name(), "breaks " + m.keys());
                        m.breakLock(scenario.terms.nodeTimeoutNanos(), at);
                      } else {
                        m.inspect(scenario.terms.nodeTimeoutNanos(), at);
                      }
                    }));
  }

  void broadcast(SimClient from, LockKeys keys) {
    for (SimClient client : clients) {
      if (client != from && !rng.chance(0.2)) {
        for (int copies = rng.chance(0.1) ? 2 : 1; copies > 0; copies--) {
          at(
              now + scenario.delayNanos + rng.between(0, 2 * scenario.jitterNanos),
              () -> client.act(() -> client.hint(-1, keys.lockKey(0))));
        }
      }
    }
  }

  // The second part.

  /** Ends all faults, but for a minority of the nodes; returns when the last pause is over. */
  private long heal() {
    row("world", "faults end");
    faults = false;
    ending = true;
    int sick = rng.below((nodes.length - 1) / 2 + 1);
    int first = rng.below(nodes.length);
    for (int i = 0; i < sick; i++) {
      nodes[(first + i) % nodes.length].fallSick(rng.chance(0.5));
    }
    long latest = now;
    for (SimNode node : nodes) {
      if (!node.isSick()) {
        node.restart();
        latest = Math.max(latest, node.pausedUntil());
      }
    }
    for (SimClient client : clients) {
      latest = Math.max(latest, client.pausedUntil());
    }
    return latest;
  }

  private void settled() {
    row("world", "all should be settled");
    for (SimClient client : clients) {
      for (SimNode node : nodes) {
        if (!node.isSick() && !client.links[node.index].isVoting()) {
          throw new Violation(
              "liveness",
              node.name
                  + " does not vote for "
                  + client.name()
                  + " "
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

  /** Somebody dies with the lock; the others have it within its lease time and a bound. */
  private void finalRound() {
    long bound =
        scenario.ttlNanos * 102 / 100
            + clients.length * scenario.options.minimumHold().toNanos()
            + 3 * Scenario.SECOND;
    for (int set = 0; set < scenario.keySets.size(); set++) {
      int keySet = set;
      SimClient doomed = clients[rng.below(clients.length)];
      doomed.users.get(0).dieWith(keySet, 3 * Scenario.SECOND);
      for (long end = now + 4 * Scenario.SECOND; doomed.alive && now < end; ) {
        runUntil(now + Scenario.MS);
      }
      doomed.users.get(0).requireAnswered();
      // In fair mode the door has the last word, so what the dead one wrote there late counts.
      long late = scenario.options.fair() ? Math.max(0, lastStraggler - now) : 0;
      for (SimClient client : clients) {
        client.soon(() -> client.users.get(0).wish(true, keySet, bound + late));
      }
      runUntil(now + bound + late + scenario.ttlNanos);
      for (SimClient client : clients) {
        client.users.get(0).requireAnswered();
      }
    }
  }

  private void close() {
    row("world", "all close");
    for (SimClient client : clients) {
      client.soon(client::close);
    }
    runUntil(now + 2 * scenario.ttlNanos + 15 * Scenario.SECOND);
    for (SimClient client : clients) {
      for (SimLock lock : client.allLocks) {
        LockMachine m = lock.machine;
        if (!m.mayRetire(client.mono())) {
          throw new Violation("leftover", client.name() + " is not idle after close " + lock.keys);
        }
      }
      if (client.alive && client.pace().underWay() != 0) {
        throw new Violation("pace", client.name() + " counts rounds that are over");
      }
    }
    checker.atEnd();
    for (SimTicket ticket : tickets) {
      if (!ticket.isSettled() && ticket.isAlive()) {
        throw new Violation("ticket", ticket + " was never settled");
      }
    }
    if (wishes != 0) {
      throw new Violation("once", wishes + " callers were never answered");
    }
  }
}
