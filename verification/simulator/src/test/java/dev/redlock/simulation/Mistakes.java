package dev.redlock.simulation;

import dev.redlock.spi.NodeRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Ordinary mistakes of people, in some worlds in which the set of nodes changes. A second
 * deployment has nodes of its own beside the first. Clients start with a list that names a minority
 * of them, or an empty node that belongs to nobody, or that is short, or with a user who may not
 * read the marker of a node. Others only look, with any list. No mistake may change a record, or
 * make a lease doubtful. A client with a mistake need not work: it is corrected when the faults
 * end. So is one whose list has no majority of nodes with a record, as after several changes.
 *
 * <p>The numbers come from a stream of their own, so a world without mistakes does not change.
 */
final class Mistakes {
  private static final String OTHER = "another";

  /** What is wrong with the next process of a client. */
  private enum Mistake {
    FOREIGN_NODE,
    EMPTY_NODE,
    SHORT_LIST,
    UNREADABLE_MARKER
  }

  private final World world;
  private final ChangingSet set;
  private final Rng rng;
  private final int own;
  private final long everyNanos;
  private final Map<Integer, Mistake> due = new HashMap<>();
  private final Map<Mistake, Double> shares = new EnumMap<>(Mistake.class);
  private int looks;

  Mistakes(World world, ChangingSet set) {
    this.world = world;
    this.set = set;
    rng = world.scenario.mistakes;
    own = world.scenario.nodes - world.scenario.foreign;
    everyNanos = rng == null ? 0 : rng.between(2, 12) * Scenario.SECOND;
    if (rng != null) {
      for (Mistake mistake : Mistake.values()) {
        shares.put(mistake, rng.next());
      }
    }
  }

  /** Whether the node belongs to the second deployment. */
  boolean isForeign(SimNode node) {
    return node.index >= own;
  }

  /** How many nodes are not those of the second deployment: the first ones. */
  int own() {
    return own;
  }

  /** Before the first client starts. */
  void begin() {
    if (rng == null) {
      return;
    }
    List<String> others = new ArrayList<>();
    for (SimNode node : world.nodes) {
      if (isForeign(node)) {
        others.add(node.name);
      }
    }
    boolean namesFirst = rng.chance(0.3); // As a deployment whose former member was given away.
    if (namesFirst) {
      others.add(world.nodes[0].name);
    }
    long epoch = rng.oneOf(1, 2, 100);
    long longest = world.scenario.maxLeaseNanos / Scenario.MS;
    for (SimNode node : world.nodes) {
      if (isForeign(node)) {
        node.store(
            new NodeRecord(
                OTHER, node.name, epoch, others, List.of(), epoch, 0, 0, longest, longest, 0));
      }
    }
    if (rng.chance(0.5)) {
      look();
    }
    later(this::look);
    later(this::err);
  }

  private void later(Runnable what) {
    world.at(
        world.now + rng.between(1, 2 * everyNanos),
        () -> {
          if (!world.isFaultless()) {
            what.run();
            later(what);
          }
        });
  }

  /** Someone looks at nodes, for some seconds. */
  private void look() {
    List<Integer> list = new ArrayList<>();
    for (SimNode node : world.nodes) {
      if (rng.chance(0.5)) {
        list.add(rng.below(list.size() + 1), node.index);
      }
    }
    if (list.isEmpty()) {
      list.add(rng.below(world.nodes.length));
    }
    world.coverage.count("mistake", set.opened() == 0 ? "a look before the first record" : "look");
    ShellClient observer = new ShellClient(++looks, world, list);
    world.fault(observer.name(), "looks at " + list);
    observer.look();
    long end = world.now + rng.spread(10 * Scenario.MS, 15 * Scenario.SECOND);
    world.at(end, () -> observer.crash("has looked"));
  }

  /** A process starts again, with a mistake. */
  private void err() {
    SimClient client = rng.pick(world.clients);
    if (client.alive && !client.closing && set.opened() > 0) {
      due.put(client.index, any());
      world.replace(client, "is started again with a mistake");
    }
  }

  private Mistake any() {
    Mistake most = Mistake.SHORT_LIST;
    double highest = 0;
    for (Mistake mistake : Mistake.values()) {
      double drawn = rng.next() * shares.get(mistake);
      if (drawn > highest) {
        highest = drawn;
        most = mistake;
      }
    }
    return most;
  }

  /** Makes the mistake of this client, if it is to have one: the list with which it starts. */
  List<String> listOf(ShellClient client, List<String> right) {
    Mistake mistake = due.remove(client.index);
    if (mistake == null || world.ending) {
      return right;
    }
    client.errs = true;
    world.coverage.count("mistake", mistake);
    List<String> list = new ArrayList<>(set.names());
    switch (mistake) {
      case FOREIGN_NODE, EMPTY_NODE -> {
        SimNode wrong = wrongNode(mistake);
        if (list.size() < 2 || list.contains(wrong.name)) {
          return right;
        }
        if (list.size() >= 3 && rng.chance(0.7)) {
          list.remove(rng.below(list.size()));
        }
        list.add(wrong.name);
      }
      case SHORT_LIST -> {
        int left = rng.chance(0.5) ? 1 : list.size() / 2 + 1;
        while (list.size() > left) {
          list.remove(rng.below(list.size()));
        }
      }
      case UNREADABLE_MARKER ->
          client.links[set.node(list.get(rng.below(list.size()))).index].unreadable = true;
    }
    return list;
  }

  /**
   * A node outside of the list is empty, as a database that nobody uses, unless it was a member.
   */
  private SimNode wrongNode(Mistake mistake) {
    int from = mistake == Mistake.FOREIGN_NODE ? own : 0;
    int to = mistake == Mistake.FOREIGN_NODE ? world.nodes.length : own;
    return world.nodes[from + rng.below(to - from)];
  }

  private boolean isOutdated(ShellClient client) {
    long shown =
        client.given.stream()
            .map(i -> world.nodes[i])
            .filter(node -> node.record().exists() && !isForeign(node))
            .count();
    return shown <= client.given.size() / 2;
  }

  /** Clients with a mistake are started again without. */
  void areCorrected() {
    for (SimClient client : Arrays.asList(world.clients)) {
      if (client.alive && (((ShellClient) client).errs || isOutdated((ShellClient) client))) {
        world.replace(client, "is corrected");
      }
    }
  }
}
