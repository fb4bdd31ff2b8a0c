package dev.redlock.simulation;

import dev.redlock.harness.model.NodeModel;
import dev.redlock.internal.protocol.EarlyExtensions;
import dev.redlock.internal.protocol.Exchange;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The history of a world as events of the model {@code HandOff.tla}: what clients ask for, win and
 * end, and what each node executes. {@code HandOffTrace.tla} says what each kind means.
 *
 * <p>The model has one name and no minimum hold. In other worlds nothing is recorded. The trace
 * ends where the world leaves the model: when a process is suspended, so that its clock stands
 * still, or when a node loses a fence alone.
 */
final class Trace {
  /** The largest number of microseconds that TLC can count. */
  private static final long LAST_MICROS = 2_000_000_000;

  /** A prefix of a behaviour is a behaviour. */
  private static final int MAX_EVENTS = 1_000;

  /** An event at its true time. Grants and nodes are counted from 1. */
  private record Event(
      long atNanos, String kind, int grant, int node, long token, long x, long y) {}

  /** The newest extension of a lease. */
  private static final class Extension {
    final Exchange exchange;

    /** The nodes that were asked, and have not replied. */
    long waits;

    Extension(Exchange exchange) {
      this.exchange = exchange;
    }
  }

  private final World world;
  private final LockKeys keys;
  private final List<Event> events = new ArrayList<>();
  private final Map<String, Integer> grants = new HashMap<>();
  private final Map<String, Long> tokens = new HashMap<>();
  private final Map<String, Extension> extensions = new HashMap<>();
  private boolean open;
  private long readTrue;

  Trace(World world) {
    this.world = world;
    keys = world.scenario.keySets.get(0);
    open = world.tracing && covers(world.scenario);
  }

  /** Whether the model covers this world. */
  static boolean covers(Scenario scenario) {
    return !scenario.changesSets()
        && scenario.keySets.size() == 1
        && scenario.keySets.get(0).size() == 1
        && scenario.options.minimumHold().isZero();
  }

  /** Runs a seed, and returns its trace; empty if the model does not cover its world. */
  static List<String> of(long seed, Scenario.Setting setting) {
    if (!covers(new Scenario(setting, new Rng(seed)))) {
      return List.of();
    }
    World world = Simulator.run(seed, setting, true).world();
    return world.trace.lines(setting + "-" + seed, MAX_EVENTS);
  }

  /** From here on the world contains events that the model does not cover. */
  void leavesTheModel() {
    open = false;
  }

  // What clients do.

  /** The next decisions are those of a machine that has read its clocks at this time. */
  void reads(long trueNanos) {
    readTrue = trueNanos;
  }

  /** One request of a round is sent. The first one begins the round. */
  void asks(String leaseId, long token) {
    if (!open) {
      return;
    }
    Long before = tokens.put(leaseId, token);
    if (before == null) {
      grants.put(leaseId, grants.size() + 1);
      add(world.now, "ask", leaseId, 0, token, 0, 0);
    }
  }

  void undone(String leaseId) {
    add(world.now, "undone", leaseId, 0, 0, 0, 0);
  }

  void wins(String leaseId, long token) {
    add(readTrue, "win", leaseId, 0, token, 0, 0);
  }

  /** The lease that has just ended is handed off to the next caller. */
  void handsOffLocally(String leaseId, long token) {
    if (open) {
      for (int i = events.size() - 1; i >= 0; i--) {
        Event last = events.get(i);
        if (last.kind().equals("end") && last.grant() == grant(leaseId)) {
          events.remove(i); // The grant continues.
          break;
        }
      }
      Extension extension = extensions.get(leaseId);
      // An early extension decides nothing: its replies need not have come.
      if (extension != null
          && (extension.waits == 0 || EarlyExtensions.isOne(extension.exchange))) {
        add(readTrue, "settled", leaseId, 0, 0, 0, 0);
      }
      add(readTrue, "local", leaseId, 0, token, 0, 0);
    }
  }

  void ends(String leaseId) {
    add(readTrue, "end", leaseId, 0, 0, 0, 0);
  }

  /** The process is gone, and does not know the lease any more. */
  void forgets(String leaseId) {
    add(world.now, "end", leaseId, 0, 0, 0, 0);
  }

  /** One request of an extension is sent. The first one begins the extension. */
  void extends_(String leaseId, Exchange exchange, int node) {
    Extension last = extensions.get(leaseId);
    if (last == null || last.exchange != exchange) {
      last = new Extension(exchange);
      extensions.put(leaseId, last);
      add(world.now, "extend", leaseId, 0, 0, 0, 0);
    }
    last.waits |= 1L << node;
  }

  /** The client has a reply, or knows that none will come. */
  void replies(Exchange exchange, int node) {
    for (Extension last : extensions.values()) {
      last.waits &= last.exchange == exchange ? ~(1L << node) : -1;
    }
  }

  /** The validity is longer than before, by an extension whose first request was sent then. */
  void renews(String leaseId, long sentTrue) {
    add(readTrue, "renew", leaseId, 0, 0, readTrue / 1000 - sentTrue / 1000, 0);
  }

  // What nodes do.

  /** A request that changes the keys was executed. A repeated acquire changes nothing. */
  void executes(SimNode node, LockRequest request, NodeReply reply, boolean repeated, long clock) {
    if (!open) {
      return;
    }
    boolean storable = true;
    if (request instanceof LockRequest.Acquire r) {
      if (reply.code() == Code.GRANTED && !repeated) {
        add(world.now, "grants", r.leaseId(), node.index + 1, r.token(), 0, 0);
      }
    } else if (request instanceof LockRequest.Extend r) {
      if (reply.code() == Code.EXTENDED || reply.code() == Code.REPAIRED) {
        if (r.ttlMillis() < world.scenario.ttlNanos / 1_000_000) {
          // As at the hold cap: the key ends earlier than in the model (seed 19 of NORMAL).
          leavesTheModel();
        }
        add(world.now, "prolongs", r.leaseId(), node.index + 1, 0, 0, 0);
      }
    } else if (request instanceof LockRequest.Release r) {
      storable = r.token() <= clock + LockRequest.Acquire.AHEAD_MICROS;
      if (storable && grants.containsKey(r.leaseId())) {
        add(world.now, "frees", r.leaseId(), node.index + 1, 0, r.ended() ? 1 : 0, 0);
      }
    } else if (request instanceof LockRequest.Break r && reply.code() != Code.STALE) {
      add(world.now, "operator", null, node.index + 1, r.token(), 0, 0);
      add(world.now, "breaks", null, node.index + 1, r.token(), 0, 0);
    }
  }

  /** A node restarted, lost a key, or its clock was set. */
  void fails(SimNode node) {
    if (!open) {
      return;
    }
    NodeModel model = node.model;
    String key = keys.lockKey(0);
    long clock = node.clock();
    String owner = model.owner(key, clock);
    long life =
        owner == null
            ? 0
            : Math.min(
                shortest(model.expiresMillis(key) * 1000 - clock),
                shortest(world.scenario.ttlNanos / 1000));
    add(
        world.now,
        "fails",
        life > 0 ? owner : null,
        node.index + 1,
        model.fence(key, clock),
        model.ended(key, clock),
        Math.max(0, life));
  }

  private int grant(String leaseId) {
    return leaseId == null ? 0 : grants.getOrDefault(leaseId, 0);
  }

  private void add(
      long atNanos, String kind, String leaseId, int node, long token, long x, long y) {
    if (open) {
      events.add(new Event(atNanos, kind, grant(leaseId), node, token, x, y));
    }
  }

  // The file.

  private long shortest(long micros) {
    return micros - micros * world.scenario.nodePpm / 1_000_000 - 1001;
  }

  private long longest(long micros) {
    return micros + micros * world.scenario.clientPpm / 1_000_000 + 1;
  }

  /** The trace as lines, of which the first says what the world is. Empty if it has no event. */
  List<String> lines(String name, int limit) {
    Scenario scenario = world.scenario;
    List<Event> sorted = new ArrayList<>(events);
    sorted.sort(Comparator.comparingLong(Event::atNanos));
    List<String> lines = new ArrayList<>();
    for (Event e : sorted) {
      long micros = e.atNanos() / 1000;
      if (lines.size() == limit || micros > LAST_MICROS) {
        break;
      }
      lines.add(
          String.join(
              " ",
              String.valueOf(micros),
              e.kind(),
              "g=" + e.grant(),
              "n=" + e.node(),
              "t=" + e.token(),
              "x=" + e.x(),
              "y=" + e.y()));
    }
    if (!lines.isEmpty()) {
      long ttl = scenario.ttlNanos / 1000;
      lines.add(
          0,
          String.join(
              " ",
              "trace",
              "HandOff",
              name,
              "nodes=" + scenario.nodes,
              "quorum=" + scenario.quorum(),
              "validity=" + longest(ttl - scenario.config.drift().toNanos() / 1000),
              "keyLife=" + shortest(ttl),
              "voteAge=" + longest(scenario.config.nodeTimeout().toNanos() / 1000)));
    }
    return lines;
  }
}
