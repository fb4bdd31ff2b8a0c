package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

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
    return copy(id, name, List.of(), floor, ballot, promised, maxLeaseMillis, sinceMicros);
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
    return copy(id, node, before, floor, ballot, promised, maxLeaseBefore, sinceMicros);
  }

  /** The same record of another deployment. */
  public NodeRecord withIdentity(String other) {
    return id.isEmpty()
        ? this
        : copy(other, name, before, floor, ballot, promised, maxLeaseBefore, sinceMicros);
  }

  /** As an operator writes it: with this ballot. */
  public NodeRecord by(long operator) {
    return copy(id, name, before, floor, operator, operator, maxLeaseBefore, sinceMicros);
  }

  /**
   * What a node that stores {@code stored} stores after the change. The executable specification of
   * {@code record.lua}.
   *
   * @param nowMicros node time
   */
  public static NodeRecord after(NodeRecord stored, Change change, long nowMicros) {
    NodeRecord given = change.record();
    if (change.kind() == Change.Kind.FORGET) {
      return stored.id.equals(given.id) ? NONE : stored;
    }
    if (stored.isUnreadable() || (stored.exists() && !stored.id.equals(given.id))) {
      return stored; // Of another deployment.
    }
    return switch (change.kind()) {
      case FORGET -> throw new AssertionError(change);
      case TELL -> told(stored, given, nowMicros);
      case PROMISE ->
          stored.exists() && stored.promised < given.promised
              ? stored.with(stored.floor, given.promised, stored.sinceMicros)
              : stored;
      case OPEN -> opened(stored, given, nowMicros);
      case SEAL -> stored.isOfSameSet(given) ? stored.raised(given.epoch, nowMicros) : stored;
    };
  }

  private static NodeRecord told(NodeRecord stored, NodeRecord given, long now) {
    if (given.isProposal()) {
      // With a ballot it ends a split between proposals of one list: the smallest id stays.
      boolean first = stored.members.isEmpty();
      boolean smaller = stored.members.equals(given.members) && given.id.compareTo(stored.id) < 0;
      boolean open = !stored.exists() && (first || (given.ballot > 0 && smaller));
      return open ? proposal(given.id, given.members, given.maxLeaseMillis).of(given.name) : stored;
    }
    // An open set counts as written by its operator, which the node may have promised to refuse.
    boolean refused = !given.isSealed() && given.ballot < stored.promised;
    boolean newer = given.epoch > stored.epoch && !refused;
    boolean chosen =
        given.epoch == stored.epoch
            && given.isSealed()
            && !stored.isSealed()
            && !given.isOfSameSet(stored);
    if (newer || chosen) {
      return given.written(stored, given.floor, given.ballot, promise(stored, given, now), now);
    }
    if (!stored.isOfSameSet(given)) {
      return stored;
    }
    NodeRecord raised = stored.raised(given.floor, now);
    return given.isComplete() ? raised.complete() : raised;
  }

  /** A member that has lost its record has forgotten whom it has promised to refuse. */
  private static long promise(NodeRecord stored, NodeRecord given, long now) {
    boolean joins =
        !given.isSealed() && !given.before.isEmpty() && !given.before.contains(given.name);
    return stored.exists() || joins ? Math.max(stored.promised, given.ballot) : now;
  }

  private static NodeRecord opened(NodeRecord stored, NodeRecord given, long now) {
    if (!stored.exists()) {
      // A member that has lost its record gets it by the word of another member first.
      return given.before.contains(given.name)
          ? stored
          : given.written(stored, given.epoch - 1, given.ballot, given.ballot, now);
    }
    boolean next = stored.epoch < given.epoch;
    boolean again =
        stored.epoch == given.epoch && stored.ballot < given.ballot && !stored.isSealed();
    return stored.promised <= given.ballot && (next || again)
        ? given.written(stored, given.epoch - 1, given.ballot, given.ballot, now)
        : stored;
  }

  /** This set, over what is stored; the floor does not fall. */
  private NodeRecord written(
      NodeRecord over, long atLeast, long newBallot, long newPromise, long now) {
    // A name that the proposal of another deployment gave does not stay.
    String own = over.id.equals(id) && !over.name.isEmpty() ? over.name : name;
    long newFloor = Math.max(over.floor, atLeast);
    long since = newFloor > over.floor ? now : over.sinceMicros;
    return copy(id, own, before, newFloor, newBallot, newPromise, maxLeaseBefore, since);
  }

  private NodeRecord raised(long to, long now) {
    return to <= floor ? this : with(to, promised, now);
  }

  private NodeRecord with(long newFloor, long newPromise, long since) {
    return copy(id, name, before, newFloor, ballot, newPromise, maxLeaseBefore, since);
  }

  /** The same epoch, set and longest lease time. */
  private NodeRecord copy(
      String newId,
      String newName,
      List<String> newBefore,
      long newFloor,
      long newBallot,
      long newPromise,
      long newMaxLeaseBefore,
      long since) {
    return new NodeRecord(
        newId,
        newName,
        epoch,
        members,
        newBefore,
        newFloor,
        newBallot,
        newPromise,
        maxLeaseMillis,
        newMaxLeaseBefore,
        since);
  }

  // Written out for the same reason as those of NodeStatus.
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof NodeRecord that
        && isOfSameSet(that)
        && name.equals(that.name)
        && before.equals(that.before)
        && floor == that.floor
        && ballot == that.ballot
        && promised == that.promised
        && maxLeaseBefore == that.maxLeaseBefore
        && sinceMicros == that.sinceMicros;
  }

  @Override
  public int hashCode() {
    return Objects.hash(
        id,
        name,
        epoch,
        members,
        before,
        floor,
        ballot,
        promised,
        maxLeaseMillis,
        maxLeaseBefore,
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
   * at all. {@link NodeRecord#after} says when.
   *
   * @param kind what to do
   * @param record what to write; of {@link Kind#PROMISE} only {@code promised} counts
   */
  public record Change(Kind kind, NodeRecord record) {

    public Change {
      requireNonNull(kind, "kind");
      requireNonNull(record, "record");
    }

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
