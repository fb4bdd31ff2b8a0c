package dev.redlock;

import static java.util.Objects.requireNonNull;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.Printable;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why an acquire, an extension or a release failed: the verdict of the last round, and each node's
 * vote in it.
 *
 * @param names the names of the lock, sorted
 * @param verdict the result of the votes
 * @param quorum how many grants are needed
 * @param votes each node's vote, in the order of configuration; empty if no node was asked
 * @param waited how long the caller waited in total
 * @param rounds the number of rounds that the client sent for this caller
 * @param overdue how long after the node timeout the client judged the votes. More than a few
 *     milliseconds mean that its process was paused, or that its machine is overloaded
 * @param queuedBefore {@link Verdict#HELD}, if the lock was free: how many processes that have not
 *     answered their turn yet were queued before this one; otherwise 0
 */
public record AcquireReport(
    List<String> names,
    Verdict verdict,
    int quorum,
    List<NodeVote> votes,
    Duration waited,
    int rounds,
    Duration overdue,
    int queuedBefore)
    implements Serializable {
  private static final Duration PAUSE = Duration.ofMillis(10);

  public AcquireReport {
    names = List.copyOf(names);
    requireNonNull(verdict, "verdict");
    votes = List.copyOf(votes);
    requireNonNull(waited, "waited");
    requireNonNull(overdue, "overdue");
  }

  /** A report on a lock that no queued process keeps from this client. */
  public AcquireReport(
      List<String> names,
      Verdict verdict,
      int quorum,
      List<NodeVote> votes,
      Duration waited,
      int rounds,
      Duration overdue) {
    this(names, verdict, quorum, votes, waited, rounds, overdue, 0);
  }

  /** The result of the votes of a round that failed. */
  public enum Verdict {
    /**
     * Another client holds the lock. Or the lock is free, and processes that were queued before
     * have their turn; see {@link AcquireReport#queuedBefore()}.
     */
    HELD,
    /** This client holds the lock or waits for it; no node was asked. */
    HELD_LOCALLY,
    /**
     * Several clients asked at the same time. They split the votes, or overtook each other; the
     * lock may be free.
     */
    COLLIDED,
    /** Too few nodes voted: the others are dead, hung, erring or quarantined. */
    UNAVAILABLE,
    /** Too few nodes accept one fencing token: their clocks differ too much. */
    TOKENS_REFUSED,
    /** A quorum granted, but after the node timeout, or with no validity left. */
    TOO_SLOW,
    /** The wait timeout passed before the first round was decided. */
    TIMED_OUT,
    /** The client was closed. */
    CLOSED;

    /** Whether others have the lock, come first, or asked at the same time. */
    public boolean isHeld() {
      return this == HELD || this == HELD_LOCALLY || this == COLLIDED;
    }
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

    public NodeVote {
      requireNonNull(node, "node");
      requireNonNull(vote, "vote");
      requireNonNull(latency, "latency");
    }

    /** A vote without the label of the holder. */
    public NodeVote(
        String node,
        Vote vote,
        Duration latency,
        @Nullable String error,
        @Nullable String holder,
        @Nullable Duration remaining) {
      this(node, vote, latency, error, holder, remaining, null);
    }

    @Override
    public String toString() {
      StringBuilder out = new StringBuilder(node).append(' ').append(vote);
      if (holder != null) {
        out.append(" by ").append(holder);
      }
      if (holderLabel != null) {
        out.append(" '").append(holderLabel).append('\'');
      }
      if (remaining != null) {
        out.append(" for ").append(remaining.toMillis()).append(" ms");
      }
      if (error != null) {
        out.append(" (").append(error).append(')');
      }
      if (!latency.isZero()) {
        out.append(" in ").append(latency.toNanos() / 1000).append(" µs");
      }
      return Printable.of(out.toString());
    }
  }

  /** How many nodes voted this way. */
  public int count(Vote vote) {
    return (int) votes.stream().filter(v -> v.vote() == vote).count();
  }

  /** The verdict in one sentence, with each node's vote. */
  public String sentence() {
    StringBuilder out = new StringBuilder();
    switch (verdict) {
      case HELD -> out.append(queuedBefore == 0 ? "held by another client" : free());
      case HELD_LOCALLY -> out.append("held or waited for by this client");
      case COLLIDED -> out.append("several clients asked at once; this one got no quorum");
      case UNAVAILABLE ->
          out.append("too few nodes: ")
              .append(votes.size() - count(Vote.SILENT) - count(Vote.QUARANTINED))
              .append(" of ")
              .append(votes.size())
              .append(count(Vote.NOT_ASKED) > 0 ? " could be asked, " : " voted in time, ")
              .append(quorum)
              .append(" are needed");
      case TOKENS_REFUSED ->
          out.append("too few nodes accept one fencing token; compare their clocks");
      case TOO_SLOW -> out.append("too slow: a quorum granted, but after the node timeout");
      case TIMED_OUT -> out.append("the wait timeout passed before the nodes replied");
      case CLOSED -> out.append("the client was closed");
    }
    if (overdue.compareTo(PAUSE) >= 0) {
      out.append("; this client was paused for at least ").append(overdue.toMillis()).append(" ms");
    }
    out.append(" (").append(LockKeys.shown(names)).append("; waited ");
    out.append(waited.toMillis())
        .append(" ms, ")
        .append(rounds)
        .append(rounds == 1 ? " round)" : " rounds)");
    for (int i = 0; i < votes.size(); i++) {
      out.append(i == 0 ? ": " : ", ").append(votes.get(i));
    }
    return Printable.of(out.toString());
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
}
