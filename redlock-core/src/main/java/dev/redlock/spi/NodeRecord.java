package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

import java.util.List;

/**
 * What a node stores about the set of nodes that it belongs to. A change of the set is an epoch of
 * its own, and adjacent sets differ by one member at most, so that their majorities share a node.
 * Epoch and floor of a node never fall while it keeps its keys.
 *
 * @param id the identity of the deployment: random, chosen by the client that wrote the first
 *     record, and copied with each record. A node refuses records with another id, and a client
 *     counts the votes of one id
 * @param name the name of the node in the set; empty if it was not told
 * @param epoch the number of the newest set that the node knows; 0 in {@link #NONE} and in a
 *     proposal
 * @param members the names of the members of that set, sorted
 * @param before the members of the set before it; empty for the first, and once the change is
 *     complete
 * @param floor the lowest epoch whose votes count here: {@code epoch − 1} while a change is open,
 *     {@code epoch} once it is sealed
 * @param ballot of the operator that wrote this set, also if another node's word was copied; 0 for
 *     the first set. A ballot is a time in microseconds
 * @param promised the highest ballot of an operator that asked the node: earlier ones are refused.
 *     The time when the record was written if the node had none and may have forgotten a promise
 * @param maxLeaseMillis the longest lease time of the deployment, in ms
 * @param maxLeaseBefore that of the set before, while the change is not complete; the same as
 *     {@code maxLeaseMillis} otherwise
 * @param sinceMicros when the floor last rose, or the record was written where there was none, in
 *     microseconds of node time. A change is complete only when each member has kept it for a guard
 *     time
 */
public record NodeRecord(
    String id,
    String name,
    long epoch,
    List<String> members,
    List<String> before,
    long floor,
    long ballot,
    long promised,
    long maxLeaseMillis,
    long maxLeaseBefore,
    long sinceMicros) {

  /** Records of one set share it: each vote compares the members, most often by reference. */
  private static volatile List<String> newest = List.of();

  /** That of a node that keeps records, and has none: it is new, or has lost its keys. */
  public static final NodeRecord NONE =
      new NodeRecord("", "", 0, List.of(), List.of(), 0, 0, 0, 0, 0, 0);

  /**
   * That of a node whose record the client may not read or cannot understand: the user lacks a
   * permission, the key has another type, or the record has no id. It admits no vote, and no client
   * overwrites it. A node that keeps no record at all has none, which is null where it is asked
   * for.
   */
  public static final NodeRecord UNREADABLE =
      new NodeRecord("", "", -1, List.of(), List.of(), 0, 0, 0, 0, 0, 0);

  public NodeRecord {
    requireNonNull(id, "id");
    requireNonNull(name, "name");
    members = shared(members.stream().sorted().toList());
    before = before.stream().sorted().toList();
  }

  private static List<String> shared(List<String> members) {
    List<String> known = newest;
    if (known.equals(members)) {
      return known;
    }
    newest = members;
    return members;
  }

  /** The first record of a deployment. */
  public static NodeRecord first(String id, List<String> members, long maxLeaseMillis) {
    return numbered(id, 1, members, maxLeaseMillis);
  }

  /**
   * What is written before the first record: it may become that once a majority of its members
   * stores it. It admits no vote, and yields to a record.
   */
  public static NodeRecord proposal(String id, List<String> members, long maxLeaseMillis) {
    return numbered(id, 0, members, maxLeaseMillis);
  }

  private static NodeRecord numbered(String id, long epoch, List<String> members, long longest) {
    return new NodeRecord(id, "", epoch, members, List.of(), epoch, 0, 0, longest, longest, 0);
  }

  /** Whether there is one. */
  public boolean exists() {
    return epoch > 0;
  }

  /** Whether it is a proposal of a first record. */
  public boolean isProposal() {
    return epoch == 0 && !members.isEmpty();
  }

  /** Whether the node stores something that this client cannot read. */
  public boolean isUnreadable() {
    return epoch < 0;
  }

  /** The first record that was proposed by this. */
  public NodeRecord confirmed() {
    return first(id, members, maxLeaseMillis);
  }

  /** Whether votes of earlier epochs no longer count here. */
  public boolean isSealed() {
    return floor == epoch;
  }

  /** Whether each member has kept this set for a guard time: the next change may begin. */
  public boolean isComplete() {
    return isSealed() && before.isEmpty();
  }

  /** As an operator writes it that has found the change complete. */
  public NodeRecord complete() {
    return copy(name, List.of(), ballot, promised, maxLeaseMillis);
  }

  /** That of the set before, complete. */
  public NodeRecord predecessor() {
    return numbered(id, epoch - 1, before, maxLeaseBefore);
  }

  /** Whether the node is a member; or was one, and the change is open. */
  public boolean concerns(String node) {
    return members.contains(node) || (!isSealed() && before.contains(node));
  }

  /** Whether the other record has the same identity, epoch, set and longest lease time. */
  public boolean isOfSameSet(NodeRecord other) {
    return epoch == other.epoch
        && id.equals(other.id)
        && members.equals(other.members)
        && maxLeaseMillis == other.maxLeaseMillis;
  }

  /**
   * The longest lease that this node may vote for, in ms. A client whose own longest lease time is
   * greater does not count its votes. It rises when a change is complete, when all members know for
   * how long a node must stay out that has lost its keys; and falls when the change begins.
   */
  public long longestGranted() {
    return Math.min(maxLeaseMillis, maxLeaseBefore);
  }

  /**
   * The longest lease that may be valid here, in ms: for the {@linkplain RestartGuard#guardTime
   * guard time}. It rises when a change begins, and falls when it is complete.
   */
  public long longestValid() {
    return Math.max(maxLeaseMillis, maxLeaseBefore);
  }

  /** Whether a vote of the node counts in a round that asks these members, of this epoch. */
  public boolean admits(long round, List<String> asked) {
    if (round == epoch) {
      return floor <= round && (asked == members || members.equals(asked));
    }
    return floor <= round && round < epoch && (before.isEmpty() || before.equals(asked));
  }

  /** The same record on the node of this name. */
  public NodeRecord of(String node) {
    return copy(node, before, ballot, promised, maxLeaseBefore);
  }

  /** As an operator writes it: with this ballot. */
  public NodeRecord by(long operator) {
    return copy(name, before, operator, operator, maxLeaseBefore);
  }

  private NodeRecord copy(
      String named, List<String> last, long written, long promise, long longestBefore) {
    return new NodeRecord(
        id,
        named,
        epoch,
        members,
        last,
        floor,
        written,
        promise,
        maxLeaseMillis,
        longestBefore,
        sinceMicros);
  }

  /** For people: {@code epoch 3: a:6379, b:6379, c:6379}. */
  @Override
  public String toString() {
    String set = String.join(", ", members);
    return exists()
        ? "epoch " + epoch + ": " + set
        : isProposal()
            ? "a proposal that was not completed: " + set
            : isUnreadable() ? "a record that this client cannot read" : "no record";
  }

  /** With the identity, for people: {@code deployment 5c0ffee: epoch 3: a:6379, b:6379}. */
  public String withId() {
    return id.isEmpty() ? toString() : "deployment " + id + ": " + this;
  }

  /**
   * A conditional change of a node's {@link NodeRecord}, which the node makes in one step, or not
   * at all; {@code record.lua} has the conditions.
   *
   * @param kind what to do
   * @param record what to write; of {@link Kind#PROMISE} only {@code promised} counts
   */
  public record Change(Kind kind, NodeRecord record) {

    /** What a change does. */
    public enum Kind {
      /** Writes a record that is newer than that of the node, or the first one. */
      TELL,
      /** Promises an operator that earlier operators are refused from now on. */
      PROMISE,
      /** Writes the next set: votes of its epoch, and of the one before, count. */
      OPEN,
      /** Raises the floor to the epoch of the set. */
      SEAL,
      /**
       * Deletes the marker with the record, if it has this id: for an operator who gives up what
       * the node says. The node is then as after a restart without keys.
       */
      FORGET
    }
  }
}
