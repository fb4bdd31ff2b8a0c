package dev.redlock.internal.sets;

import dev.redlock.spi.NodeRecord;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The first record of a deployment, while no node has one. Pure, as {@link Membership}.
 *
 * <p>The naive way writes the record to all nodes. It fails when two programs start at once: some
 * nodes then have the identity of one, some that of the other, and no identity a majority. So what
 * is written first is a proposal. It admits no vote. All clients write theirs to the same node, by
 * the order of run ids, because they may spell the addresses differently, and copy what they find
 * there. When a majority of the members of a proposal stores it, and each configured node and
 * member that is reached stores one of the same list, its record is written. An empty node could
 * still take that of another list. A record stays; a proposal yields to a record. If the nodes are
 * split between proposals of one list, that with the smallest identity overwrites the others. So
 * the client that began may die at any step, and its first node may come back later, or empty.
 */
final class Founding {
  private final List<Seen> nodes;
  private final List<String> aliases;
  private final int seeds;

  /** The proposal that this client completes; {@link NodeRecord#NONE} if it sees none. */
  final NodeRecord proposal;

  /**
   * Whether each member of the proposal with the smallest identity shows one of the same list, and
   * no proposal has a majority.
   */
  private final boolean isSplit;

  /**
   * @param aliases the names of the nodes in the set, by number
   * @param seeds how many nodes were configured; they have the first numbers
   */
  Founding(List<Seen> nodes, List<String> aliases, int seeds) {
    this.nodes = nodes;
    this.aliases = aliases;
    this.seeds = seeds;
    Map<String, Set<String>> stored = new TreeMap<>();
    Map<String, NodeRecord> proposals = new TreeMap<>();
    for (int i = 0; i < nodes.size(); i++) {
      NodeRecord record = nodes.get(i).record();
      if (isUsed(nodes.get(i)) && record.isProposal()) {
        stored.computeIfAbsent(record.id(), id -> new HashSet<>()).add(aliases.get(i));
        proposals.putIfAbsent(record.id(), record);
      }
    }
    int most = stored.values().stream().mapToInt(Set::size).max().orElse(0);
    isSplit = !stored.isEmpty() && isSplit(stored, proposals, most);
    String chosen = "";
    for (Map.Entry<String, Set<String>> one : stored.entrySet()) {
      boolean fits = chosen.isEmpty() && (isSplit || one.getValue().size() == most);
      chosen = fits ? one.getKey() : chosen; // The smallest: it stays.
    }
    proposal = proposals.getOrDefault(chosen, NodeRecord.NONE);
  }

  private static boolean isSplit(
      Map<String, Set<String>> stored, Map<String, NodeRecord> proposals, int most) {
    List<String> members = proposals.values().iterator().next().members();
    Set<String> showing = new HashSet<>();
    proposals.forEach(
        (id, one) -> showing.addAll(one.members().equals(members) ? stored.get(id) : Set.of()));
    return most < Members.quorumOf(members.size()) && showing.containsAll(members);
  }

  /**
   * What to write.
   *
   * @param late whether a majority of the configured nodes suffices
   * @param lost whether a node has not stored the proposal for long, for example because it is
   *     full: then it is written to all, and those that store it decide
   * @param reading whether those that store the proposal do so at one moment
   */
  List<Tell> tells(
      String newId, long maxLeaseMillis, boolean late, boolean lost, SecondReading reading) {
    List<Seen> list = nodes.subList(0, seeds);
    long reached = list.stream().filter(node -> node.status().usable()).count();
    if (reached < (late ? Members.quorumOf(seeds) : seeds)) {
      return List.of();
    }
    if (proposal.isProposal()) {
      return completed(lost, reading);
    }
    List<String> names = List.copyOf(aliases.subList(0, seeds));
    if (objection(list, names) != null) {
      return List.of();
    }
    NodeRecord own = NodeRecord.proposal(newId, names, maxLeaseMillis);
    List<Tell> tells = new ArrayList<>();
    for (int i = 0; i < seeds; i++) {
      if (nodes.get(i).isEmpty()) {
        tells.add(MissingRecords.tell(i, own, aliases));
      }
    }
    // A replica is asked last: it stores nothing.
    tells.sort(
        Comparator.comparing((Tell tell) -> nodes.get(tell.node()).isRefused())
            .thenComparing(tell -> nodes.get(tell.node()).server()));
    return tells.isEmpty() || lost ? tells : List.of(tells.get(0));
  }

  private List<Tell> completed(boolean lost, SecondReading reading) {
    List<Tell> copies = new ArrayList<>();
    List<Tell> holders = new ArrayList<>();
    List<Tell> records = new ArrayList<>();
    Set<String> named = new HashSet<>(); // A server may be connected under two names.
    for (int i = 0; i < nodes.size(); i++) {
      Seen node = nodes.get(i);
      if (!isUsedMember(i) || !named.add(aliases.get(i))) {
        continue;
      }
      if (isOf(node)) {
        holders.add(MissingRecords.tell(i, proposal, aliases));
        records.add(MissingRecords.tell(i, proposal.confirmed(), aliases));
      } else if (node.isEmpty() && (isSplit || node.record().equals(NodeRecord.NONE))) {
        copies.add(MissingRecords.tell(i, isSplit ? proposal.by(1) : proposal, aliases));
      }
    }
    int majority = majority();
    if (!isEverywhere(lost) || holders.size() < majority) {
      return copies;
    }
    List<Tell> questions = reading.of(holders, nodes, majority);
    return questions.isEmpty() ? records : questions;
  }

  /** Of the members that keep records. Another one has no say, also while it is refused. */
  private int majority() {
    int keeping = proposal.members().size();
    for (int i = 0; i < nodes.size(); i++) {
      keeping -= isMember(i) && !nodes.get(i).keepsRecord() ? 1 : 0;
    }
    return Members.quorumOf(keeping);
  }

  /** Whether no node can take a proposal of another list. One of the same list yields. */
  private boolean isEverywhere(boolean lost) {
    for (int i = 0; i < nodes.size(); i++) {
      Seen node = nodes.get(i);
      if (((i < seeds && isUsed(node)) || isUsedMember(i)) && node.keepsRecord()) {
        boolean stores = node.record().members().equals(proposal.members());
        if (!stores && !(lost && node.record().equals(NodeRecord.NONE))) {
          return false;
        }
      }
    }
    return true;
  }

  private boolean isUsedMember(int node) {
    return isUsed(nodes.get(node)) && isMember(node);
  }

  private boolean isMember(int node) {
    return nodes.get(node).status().usable() && proposal.members().contains(aliases.get(node));
  }

  private boolean isOf(Seen node) {
    return node.record().isProposal() && node.record().id().equals(proposal.id());
  }

  private static boolean isUsed(Seen node) {
    return node.status().usable() && !node.isRefused();
  }

  /**
   * Why the list cannot be the first record; null if it can. One server under two names would be
   * two members, of which one never votes. It shows by its run id, or by the name that a record
   * gave it: the run id is an old one while one of the names does not answer.
   */
  static @Nullable String objection(List<Seen> list, List<String> names) {
    List<String> ids = list.stream().map(Seen::server).filter(id -> !id.isEmpty()).toList();
    boolean twice = Set.copyOf(ids).size() < ids.size() || Set.copyOf(names).size() < names.size();
    return Loopback.isMixed(names)
        ? "the first record cannot hold loopback names beside others: "
            + String.join(", ", names)
            + Loopback.WHY
        : twice ? "the first record cannot hold one server twice: " + names : null;
  }
}
