package dev.redlock.internal.sets;

import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Which deployment and which set of nodes a client works with, and which records it completes.
 * Pure: what the nodes say is the argument, the decision is the result. Nothing here makes a lease
 * safe: a vote counts only if the record of the node that cast it has the identity of the round and
 * admits its epoch.
 *
 * <p>The configured nodes are seeds. The client works with the deployment that a majority of them
 * shows, and with the set that its records name. The naive way takes the newest record that any
 * seed shows. That fails in these histories: one address of the list leads to another deployment,
 * for example by a wrong database, and its record is the newest; or of three seeds two belong to
 * one deployment and one to another, and the first to connect decides. So each record has the
 * identity of its deployment, and the client hears only records of the one that it has chosen. It
 * keeps its choice until it has not seen the set on a majority for a guard time: then no lease is
 * left, and it chooses again by what the members show. This happens when all nodes restarted empty,
 * and a program that started then founded the deployment anew.
 *
 * <p>A node that has lost its keys has lost its record. The naive way lets each client write what
 * it knows. That fails in this history: an operator replaces a member and seals the change. One of
 * the members restarts empty. A client that was cut off all the time reaches only this member and
 * another that was not told, writes the old record, and has a majority of the old set. So a client
 * copies the record of another member that it reaches now. It writes its own knowledge only if no
 * node that it reaches has a record, and it reaches all of its set; or a majority, if it has seen
 * the set on a majority within the last guard time: the set cannot have changed twice since. {@code
 * docs/decisions/safety.md} says what a model found out about these rules.
 *
 * <p>{@link Founding} writes the first record of a deployment.
 */
public final class Membership {
  /**
   * What to do now.
   *
   * @param members those that rounds ask from now on
   * @param missing names of members to which this client has no connection yet
   * @param tells what to write to which node
   * @param objections by node: why it must not vote; null if it may
   */
  public record Decision(
      Members members, List<String> missing, List<Tell> tells, List<@Nullable String> objections) {}

  /** Why no node votes at first. The command waits while it reads this. */
  public static final String WAITS =
      "waits for the other nodes: no majority has a record of the set";

  /**
   * How long a client waits for all of its seeds before it writes the first record without some,
   * says why it has chosen no deployment, or connects to members as if none of its seeds were one
   * of them under another name.
   */
  static final long FIRST_RECORD_NANOS = 3_000_000_000L;

  private final int seeds;
  private final Supplier<String> newIds;
  private final long maxLeaseMillis;
  private final long guardNanos;
  private final long startNanos;

  /** The identity of a deployment that this client founds; empty until it does. */
  private String newId = "";

  /** The deployment that this client has chosen; empty at first. */
  private String id = "";

  /** The set that this client works with. */
  private NodeRecord current = NodeRecord.NONE;

  private Members members;

  /** The members of the current set, and of a newer one that is open. */
  private Set<String> wanted = Set.of();

  /** When a majority of its members had the current set; meaningless if none had. */
  private long confirmedNanos;

  private boolean confirmed;

  /** Whether this client writes the first record of a deployment. */
  private final boolean founds;

  /** Whether it tells nodes what they lack. */
  private boolean tells;

  private boolean settled;

  /** Nodes that are one server with another node, which has its name. */
  private final BitSet doubles = new BitSet();

  private final SecondReading reading = new SecondReading();

  /** Of configured nodes that showed a record when they answered last: its identity. */
  private final Map<Integer, String> shown = new TreeMap<>();

  /**
   * Of configured nodes that a record or a proposal has named: its identity. If the client chooses
   * another one, that name ends, also if the node is away by then, or has lost the record.
   */
  private final Map<Integer, String> namedBy = new TreeMap<>();

  /** By number: the last name that the node had in a record, or that with which it was added. */
  private final List<String> aliases = new ArrayList<>();

  /**
   * @param seeds how many nodes were configured; they have the first numbers
   * @param observes whether this client writes nothing
   * @param newIds random identities for a deployment that this client founds
   * @param maxLeaseMillis the longest lease time of this client
   * @param guardNanos after this time all leases that were granted before have ended
   */
  public Membership(
      int seeds,
      boolean observes,
      Supplier<String> newIds,
      long maxLeaseMillis,
      long guardNanos,
      long nowNanos) {
    this.seeds = seeds;
    this.newIds = newIds;
    founds = !observes;
    tells = !observes;
    this.maxLeaseMillis = maxLeaseMillis;
    this.guardNanos = guardNanos;
    startNanos = nowNanos;
    members = Members.all(seeds);
  }

  /** The record of the set that this client works with; {@link NodeRecord#NONE} at first. */
  public NodeRecord current() {
    return current;
  }

  /** An operator changes the set by this client: it tells nodes, also if it only observed. */
  public void operates() {
    tells = true;
  }

  /** The names of the configured nodes in the set, as far as they are known. */
  public List<String> seeds() {
    return aliases.subList(0, seeds).stream().filter(name -> !name.isEmpty()).toList();
  }

  /** The names of the nodes in the set, by number. */
  public List<String> aliases() {
    return List.copyOf(aliases);
  }

  /** This node was made for this member, which must not get another one before the next review. */
  public void number(int node, String name) {
    if (node == aliases.size()) {
      aliases.add(name);
    }
  }

  /** The name of the node in the set, or that with which it was added. */
  public String nameOf(int node) {
    return node < aliases.size() ? aliases.get(node) : "";
  }

  /** Whether it is known which configured nodes are members. */
  public boolean isSettled() {
    return settled;
  }

  /** The number of the node that has this name, or last had it; −1 if there is none. */
  public int numberOf(String name) {
    return aliases.indexOf(name);
  }

  /**
   * Whether the node is a member of a set that is open, though not of that of the rounds; or was
   * numbered since the last review.
   */
  public boolean isWanted(int node) {
    return node >= aliases.size() || (wanted.contains(aliases.get(node)) && !isDouble(node));
  }

  /** Whether it is the server of another node, which is connected under the name of the record. */
  public boolean isDouble(int node) {
    return doubles.get(node);
  }

  /** The node is closed. If its name becomes a member again, it gets another number. */
  public void forget(int node) {
    aliases.set(node, "");
  }

  /**
   * A node has answered.
   *
   * @param record what it stores since then
   * @return whether there may be more to decide, although its status is as it was
   */
  public boolean answered(Tell tell, NodeRecord record) {
    return reading.answered(tell, record);
  }

  /**
   * The nodes with the words of one deployment only. Records of another one say nothing of this
   * set, and are not changed; a proposal of another one counts as no record, because it yields.
   * Before this client has chosen, it hears a deployment only if it is the only one that nodes
   * show, and all proposals.
   */
  public List<Seen> heard(List<Seen> nodes) {
    Set<String> ids = new HashSet<>();
    nodes.stream().filter(Seen::says).forEach(node -> ids.add(node.record().id()));
    String heard = id.isEmpty() && ids.size() == 1 ? ids.iterator().next() : id;
    return nodes.stream().map(node -> heard(node, heard)).toList();
  }

  private Seen heard(Seen node, String heard) {
    NodeRecord record = node.record();
    boolean stays = id.isEmpty() ? !record.exists() : record.isUnreadable();
    if (stays || record.id().equals(heard) || !node.keepsRecord()) {
      return node;
    }
    NodeRecord instead = record.exists() ? NodeRecord.UNREADABLE : NodeRecord.NONE;
    return new Seen(node.name(), node.status().with(instead), node.server());
  }

  /**
   * Decides anew.
   *
   * @param all all nodes that have a number
   */
  public Decision review(List<Seen> all, long nowNanos) {
    all.stream().skip(aliases.size()).forEach(node -> aliases.add(node.name()));
    if (all.stream().noneMatch(Seen::keepsRecord)) {
      return new Decision(members, List.of(), List.of(), Collections.nCopies(all.size(), null));
    }
    boolean first = id.isEmpty();
    choose(all, nowNanos);
    for (int i = 0; first && !id.isEmpty() && i < seeds; i++) {
      if (!namedBy.getOrDefault(i, id).equals(id)) {
        aliases.set(i, all.get(i).name());
        doubles.clear(i);
      }
    }
    List<Seen> nodes = heard(all);
    rename(nodes);
    settled = isSettled(nodes, nowNanos);
    return id.isEmpty() ? found(all, nodes, nowNanos) : follow(all, nodes, nowNanos);
  }

  /** Chooses the deployment that a majority shows: of the list at first, of the members later. */
  private void choose(List<Seen> all, long nowNanos) {
    if (!id.isEmpty() && (!confirmed || isFresh(nowNanos))) {
      return;
    }
    boolean first = id.isEmpty();
    List<Seen> deciding = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      if ((first ? i < seeds : members.contains(i)) && all.get(i).keepsRecord()) {
        deciding.add(all.get(i));
      }
    }
    int needed = first ? Members.quorumOf(deciding.size()) : members.quorum();
    for (Seen node : deciding) {
      String shown = node.record().id();
      if (!shown.equals(id) && showing(shown, deciding) >= needed) {
        id = shown;
        current = NodeRecord.NONE;
        confirmed = false;
      }
    }
  }

  private static int showing(String id, List<Seen> nodes) {
    int showing = 0;
    for (Seen node : nodes) {
      showing += node.says() && !node.isRefused() && node.record().id().equals(id) ? 1 : 0;
    }
    return showing;
  }

  /** Whether leases of the current set may be left: a majority had it within a guard time. */
  private boolean isFresh(long nowNanos) {
    return nowNanos - confirmedNanos <= Math.min(guardNanos, guardOf(current));
  }

  /** No deployment is chosen yet: completes what another client, or this one, has begun. */
  private Decision found(List<Seen> all, List<Seen> nodes, long nowNanos) {
    boolean late = nowNanos - startNanos >= FIRST_RECORD_NANOS;
    Founding founding = new Founding(nodes, aliases, seeds);
    Optional<Seen> hidden = founds ? hidden(all, founding.proposal.id()) : Optional.empty();
    List<Tell> said = List.of();
    if (all.stream().anyMatch(node -> node.record().epoch() != 0)) {
      // With a node that is not reached, it is not known that they show one deployment only. But
      // one that has the proposal of a record belongs to it.
      boolean everySeed = all.stream().limit(seeds).allMatch(seed -> seed.status().usable());
      said = new ArrayList<>(MissingRecords.words(nodes, aliases));
      said.removeIf(tell -> !everySeed && !isProposed(tell, nodes));
      wanted = Set.of();
    } else {
      boolean lost = nowNanos - startNanos >= 2 * FIRST_RECORD_NANOS;
      if (founds && newId.isEmpty()) {
        newId = newIds.get();
      }
      boolean mayFound = founds && hidden.isEmpty();
      said = mayFound ? founding.tells(newId, maxLeaseMillis, late, lost, reading) : List.of();
      wanted = Set.copyOf(founding.proposal.members());
    }
    String why = late ? Objections.undecided(all, aliases, seeds, hidden) : WAITS;
    return new Decision(
        members,
        settled && tells ? missing() : List.of(),
        tells ? said : List.of(),
        Objections.toAll(all, why));
  }

  /**
   * A configured node that has shown the record of another deployment than this, and is not reached
   * any more: what it showed holds, and the others may be empty because they have restarted.
   */
  private Optional<Seen> hidden(List<Seen> all, String founded) {
    for (int i = 0; i < seeds; i++) {
      if (all.get(i).says()) {
        shown.put(i, all.get(i).record().id());
      } else if (all.get(i).status().usable()) {
        shown.remove(i);
      }
    }
    return shown.entrySet().stream()
        .filter(one -> !one.getValue().equals(founded))
        .map(one -> all.get(one.getKey()))
        .filter(seed -> !seed.status().usable())
        .findFirst();
  }

  private static boolean isProposed(Tell tell, List<Seen> nodes) {
    return nodes.get(tell.node()).record().id().equals(tell.change().record().id());
  }

  /** The names of wanted nodes to which this client has not connected. */
  private List<String> missing() {
    return wanted.stream().filter(name -> !aliases.contains(name)).sorted().toList();
  }

  private Decision follow(List<Seen> all, List<Seen> nodes, long nowNanos) {
    List<Tell> said = new ArrayList<>();
    NodeRecord newest = newest(nodes);
    String contradiction = Contradiction.of(current, newest, nodes, aliases);
    if (contradiction == null && newest.exists()) {
      adopt(nodes, newest);
      said.addAll(MissingRecords.tells(nodes, newest, aliases));
      if (isStoredByMajority(nodes, current)) {
        confirmed = true;
        confirmedNanos = nowNanos;
      }
    } else if (contradiction == null) {
      said.addAll(restored(nodes, nowNanos));
    }
    if (current.exists()) {
      members = Members.of(current, nodes, aliases, maxLeaseMillis);
    }
    wanted = new HashSet<>(current.members());
    wanted.addAll(newest.members());
    // While the change is not complete, an operator asks those of the set before, and tells them.
    // What they say of it does not count, or they would be closed, and then connected again.
    wanted.addAll(current.before());
    for (Seen node : nodes) {
      if (current.members().contains(node.alias()) && node.record().isOfSameSet(current)) {
        wanted.addAll(node.record().before());
      }
    }
    boolean connects = settled || !members.hasQuorum(i -> nodes.get(i).status().usable());
    var objections = new Objections(current, members, maxLeaseMillis);
    return new Decision(
        members,
        connects ? missing() : List.of(),
        tells ? said : List.of(),
        objections.to(all, contradiction));
  }

  /**
   * Whether no configured node will turn out to be a member under another name: one that is not
   * reached yet, or has no record yet and gets it from another client.
   */
  private boolean isSettled(List<Seen> nodes, long nowNanos) {
    return nowNanos - startNanos >= FIRST_RECORD_NANOS
        || nodes.stream().limit(seeds).allMatch(seed -> seed.status().usable() && !seed.isEmpty());
  }

  /**
   * A configured node has the name that its record has, and keeps it when it restarts empty. One
   * whose name is that of a member keeps that: if both are one server, only the name that came
   * first is recorded. A node that was made for the name of a member always keeps that. It is not
   * needed if it is refused while a configured node, which was reached later, votes.
   */
  private void rename(List<Seen> nodes) {
    for (int i = 0; i < seeds; i++) {
      NodeRecord record = nodes.get(i).record();
      boolean named = nodes.get(i).status().usable() && !record.name().isEmpty();
      if (named && !record.members().contains(aliases.get(i))) {
        boolean taken = isTaken(record.name(), i, nodes);
        doubles.set(i, taken);
        if (!taken) {
          namedBy.put(i, record.id());
          aliases.set(i, record.name());
        }
      }
    }
    for (int i = seeds; i < aliases.size(); i++) {
      doubles.set(i, nodes.get(i).isRefused() && isTaken(aliases.get(i), i, nodes));
    }
  }

  /** Whether another node votes under this name: the two are one server, under two addresses. */
  private boolean isTaken(String name, int node, List<Seen> nodes) {
    return IntStream.range(0, aliases.size())
        .filter(i -> i != node && aliases.get(i).equals(name))
        .anyMatch(i -> nodes.get(i).status().state() == NodeStatus.State.VOTING);
  }

  /** The newest record that a node has now. */
  private NodeRecord newest(List<Seen> nodes) {
    return nodes.stream()
        .filter(Seen::says)
        .map(Seen::record)
        .reduce(NodeRecord.NONE, (newest, other) -> isNewer(other, newest) ? other : newest);
  }

  /** Of one epoch that which is sealed is newer. Not by comparators: they make the start longer. */
  private static boolean isNewer(NodeRecord one, NodeRecord other) {
    if (one.epoch() != other.epoch()) {
      return one.epoch() > other.epoch();
    }
    if (one.floor() != other.floor()) {
      return one.floor() > other.floor();
    }
    return one.ballot() != other.ballot()
        ? one.ballot() > other.ballot()
        : one.isComplete() && !other.isComplete();
  }

  /**
   * Works with the newest set, once a majority of its members has it; or at once, if it is sealed:
   * then no vote of an earlier epoch decides any more. While it is open, members of it may forget
   * it, and learn the set before; then this client works with that again. Their votes decide.
   */
  private void adopt(List<Seen> nodes, NodeRecord newest) {
    boolean same = newest.isOfSameSet(current);
    if (same || newest.isSealed() || isStoredByMajority(nodes, newest)) {
      boolean newer = newest.epoch() >= current.epoch();
      current = newer ? newest : current;
    } else if (newest.epoch() > current.epoch() + 1 && !newest.before().isEmpty()) {
      current = newest.predecessor(); // It is complete, or the newest would not be open.
    }
    if (!current.isSealed() && !isAdmittedByMajority(nodes, current)) {
      NodeRecord before = current.predecessor();
      current = isAdmittedByMajority(nodes, before) ? before : current;
    }
  }

  private static boolean isAdmittedByMajority(List<Seen> nodes, NodeRecord set) {
    return isMajority(nodes, set, record -> record.admits(set.epoch(), set.members()));
  }

  private static boolean isStoredByMajority(List<Seen> nodes, NodeRecord set) {
    return isMajority(nodes, set, record -> record.isOfSameSet(set));
  }

  private static boolean isMajority(List<Seen> nodes, NodeRecord set, Predicate<NodeRecord> which) {
    Set<String> found = new HashSet<>();
    for (Seen node : nodes) {
      if (node.says() && which.test(node.record())) {
        found.add(node.alias());
      }
    }
    found.retainAll(set.members());
    return found.size() >= Members.quorumOf(set.members().size());
  }

  /**
   * All nodes that this client reaches have lost their records: it writes its own knowledge, under
   * the conditions above.
   */
  private List<Tell> restored(List<Seen> nodes, long nowNanos) {
    List<Integer> reached = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      if (current.members().contains(aliases.get(i)) && nodes.get(i).status().usable()) {
        reached.add(i);
      }
    }
    int size = current.members().size();
    boolean fresh = confirmed && isFresh(nowNanos);
    return reached.size() < (fresh ? Members.quorumOf(size) : size)
        ? List.of()
        : reached.stream()
            .filter(i -> nodes.get(i).isEmpty())
            .map(i -> MissingRecords.tell(i, current, aliases))
            .toList();
  }

  private static long guardOf(NodeRecord set) {
    return RestartGuard.guardTime(Duration.ofMillis(set.maxLeaseMillis())).toNanos();
  }
}
