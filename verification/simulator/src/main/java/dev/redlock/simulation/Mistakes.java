package dev.redlock.simulation;

import dev.redlock.spi.NodeRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Ordinary mistakes of people, in some worlds in which the set of nodes changes. A second
 * deployment has nodes of its own beside the first. Clients start with a list that names a minority
 * of them, or an empty node that belongs to nobody, or that is short, or with a user who may not
 * read the marker of a node; with a loopback name, which leads to another server for each client,
 * or with two names of one server. Operators add such names. The address of a member that is lost
 * is given to a node of the second deployment, until it comes back. Others only look, with any
 * list, or are programs of the second deployment that know some nodes of the first. No mistake may
 * change a record, or make a lease doubtful. A client with a mistake need not work: it is corrected
 * when the faults end. So is one whose list has no majority of nodes that work and have a record,
 * as after several changes, or when a member is sick for good.
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
    UNREADABLE_MARKER,
    LOOPBACK_NAME,
    TWO_NAMES
  }

  private final World world;
  private final ChangingSet set;
  private final Rng rng;
  private final int own;
  private final int servers;
  private final long everyNanos;
  private final Map<Integer, Mistake> due = new HashMap<>();
  private final Map<Mistake, Double> shares = new EnumMap<>(Mistake.class);
  private int guests;

  /** The name of each client's own machine, and the second name of a server. */
  private String loopback = "";

  private String nickname = "";
  private int nicknamed;

  /** A member that is down, and whose name leads to the other server meanwhile; null if none is. */
  private @Nullable SimNode lost;

  private @Nullable SimNode instead;

  /** Whether the records of the second deployment name its own nodes only. */
  private boolean separate;

  Mistakes(World world, ChangingSet set) {
    this.world = world;
    this.set = set;
    rng = world.scenario.mistakes;
    servers = world.scenario.nodes - world.scenario.namesOnly;
    own = servers - world.scenario.foreign;
    everyNanos = rng == null ? 0 : rng.between(2, 12) * Scenario.SECOND;
    if (rng != null) {
      nickname = world.nodes[servers].name;
      loopback = world.nodes[servers + 1].name;
      nicknamed = rng.below(world.scenario.firstMembers);
      for (Mistake mistake : Mistake.values()) {
        shares.put(mistake, rng.next());
      }
    }
  }

  /** Whether the node belongs to the second deployment. */
  boolean isForeign(SimNode node) {
    return node.index >= own && node.index < servers;
  }

  /** To which server this name leads for this client. */
  SimNode serverOf(SimNode name, SimClient client) {
    if (name.name.equals(loopback)) {
      // If the other deployment names nodes of ours, one of these that is empty gets its record.
      return world.nodes[(client.index + client.life) % (separate ? servers : own)];
    }
    SimNode server = name.name.equals(nickname) ? world.nodes[nicknamed] : name;
    return server == lost && instead != null ? instead : server;
  }

  /** Whether it is a second name that the client knows: it has one node for each name. */
  boolean isKnownTo(ShellClient client, SimNode name) {
    return name.index >= servers && client.given.contains(name.index);
  }

  /** The lost server is there again, at its address. */
  void comesBack(SimNode node) {
    SimNode left = instead;
    if (node == lost && left != null) {
      lost = null;
      world.linksTo(left).stream().filter(link -> link.node != left).forEach(SimLink::reset);
    }
  }

  /** Whether the name of a server leads to another one. */
  boolean isOneLost() {
    return lost != null;
  }

  /**
   * Whether so many of these lead to the second deployment that a client may work with it; or one
   * does, and no other node shows a record, as in the list of a set that has lost its other members
   * since (seeds 116417, 129152): the client completes what it takes for a member without a record.
   */
  boolean mayMislead(SimClient client, List<SimNode> list, @Nullable SimNode also) {
    List<SimNode> servers = list.stream().map(name -> serverOf(name, client)).toList();
    long foreign = servers.stream().filter(server -> server == also || isForeign(server)).count();
    boolean alone =
        set.opened() > 0
            && servers.stream().noneMatch(s -> s != also && !isForeign(s) && s.record().exists());
    return 2 * foreign > list.size() || (foreign > 0 && alone);
  }

  /** Whether this is the second deployment's own record. */
  boolean mayStore(SimNode node, NodeRecord record) {
    return isForeign(node) && record.id().equals(OTHER);
  }

  /** Whether the server, or one of these members, must not have this record. */
  boolean areWrong(SimNode node, NodeRecord record) {
    return isForeign(node) || record.id().equals(OTHER) || isUnfit(record.members());
  }

  /** Whether the list holds a loopback name beside others, or two names of one server. */
  boolean isUnfit(List<String> list) {
    return rng != null && list.size() > 1 && (list.contains(loopback) || isTwice(list));
  }

  /** A server with two names stays a member: one that is removed may come back by the other. */
  boolean keeps(String name) {
    return rng != null && name.equals(world.nodes[nicknamed].name);
  }

  private boolean isTwice(List<String> list) {
    return list.contains(nickname) && list.contains(world.nodes[nicknamed].name);
  }

  /**
   * Whether these worlds leave out that the client writes this. While one of two names does not
   * answer, or the server has restarted since it did, the client cannot know that both are one
   * server, and founds a set of both (seeds 533, 2044): one of the two never votes then.
   */
  boolean omits(List<String> members, SimClient client) {
    return rng != null
        && isTwice(members)
        && !(client.links[servers].isLive() && client.links[nicknamed].isLive());
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
    boolean namesakes = rng.chance(0.5); // As a copy of the first deployment in another network.
    boolean namesFirst = rng.chance(0.3); // As a deployment whose former member was given away.
    separate = !namesakes && !namesFirst;
    if (namesFirst) {
      others.add(world.nodes[0].name);
    }
    long epoch = namesakes ? 1 : rng.oneOf(1, 2, 100);
    long longest = world.scenario.maxLeaseNanos / Scenario.MS;
    for (int i = own; i < servers; i++) {
      List<String> members = namesakes ? set.names() : others;
      String name = namesakes ? members.get((i - own) % members.size()) : world.nodes[i].name;
      long known = epoch + (separate && i > own ? 1 : 0); // Their programs tell the others.
      world.nodes[i].store(
          new NodeRecord(OTHER, name, known, members, List.of(), known, 0, 0, longest, longest, 0));
    }
    if (rng.chance(0.5)) {
      look();
    }
    later(this::look);
    later(this::err);
    if (namesakes) {
      later(this::give);
    }
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

  /** Someone looks at nodes, or a program of the second deployment runs, for some seconds. */
  private void look() {
    boolean observes = !separate || rng.chance(0.6);
    List<Integer> list = new ArrayList<>();
    int named = 0;
    for (SimNode node : world.nodes) {
      boolean foreign = isForeign(node);
      if (observes
          ? rng.chance(0.5)
          : foreign || (named < (servers - own) - 1 && rng.chance(0.3))) {
        named += foreign ? 0 : 1;
        list.add(rng.below(list.size() + 1), node.index);
      }
    }
    if (list.isEmpty()) {
      list.add(rng.below(servers));
    }
    String what = observes ? "look" : "program of the second deployment";
    world.coverage.count("mistake", what + (set.opened() == 0 ? " before the first record" : ""));
    ShellClient guest = new ShellClient(++guests, world, list, observes);
    world.guests.add(guest);
    world.fault(guest.name(), what + " with " + list);
    guest.look();
    world.at(
        world.now + rng.spread(10 * Scenario.MS, 15 * Scenario.SECOND),
        () -> {
          guest.crash("ends");
          world.guests.remove(guest);
        });
  }

  /** A member is lost for a while, and its address is given to a node of the second deployment. */
  private void give() {
    SimNode by = world.nodes[own + rng.below(servers - own)];
    String name = by.record().name();
    long nanos = rng.between(2, 40) * Scenario.SECOND;
    if (lost == null && set.names().contains(name) && !world.isFaultless()) {
      SimNode node = set.node(name);
      boolean misleads =
          world.clients().anyMatch(client -> mayMislead(client, listOf(client), node));
      if (node.up && !misleads && set.mayLose()) {
        world.coverage.count("mistake", "an address of the second deployment");
        lost = node;
        instead = by;
        node.crash(SimNode.Kept.ALL, nanos);
      }
    }
  }

  private List<SimNode> listOf(SimClient client) {
    return ((ShellClient) client).given.stream().map(i -> world.nodes[i]).toList();
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
    boolean first = client.life == 0 && rng != null && rng.chance(0.3);
    Mistake mistake =
        !first
            ? due.remove(client.index)
            : rng.chance(0.5) ? Mistake.LOOPBACK_NAME : Mistake.TWO_NAMES;
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
      case LOOPBACK_NAME -> {
        if (list.size() > 1 && rng.chance(0.7)) {
          list.remove(rng.below(list.size()));
        }
        list.add(loopback);
      }
      case TWO_NAMES -> {
        String server = world.nodes[nicknamed].name;
        if (!list.contains(server)) {
          return right;
        }
        list.removeIf(name -> !name.equals(server) && rng.chance(0.3));
        list.add(nickname);
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
    int to = mistake == Mistake.FOREIGN_NODE ? servers : own;
    return world.nodes[from + rng.below(to - from)];
  }

  private boolean isOutdated(ShellClient client) {
    long shown =
        client.given.stream()
            .map(i -> world.nodes[i])
            .filter(node -> node.record().exists() && !isForeign(node) && !node.isSick())
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
