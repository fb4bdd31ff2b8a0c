package dev.redlock;

import static java.util.stream.Collectors.joining;

import dev.redlock.internal.text.Printable;
import dev.redlock.spi.LockKeys;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Why an acquire, an extension or a release failed: the verdict, and each node's vote in the last
 * round.
 *
 * @param names the names of the lock, sorted
 * @param verdict why it failed
 * @param quorum how many grants are needed
 * @param votes each node's vote, in the order of configuration; empty if no node was asked
 * @param waited how long the caller waited in total
 * @param rounds the number of rounds that the client sent for this caller
 * @param overdue how long after the node timeout the client judged the votes. More than a few
 *     milliseconds mean that its process was paused, or that its machine is overloaded
 * @param queuedBefore how many came first. {@link AcquireVerdict#HELD}, if the lock was free: the
 *     processes that were queued before this one, and have not answered their turn yet. {@link
 *     AcquireVerdict#QUEUE_FULL}: the callers of this client that wait. Otherwise 0
 * @param ownLease the lease of this client that has the lock or one of its names; null if there is
 *     none, or if that is not why it failed
 */
public record AcquireReport(
    List<String> names,
    AcquireVerdict verdict,
    int quorum,
    List<NodeVote> votes,
    Duration waited,
    int rounds,
    Duration overdue,
    int queuedBefore,
    @Nullable OwnLease ownLease)
    implements Serializable {
  private static final Duration PAUSE = Duration.ofMillis(10);

  public AcquireReport {
    names = List.copyOf(names);
    votes = List.copyOf(votes);
  }

  /**
   * A lease that the same client holds.
   *
   * @param token its fencing token
   * @param age since when
   */
  public record OwnLease(long token, Duration age) implements Serializable {}

  /** The same report, with the lease of this client that has the lock or one of its names. */
  public AcquireReport heldBy(OwnLease own) {
    return new AcquireReport(
        names, verdict, quorum, votes, waited, rounds, overdue, queuedBefore, own);
  }

  /**
   * One node's vote.
   *
   * @param node the node's name, without credentials
   * @param vote its vote
   * @param latency from the request to the reply; zero if nothing was sent
   * @param error why it did not reply, or is quarantined; null otherwise
   * @param holder a short hash of the holder's lease id, for {@link Vote#HELD}; null otherwise
   * @param remaining when the holder's key expires unless it is extended; null unless held
   * @param holderLabel the {@linkplain RedlockBuilder#label label} of the holder's client, a hint;
   *     null if it has none, or the lock is not held
   */
  public record NodeVote(
      String node,
      Vote vote,
      Duration latency,
      @Nullable String error,
      @Nullable String holder,
      @Nullable Duration remaining,
      @Nullable String holderLabel)
      implements Serializable {

    @Override
    public String toString() {
      String took = latency.isZero() ? "" : " in " + Printable.about(latency);
      return Printable.of(node + " " + what() + took);
    }

    /** All but the node and the latency: several nodes may say the same. */
    String what() {
      StringBuilder out = new StringBuilder().append(vote);
      if (holder != null) {
        out.append(" by ").append(holder);
      }
      if (holderLabel != null) {
        out.append(" '").append(holderLabel).append('\'');
      }
      if (remaining != null) {
        out.append(" for ").append(Printable.about(remaining));
      }
      if (error != null) {
        out.append(" (").append(error).append(')');
      }
      return out.toString();
    }
  }

  /** How many nodes voted this way. */
  public int count(Vote vote) {
    return (int) votes.stream().filter(v -> v.vote() == vote).count();
  }

  /** The verdict in one sentence, with each node's vote. */
  public String sentence() {
    StringBuilder out = new StringBuilder(cause());
    if (overdue.compareTo(PAUSE) >= 0) {
      out.append("; this client was paused for at least ").append(Printable.about(overdue));
    }
    out.append(" (").append(LockKeys.shown(names)).append("; waited ");
    out.append(Printable.about(waited)).append(", ").append(rounds);
    out.append(rounds == 1 ? " round)" : " rounds)");
    // Why nodes did not reply is said once for all that say the same.
    Map<String, List<NodeVote>> groups = new LinkedHashMap<>();
    for (NodeVote vote : votes) {
      String key = vote.error == null ? vote.toString() : vote.what();
      groups.computeIfAbsent(key, same -> new ArrayList<>()).add(vote);
    }
    String separator = ": ";
    for (List<NodeVote> group : groups.values()) {
      String nodes = group.stream().map(NodeVote::node).collect(joining(", "));
      NodeVote first = group.get(0);
      out.append(separator).append(group.size() == 1 ? first : nodes + " " + first.what());
      separator = ", ";
    }
    return Printable.of(out.toString());
  }

  private String cause() {
    if (ownLease != null) {
      return ("held by this client since %s (token %s); locks are not reentrant: pass the lease, or"
              + " use reentrantLock")
          .formatted(Printable.about(ownLease.age), ownLease.token);
    }
    return switch (verdict) {
      case ACQUIRED -> "acquired";
      case HELD -> queuedBefore == 0 ? "held by another client" : free();
      case HELD_LOCALLY -> "held or waited for by this client";
      case COLLIDED -> "several clients asked at once; this one got no quorum";
      case UNAVAILABLE -> "too few nodes: " + voted() + ", " + quorum + " are needed";
      case STALE -> "too few nodes accept one fencing token; compare their clocks";
      case TOO_SLOW -> "too slow: a quorum granted, but after the node timeout";
      case UNDECIDED -> "the wait timeout passed before the nodes replied";
      case QUEUE_FULL -> queuedBefore + " callers of this client already wait: the queue is full";
      case CANCELLED -> "the caller gave up";
      case CLOSED -> "the client was closed";
    };
  }

  private String voted() {
    int voted = votes.size() - count(Vote.SILENT) - count(Vote.QUARANTINED);
    String how = count(Vote.NOT_ASKED) > 0 ? " could be asked" : " voted in time";
    return voted + " of " + votes.size() + how;
  }

  private String free() {
    return queuedBefore == 1
        ? "free, 1 process queued before does not answer"
        : "free, " + queuedBefore + " processes queued before do not answer";
  }

  @Override
  public String toString() {
    return sentence();
  }

  /** One node's reply to an acquire. */
  public enum Vote {
    /** The node stored the lease. */
    GRANTED,
    /** Another lease has the name on this node, or another client has its turn. */
    HELD,
    /** The node does not accept the fencing token. */
    STALE,
    /**
     * No definite reply: no connection, no reply in time, or an error. What the node did is
     * unknown.
     */
    SILENT,
    /**
     * The client did not ask the node: its vote could not have changed the result, or a majority
     * was asked first.
     */
    NOT_ASKED,
    /** The node may have forgotten leases; its vote counts only after they have expired. */
    QUARANTINED
  }
}
