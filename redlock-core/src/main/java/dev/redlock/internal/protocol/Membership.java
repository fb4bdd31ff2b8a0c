package dev.redlock.internal.protocol;

import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Which set of nodes a client works with, and which records it completes. Pure: what the nodes say
 * is the argument, the decision is the result. Nothing here makes a lease safe: a vote counts only
 * if the record of the node that cast it admits the epoch of the round.
 *
 * <p>The configured nodes are seeds. If a node has a record, the client works with the set that it
 * names. The first client of a deployment writes the record from its seeds.
 *
 * <p>A node that has lost its keys has lost its record. The naive way lets each client write what
 * it knows. That fails in this history: an operator replaces a member and seals the change. One of
 * the members restarts empty. A client that was cut off all the time reaches only this member and
 * another that was not told, writes the old record, and has a majority of the old set. So a client
 * copies the record of another member that it reaches now. It writes its own knowledge only if no
 * node that it reaches has a record, and it reaches all of its set; or a majority, if it has seen
 * the set on a majority within the last guard time: the set cannot have changed twice since. {@code
 * docs/decisions/changes.md} says what a model found out about these rules.
 *
 * <p>A client that starts with a list of which some nodes are down writes the first record after
 * {@link #FIRST_RECORD_NANOS}: a new deployment must not depend on each node.
 */
public final class Membership {
  /**
   * One node, as this client sees it.
   *
   * @param name the name with which this client was configured, or that a record gave it
   * @param status its own status
   * @param server what all clients call the server, whatever its address; empty if unknown. It
   *     matters while no node has a record
   */
  public record Seen(String name, NodeStatus status, String server) {
    boolean keepsRecord() {
      return status.record() != null;
    }

    NodeRecord record() {
      NodeRecord record = status.record();
      return record == null ? NodeRecord.NONE : record;
    }

    boolean says() {
      return status.usable() && record().exists();
    }

    boolean isEmpty() {
      return status.usable() && keepsRecord() && !record().exists();
    }

    /** Whether it is kept out until its server changes, for example because it is a replica. */
    boolean isRefused() {
      return status.state() == NodeStatus.State.QUARANTINED && status.untilNanos() == 0;
    }

    private Seen withoutWord() {
      return new Seen(name, status.with(NodeRecord.NONE), server);
    }

    /** Its name in the set: its own record decides. */
    public String alias() {
      return record().name().isEmpty() ? name : record().name();
    }
  }

  /** A change to send to a node. */
  public record Tell(int node, NodeRecord.Change change) {}

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

  /** Why no node votes at first. */
  public static final String WAITS = "waits for the other nodes: none has a record of the set";

  /**
   * How long a client waits for all of its seeds before it writes the first record without some, or
   * connects to members as if none of its seeds were one of them under another name.
   */
  static final long FIRST_RECORD_NANOS = 3_000_000_000L;

  private final int seeds;
  private final long maxLeaseMillis;
  private final long guardNanos;
  private final long startNanos;

  /** The set that this client works with. */
  private NodeRecord current = NodeRecord.NONE;

  private Members members;

  /** The members of the current set, and of a newer one that is open. */
  private Set<String> wanted = Set.of();

  /** When a majority of its members had the current set; 0 if none had. */
  private long confirmedNanos;

  private boolean confirmed;

  /**
   * Whether this client has written the first record, and not all nodes that it reaches and that
   * may vote have it.
   */
  private boolean starting;

  /** Nodes that were added and have been members of a set since, if only of an open one. */
  private final BitSet joined = new BitSet();

  /** Nodes that are one server with another node, which has its name. */
  private final BitSet doubles = new BitSet();

  /** By number: the last name that the node had in a record, or that with which it was added. */
  private final List<String> aliases = new ArrayList<>();

  /**
   * @param seeds how many nodes were configured; they have the first numbers
   * @param maxLeaseMillis the longest lease time of this client
   * @param guardNanos after this time all leases that were granted before have ended
   */
  public Membership(int seeds, long maxLeaseMillis, long guardNanos, long nowNanos) {
    this.seeds = seeds;
    this.maxLeaseMillis = maxLeaseMillis;
    this.guardNanos = guardNanos;
    startNanos = nowNanos;
    members = Members.all(seeds);
  }

  /** The record of the set that this client works with; {@link NodeRecord#NONE} at first. */
  public NodeRecord current() {
    return current;
  }

  /** The names of the configured nodes in the set, as far as they are known. */
  public List<String> seeds() {
    return aliases.subList(0, seeds).stream().filter(name -> !name.isEmpty()).toList();
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
    return node >= aliases.size() || wanted.contains(aliases.get(node));
  }

  /** Whether it is the server of another node, which is connected under the name of the record. */
  public boolean isDouble(int node) {
    return doubles.get(node);
  }

  /** The node is closed. If its name becomes a member again, it gets another number. */
  public void forget(int node) {
    aliases.set(node, "");
    joined.clear(node);
  }

  /**
   * The nodes without the word of strangers. A node that may become a member, and is none yet, can
   * belong to another deployment: its record says nothing of this set, and must not be changed.
   */
  public List<Seen> heard(List<Seen> nodes) {
    List<Seen> heard = new ArrayList<>(nodes);
    for (int i = seeds; i < nodes.size(); i++) {
      Seen node = nodes.get(i);
      if (wanted.contains(i < aliases.size() ? aliases.get(i) : node.name())) {
        joined.set(i);
      }
      if (!joined.get(i) && node.record().exists()) {
        heard.set(i, node.withoutWord());
      }
    }
    return heard;
  }

  /**
   * Decides anew.
   *
   * @param all all nodes that have a number
   */
  public Decision review(List<Seen> all, long nowNanos) {
    List<Seen> nodes = heard(all);
    if (nodes.stream().noneMatch(Seen::keepsRecord)) {
      return new Decision(members, List.of(), List.of(), Collections.nCopies(nodes.size(), null));
    }
    rename(nodes);
    List<Tell> tells = new ArrayList<>();
    NodeRecord newest = newest(nodes);
    String contradiction = Contradiction.of(current, newest, nodes, aliases);
    List<String> missing = List.of();
    if (contradiction == null && newest.exists()) {
      adopt(nodes, newest);
      tells.addAll(MissingRecords.tells(nodes, newest, aliases));
      if (isStoredByMajority(nodes, current)) {
        confirmed = true;
        confirmedNanos = nowNanos;
      }
      starting &= nodes.stream().anyMatch(node -> node.isEmpty() && !node.isRefused());
    } else if (contradiction == null) {
      startOver(nodes, nowNanos, tells);
    }
    if (current.exists()) {
      if (aliases.containsAll(current.members())) {
        members = Members.of(current, nodes, aliases, maxLeaseMillis);
      }
      wanted = new HashSet<>(current.members());
      wanted.addAll(newest.members());
      if (!current.isComplete()) {
        wanted.addAll(current.before()); // An operator asks them for promises, and tells them.
      }
      Set<String> without = new HashSet<>(wanted);
      aliases.forEach(without::remove);
      missing = isSettled(nodes, nowNanos) ? without.stream().sorted().toList() : List.of();
    }
    var objections = new Objections(current, members, starting, maxLeaseMillis);
    return new Decision(members, missing, tells, objections.to(nodes, contradiction));
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
   * A node has the name that its record has, and keeps it when it restarts empty. One whose name is
   * that of a member keeps that: if both are one server, only the name that came first is recorded.
   */
  private void rename(List<Seen> nodes) {
    for (int i = 0; i < nodes.size(); i++) {
      Seen node = nodes.get(i);
      if (i == aliases.size()) {
        aliases.add(node.name());
      }
      boolean known = node.record().members().contains(aliases.get(i));
      if (node.says() && !known) {
        boolean taken = isTaken(node.alias(), i, nodes);
        doubles.set(i, taken);
        aliases.set(i, taken ? aliases.get(i) : node.alias());
      }
    }
  }

  /** Whether another node votes under this name: the two are one server, under two addresses. */
  private boolean isTaken(String name, int node, List<Seen> nodes) {
    for (int i = 0; i < aliases.size(); i++) {
      boolean votes = nodes.get(i).status().state() == NodeStatus.State.VOTING;
      if (i != node && aliases.get(i).equals(name) && votes) {
        return true;
      }
    }
    return false;
  }

  /** A node that may become a member can have the record of another deployment. */
  private boolean isOfThisSet(Seen node) {
    return !current.exists()
        || current.members().contains(node.alias())
        || current.before().contains(node.alias())
        || wanted.contains(node.alias());
  }

  /** The newest record that a node has now. */
  private NodeRecord newest(List<Seen> nodes) {
    NodeRecord newest = NodeRecord.NONE;
    for (Seen node : nodes) {
      if (node.says() && isOfThisSet(node) && isNewer(node.record(), newest)) {
        newest = node.record();
      }
    }
    return newest;
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
   * No node has a record: the deployment is new, or all of its nodes have restarted. The first
   * record is written to one node, which all clients choose alike, and then copied to the others:
   * clients that start at once may spell the addresses differently. If that node does not store it
   * for long, for example because it is full, all are told.
   */
  private void startOver(List<Seen> nodes, long nowNanos, List<Tell> tells) {
    List<String> names = current.exists() ? current.members() : aliases.subList(0, seeds);
    NodeRecord record =
        current.exists() ? current : NodeRecord.first(List.copyOf(names), maxLeaseMillis);
    List<Integer> reached = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      if (names.contains(aliases.get(i)) && nodes.get(i).status().usable()) {
        reached.add(i);
      }
    }
    long nanos = nowNanos - startNanos;
    boolean fresh =
        current.exists()
            ? confirmed && nowNanos - confirmedNanos <= Math.min(guardNanos, guardOf(current))
            : nanos >= FIRST_RECORD_NANOS;
    if (reached.size() >= (fresh ? Members.quorumOf(names.size()) : names.size())) {
      starting |= !current.exists();
      reached.stream()
          .filter(i -> nodes.get(i).isEmpty())
          .sorted(
              Comparator.comparing((Integer i) -> nodes.get(i).isRefused())
                  .thenComparing(i -> nodes.get(i).server()))
          .limit(current.exists() || nanos >= 2 * FIRST_RECORD_NANOS ? reached.size() : 1)
          .forEach(i -> tells.add(MissingRecords.tell(i, record, aliases)));
    }
  }

  private static long guardOf(NodeRecord set) {
    return RestartGuard.guardTime(Duration.ofMillis(set.maxLeaseMillis())).toNanos();
  }
}
