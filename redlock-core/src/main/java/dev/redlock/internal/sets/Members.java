package dev.redlock.internal.sets;

import dev.redlock.InvalidOptionException;
import dev.redlock.spi.NodeRecord;
import java.time.Duration;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The nodes among which a round needs a majority: one epoch of the node set. A round keeps the
 * members with which it began, and majorities of two adjacent epochs share a node.
 *
 * @param id the identity of the deployment; empty if the nodes keep no record
 * @param epoch the number of the set; 0 if the nodes keep no record of it
 * @param names the names of the members, sorted; empty if the nodes keep no record
 * @param mask a bit for each member that this client knows, by the number that it has given to the
 *     node
 * @param maxLeaseMillis the longest lease time of this client; 0 if the nodes keep no record
 */
public record Members(String id, long epoch, List<String> names, long mask, long maxLeaseMillis) {

  /** The highest number of nodes that a client can have in its life; the bits of a mask. */
  public static final int MAX = 63;

  /** The longest lease time that {@code LockOptions} accepts. */
  private static final Duration LONGEST_LEASE_TIME = Duration.ofHours(1);

  /** Returns the longest lease time of a deployment, unless it is too long. */
  public static Duration checkMaxLeaseTime(Duration given) {
    if (given.compareTo(LONGEST_LEASE_TIME) > 0) {
      throw InvalidOptionException.of("maxLeaseTime", given, "must not be longer than 1 h");
    }
    return given;
  }

  /** All of this many nodes, which keep no record. */
  public static Members all(int nodes) {
    return new Members("", 0, List.of(), (1L << nodes) - 1, 0);
  }

  /**
   * For each member of the set the node that has shown its name, or was made for it. A member to
   * which this client has not connected yet counts as one that does not reply.
   */
  public static Members of(
      NodeRecord set, List<Seen> nodes, List<String> aliases, long maxLeaseMillis) {
    long mask = 0;
    for (String name : set.members()) {
      int best = -1;
      for (int i = 0; i < nodes.size(); i++) {
        if (aliases.get(i).equals(name)
            && (best < 0 || rank(nodes.get(i)) > rank(nodes.get(best)))) {
          best = i;
        }
      }
      mask |= best < 0 ? 0 : 1L << best;
    }
    return new Members(set.id(), set.epoch(), set.members(), mask, maxLeaseMillis);
  }

  private static int rank(Seen node) {
    return node.status().votes() ? 2 : node.status().usable() ? 1 : 0;
  }

  /** How many they are, reachable or not. */
  public int count() {
    return names.isEmpty() ? Long.bitCount(mask) : names.size();
  }

  /** How many of them this client knows by number: it can ask these. */
  public int known() {
    return Long.bitCount(mask);
  }

  /** ⌊n/2⌋ + 1: two quorums share a node. */
  public int quorum() {
    return quorumOf(count());
  }

  public static int quorumOf(int members) {
    return members / 2 + 1;
  }

  /** How many must not grant before a quorum is out of reach; for even n a tie suffices. */
  public int blocking() {
    return count() - quorum() + 1;
  }

  /** The numbers of those that this client knows, in ascending order. */
  public IntStream indexes() {
    return IntStream.range(0, MAX).filter(this::contains);
  }

  /** Whether this holds of so many of them that a round may be won with these alone. */
  public boolean hasQuorum(IntPredicate which) {
    return indexes().filter(which).count() >= quorum();
  }

  public boolean contains(int node) {
    return (mask & 1L << node) != 0;
  }

  /** Whether the others are those of the same epoch of the same deployment. */
  public boolean isOfSameSet(Members other) {
    return epoch == other.epoch && id.equals(other.id);
  }

  /** Whether a vote of the node that has this record counts in a round of these members. */
  public boolean admittedBy(@Nullable NodeRecord record) {
    return record == null
        || (record.id().equals(id)
            && record.admits(epoch, names)
            && maxLeaseMillis <= record.longestGranted());
  }
}
