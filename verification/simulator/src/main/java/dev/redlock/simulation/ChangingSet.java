package dev.redlock.simulation;

import dev.redlock.spi.NodeRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The set of nodes of a world in which operators change it: what the nodes have stored, the lists
 * with which clients start, and which nodes may restart empty. The assumptions are those of {@code
 * docs/safety.md} and {@code docs/decisions/safety.md}.
 */
final class ChangingSet {
  private static final int RESTARTS_IN_A_CHANGE = 2;

  private final World world;
  private final Rng rng;
  private final SetFaults faults;
  final Mistakes mistakes;
  private final List<String> first = new ArrayList<>();

  /** Each set that a node has ever stored. */
  private final Set<List<String>> sets = new LinkedHashSet<>();

  /** Which nodes have ever stored which set. */
  private final Set<String> stored = new HashSet<>();

  /** The lists of clients that were never a set. */
  private final Set<List<String>> oddLists = new LinkedHashSet<>();

  /** The newest set of which a majority of its members says that it is complete. */
  private NodeRecord complete = NodeRecord.NONE;

  private long opened;
  private int restarts;
  private boolean contradicted;
  private boolean foundedAnew;
  private @Nullable SimClient lengthening;

  ChangingSet(World world) {
    this.world = world;
    rng = world.rng;
    faults = new SetFaults(world, this);
    mistakes = new Mistakes(world, this);
    for (int i = 0; i < world.scenario.firstMembers; i++) {
      first.add(world.nodes[i].name);
    }
  }

  void begin() {
    mistakes.begin();
    faults.begin();
  }

  // What the nodes store.

  /** The node has changed its record; by is null if the change was late, or came twice. */
  void stored(SimNode node, NodeRecord before, NodeRecord after, SimLink.@Nullable Connection by) {
    if (mistakes.mayStore(node, after)) {
      return;
    }
    boolean changes = before.exists() && !before.id().equals(after.id());
    boolean second = after.exists() && complete.exists() && !complete.id().equals(after.id());
    if (second && (foundedAnew || isLost(complete))) {
      // A majority has lost it, and a program that reached no other node founded it anew. The nodes
      // that kept the former record stay out until an operator acts.
      second = false;
      foundedAnew = true;
      contradicted = true;
      world.coverage.count("set", "founded anew");
    }
    boolean foreign = by != null && world.guests.contains(by.link.client);
    if (changes || second || foreign || mistakes.areWrong(node, after)) {
      throw new Violation(
          "identity", node.name + ": stores " + after.withId() + ", over " + before);
    }
    if (after.epoch() < before.epoch() || after.floor() < before.floor()) {
      throw new Violation("record", node.name + ": epoch or floor fell, from " + before);
    }
    stored.add(node.name + after.epoch() + after.members());
    if (after.isSealed() && !(before.isSealed() && before.isOfSameSet(after))) {
      requireStored(after);
    }
    sets.add(after.members());
    if (after.epoch() > opened) {
      opened = after.epoch();
      restarts = 0;
      world.coverage.count("set", opened == 1 ? "written first" : "opened");
      if (!complete.exists()) {
        complete = after; // The first set is complete at once.
      } else if (complete.epoch() < opened - 1) {
        complete = after.predecessor(); // As its operator has found.
      }
    }
    if (after.epoch() > complete.epoch() && saying(after) > after.members().size() / 2) {
      complete = after;
      world.coverage.count("set", "completed");
    }
    for (SimNode other : world.nodes) {
      NodeRecord record = other.record();
      if (record.epoch() == after.epoch()
          && record.exists()
          && record.id().equals(after.id())
          && record.isSealed()
          && after.isSealed()
          && !record.isOfSameSet(after)
          && !contradicted) {
        contradicted = true;
        world.coverage.count("set", "contradicted");
      }
    }
  }

  /** A set is not sealed before the member that is added has stored it. */
  private void requireStored(NodeRecord sealed) {
    for (String name : sealed.members()) {
      boolean added = !sealed.before().isEmpty() && !sealed.before().contains(name);
      if (added && !stored.contains(name + sealed.epoch() + sealed.members())) {
        throw new Violation(
            "record", "a set is sealed that " + name + " has not stored: " + sealed);
      }
    }
  }

  /** Whether less than a majority of the members of this set keeps a record of its deployment. */
  private boolean isLost(NodeRecord set) {
    long keeping =
        set.members().stream()
            .map(name -> node(name).record())
            .filter(record -> record.exists() && record.id().equals(set.id()))
            .count();
    return 2 * keeping <= set.members().size();
  }

  /** How many members have noted that this set is complete. */
  private int saying(NodeRecord set) {
    int saying = 0;
    for (SimNode node : world.nodes) {
      NodeRecord record = node.record();
      boolean says = record.isOfSameSet(set) && record.isComplete();
      saying += says && set.members().contains(node.name) ? 1 : 0;
    }
    return saying;
  }

  /** The newest set that is complete. */
  List<String> names() {
    return complete.exists() ? complete.members() : first;
  }

  boolean isMember(SimNode node) {
    return names().contains(node.name);
  }

  List<SimNode> members() {
    List<SimNode> members = new ArrayList<>();
    for (SimNode node : world.nodes) {
      if (isMember(node)) {
        members.add(node);
      }
    }
    return members;
  }

  /**
   * A member of the newest set that is complete, and of the one that is open: of that with the
   * highest ballot, because a node may keep one that its operator gave up (seed 7956).
   */
  String lastingMember() {
    return members().stream()
        .filter(node -> node.record().epoch() == opened)
        .filter(node -> node.record().members().contains(node.name))
        .reduce((one, other) -> other.record().ballot() > one.record().ballot() ? other : one)
        .map(node -> node.name)
        .orElse(names().get(0));
  }

  /** Whether operators have begun a change that is not complete. */
  boolean isChanging() {
    return opened > complete.epoch();
  }

  long opened() {
    return opened;
  }

  /** Whether two sets of one epoch are sealed: nodes refuse to vote from then on. */
  boolean isContradicted() {
    return contradicted;
  }

  /** How long the leases of this deployment may be. */
  long maxLeaseMillis() {
    return complete.maxLeaseMillis();
  }

  // With which list, and for which leases, a client starts.

  /** The next process of this client uses longer leases. */
  void lengthens(SimClient client) {
    lengthening = client;
    if (client.alive && !client.closing) {
      world.replace(client, "is started again for longer leases");
    }
  }

  /** The first client never needs longer leases than each set allows. */
  long maxLeaseOf(int client, int life) {
    boolean may = world.scenario.longer != null && client > 0 && life > 0 && !world.ending;
    boolean must = lengthening != null && lengthening.index == client;
    lengthening = must ? null : lengthening;
    return may && (must || rng.chance(0.5))
        ? world.scenario.longestNanos()
        : world.scenario.maxLeaseNanos;
  }

  /** The first clients have the same list, in any order; later ones an old or another list. */
  List<Integer> listOf(ShellClient client) {
    List<String> list = first;
    if (world.ending) {
      list = sealed();
    } else if (client.life > 0 && opened > 0) {
      double kind = rng.next();
      // A program with an old list does not start when most of the list are empty.
      list = kind < 0.4 && maySeed(first, null) ? first : kind < 0.7 ? names() : oddList();
    }
    List<String> slip = mistakes.listOf(client, list);
    if (mistakes.isUnfit(slip)) {
      list = slip; // It cannot become a set.
    } else if (slip != list && maySeed(slip, null)) {
      oddLists.add(List.copyOf(slip));
      list = slip;
    }
    if (mistakes.mayMislead(client, list.stream().map(this::node).toList(), null)) {
      list = names();
    }
    List<Integer> indexes = new ArrayList<>();
    for (String name : list) {
      indexes.add(rng.below(indexes.size() + 1), node(name).index);
    }
    return indexes;
  }

  SimNode node(String name) {
    return Arrays.stream(world.nodes).filter(node -> node.name.equals(name)).findFirst().get();
  }

  /**
   * The newest set that is sealed. With the one before, a client could not choose: its removed
   * member may have restarted empty, and gets no word any more.
   */
  private List<String> sealed() {
    NodeRecord newest = complete;
    for (SimNode node : world.nodes) {
      NodeRecord record = node.record();
      boolean counts = record.isSealed() && !mistakes.isForeign(node);
      newest = counts && record.epoch() > newest.epoch() ? record : newest;
    }
    return newest.exists() ? newest.members() : names();
  }

  /** One member less than the present set, or one node more. */
  private List<String> oddList() {
    List<String> odd = new ArrayList<>(names());
    if (rng.chance(0.5) && odd.size() > 1) {
      odd.remove(rng.below(odd.size()));
    } else {
      String more = world.nodes[rng.below(mistakes.own())].name;
      if (!odd.contains(more)) {
        odd.add(more);
      }
    }
    if (!maySeed(odd, null)) {
      return names();
    }
    oddLists.add(List.copyOf(odd));
    return odd;
  }

  /** A list that never was a set must not become one: less than a majority of it is empty. */
  private boolean maySeed(List<String> list, SimNode restarting) {
    int empty = 0;
    for (String name : list) {
      SimNode node = node(name);
      empty += node == restarting || !node.record().exists() ? 1 : 0;
    }
    return empty < list.size() / 2 + 1;
  }

  // What may be forgotten.

  /**
   * The node crashes, and forgets its keys and its record if it may. It does not come back with an
   * old record, as from a snapshot: that is outside of the assumptions. Beside another member that
   * restarts empty, it could revive an old set.
   */
  void crash(SimNode node) {
    boolean forgets = rng.chance(0.8) && node.up && mayForget(node);
    if (forgets) {
      restarts++;
      world.coverage.count("set", isChanging() ? "restart in a change" : "restart");
    }
    node.crash(
        forgets ? SimNode.Kept.NOTHING : SimNode.Kept.ALL,
        rng.chance(0.5)
            ? rng.between(1, 5 * Scenario.MS)
            : rng.spread(Scenario.MS, 6 * Scenario.SECOND));
  }

  /** The assumption under which two holders are impossible. */
  private boolean mayForget(SimNode node) {
    if (mistakes.isForeign(node)
        || mistakes.isOneLost()
        || !complete.exists()
        || (isChanging() && restarts >= RESTARTS_IN_A_CHANGE)) {
      return false;
    }
    for (SimNode other : world.nodes) {
      if (isKnown(other) && isUntold(other)) {
        return false;
      }
    }
    boolean newestIsKept = false;
    boolean isInNewest = false;
    for (SimNode other : world.nodes) {
      boolean isNewest = !mistakes.isForeign(other) && other.record().epoch() == opened;
      newestIsKept |= isNewest && other != node;
      isInNewest |= isNewest && other.record().members().contains(node.name);
    }
    boolean removed = isKnown(node) && !isMember(node) && !isInNewest;
    return newestIsKept
        && !removed
        && sets.stream().allMatch(set -> keepsAnother(set, node))
        && oddLists.stream().allMatch(list -> maySeed(list, node));
  }

  /**
   * Whether it was removed without a word of it; or it is to be removed, and was cut off when the
   * set that is complete was sealed (seed 60413). Beside a member that forgets, it could revive the
   * set before.
   */
  private boolean isUntold(SimNode node) {
    NodeRecord record = node.record();
    return isMember(node)
        ? record.exists() && record.floor() < complete.epoch()
        : record.epoch() < complete.epoch();
  }

  /** Whether it is, or was, a member. */
  private boolean isKnown(SimNode node) {
    return sets.stream().anyMatch(set -> set.contains(node.name));
  }

  /** Whether one may be lost: all have a record, and none is all of a set. */
  boolean mayLose() {
    return names().size() > 1
        && members().stream()
            .map(SimNode::record)
            .allMatch(one -> one.exists() && one.members().size() > 1);
  }

  private boolean keepsAnother(List<String> set, SimNode node) {
    return set.stream().map(this::node).anyMatch(other -> other != node && other.record().exists());
  }

  // The end.

  /** All links work again. */
  void networkWorks() {
    mistakes.areCorrected();
    for (SimClient client : world.clients) {
      for (SimLink link : client.links) {
        link.stallEnds();
      }
    }
  }

  /**
   * Completes the change that is open, after the faults have ended.
   *
   * @return false if this world ends here, because two sets contradict each other
   */
  boolean completes(long healthy) {
    return faults.completes(healthy);
  }
}
