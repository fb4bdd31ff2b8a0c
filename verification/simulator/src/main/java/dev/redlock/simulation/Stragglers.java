package dev.redlock.simulation;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * Clients that are cut off while the set of nodes changes, and then reach a few nodes that the
 * others do not reach: what they know must not come back.
 */
final class Stragglers {
  private static final long STEP_NANOS = 50 * Scenario.MS;

  private final World world;
  private final Rng rng;
  private final ChangingSet set;
  private final SetFaults faults;

  Stragglers(World world, ChangingSet set, SetFaults faults) {
    this.world = world;
    this.set = set;
    this.faults = faults;
    rng = world.rng;
  }

  private ShellClient client(int index) {
    return (ShellClient) world.clients[index];
  }

  void cut(SimClient client, SimNode node, long nanos) {
    if (client.alive && world.faults) {
      client.links[node.index].stall(nanos);
      client.links[node.index].reset();
    }
  }

  /** The first two clients do not reach the node for this time. */
  private void cutOthers(SimNode node, long nanos) {
    cut(client(0), node, nanos);
    cut(client(1), node, nanos);
  }

  /** The client reaches only some nodes of its set at first. The others do not reach these. */
  void straggles(ShellClient straggler) {
    if (world.isFaultless()) {
      return;
    }
    world.coverage.count("set", "straggler");
    List<String> names = set.names();
    Set<SimNode> island = new LinkedHashSet<>();
    for (int i = rng.below(names.size() / 2 + 1); i >= 0; i--) {
      island.add(set.node(names.get(rng.below(names.size()))));
    }
    long alone =
        rng.chance(0.5)
            ? rng.between(1, 4_000) * Scenario.MS
            : rng.between(5, 35) * Scenario.SECOND;
    long later = rng.between(10, 25) * Scenario.SECOND;
    for (SimNode node : world.nodes) {
      cut(straggler, node, island.contains(node) ? alone : alone + later);
    }
    world.at(
        world.now + alone,
        () -> {
          for (SimNode node : island) {
            for (SimClient other : world.clients) {
              if (other != straggler) {
                cut(other, node, rng.between(1, 15) * Scenario.SECOND);
              }
            }
            if (rng.chance(0.6) && !world.isFaultless()) {
              set.crash(node);
            }
          }
        });
  }

  /**
   * Two members are added around the third client. Then two of the first members restart, and only
   * this client reaches them for a while.
   */
  void growAround() {
    List<String> names = set.names();
    if (names.size() != 3 || set.mistakes.own() < 5 || world.isFaultless()) {
      return;
    }
    world.coverage.count("set", "grows around a client");
    SimNode a = set.node(names.get(0));
    SimNode b = set.node(names.get(1));
    long alone = rng.between(20_000, 36_000) * Scenario.MS;
    for (SimNode node : world.nodes) {
      boolean first = node == a || node == b;
      cut(client(2), node, first ? alone : alone + 22 * Scenario.SECOND);
    }
    faults.adds(client(0), List.of(world.nodes[3].name, world.nodes[4].name));
    world.at(
        world.now + alone - rng.between(0, 1_000) * Scenario.MS,
        () -> {
          if (!world.isFaultless()) {
            set.crash(a);
            set.crash(b);
            cutOthers(a, rng.between(6, 15) * Scenario.SECOND);
            cutOthers(b, rng.between(6, 15) * Scenario.SECOND);
          }
        });
  }

  /**
   * A member is replaced while another one hears of nothing. Then a third one restarts, and the
   * third client, which is cut off from the rest, reaches both.
   */
  void changeAround() {
    List<String> names = set.names();
    if (names.size() < 3 || world.isFaultless()) {
      return;
    }
    world.coverage.count("set", "changes around a client");
    SimNode a = set.node(names.get(0));
    SimNode b = set.node(names.get(1));
    for (SimNode node : world.nodes) {
      cut(client(2), node, node == b ? 1 : 45 * Scenario.SECOND);
    }
    cutOthers(b, rng.between(14, 30) * Scenario.SECOND);
    String in = world.nodes[set.mistakes.own() - 1].name;
    faults.replaces(client(0), names.get(rng.chance(0.5) ? 0 : 1), in);
    whenSealed(a, set.opened() + 1, client(2));
    if (rng.chance(0.5)) {
      long at = world.now + rng.between(5, 12) * Scenario.SECOND;
      world.at(at, () -> faults.removes(client(0), b.name));
    }
  }

  private void whenSealed(SimNode a, long epoch, ShellClient straggler) {
    when(
        () -> a.record().epoch() == epoch && a.record().isSealed(),
        () ->
            world.at(
                world.now + rng.between(250, 1_200) * Scenario.MS,
                () -> {
                  if (!world.isFaultless()) {
                    set.crash(a);
                    straggler.links[a.index].stallEnds();
                    cutOthers(a, rng.between(7, 10) * Scenario.SECOND);
                  }
                }));
  }

  private void when(BooleanSupplier condition, Runnable action) {
    if (world.isFaultless()) {
      return;
    }
    if (condition.getAsBoolean()) {
      action.run();
    } else {
      world.at(world.now + STEP_NANOS, () -> when(condition, action));
    }
  }

  /**
   * A client has a long lease on two members, of which one restarts, while the operator raises the
   * longest lease time; or before, or after it. Another client reaches that member and the third.
   */
  void lengthen() {
    List<String> names = set.names();
    if (names.size() != 3 || world.isFaultless()) {
      return;
    }
    world.coverage.count("set", "lengthens around a client");
    SimNode a = set.node(names.get(0));
    SimNode c = set.node(names.get(2));
    boolean known = rng.chance(0.5);
    boolean raised = rng.chance(0.7);
    if (!known) {
      for (SimNode node : world.nodes) {
        cut(client(2), node, node == c ? 1 : 20 * Scenario.SECOND);
      }
    }
    if (raised) {
      faults.lengthens(client(0), true);
    }
    long longest = world.scenario.longestNanos() / Scenario.MS;
    long promised = a.record().promised(); // No change begins while a member is not reached.
    when(
        () ->
            !raised || (known ? set.maxLeaseMillis() == longest : a.record().promised() > promised),
        () -> {
          cut(client(0), c, 40 * Scenario.SECOND);
          set.lengthens(client(1));
          when(() -> client(1).isLonger(), () -> restartsUnder(known ? c : a, a, c));
        });
  }

  private void restartsUnder(SimNode hidden, SimNode a, SimNode c) {
    cut(client(1), c, 40 * Scenario.SECOND);
    when(
        () -> client(1).holds(),
        () -> {
          client(1).pause(15 * Scenario.SECOND);
          cut(client(0), hidden, 15 * Scenario.SECOND);
          set.crash(a);
          client(2).links[a.index].stallEnds();
        });
  }
}
