package dev.redlock;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Why an attempt was refused, or what the last of several attempts saw: each node's vote.
 *
 * @param names what was asked for
 * @param verdict what the votes amount to
 * @param quorum how many grants it takes
 * @param votes each node's vote, in the order of configuration; empty if no node was asked
 * @param waited how long the caller waited in all
 * @param attempts how many rounds were put to the nodes for this caller
 */
public record AcquireReport(
    List<String> names,
    Verdict verdict,
    int quorum,
    List<NodeVote> votes,
    Duration waited,
    int attempts) {

  public AcquireReport {
    names = List.copyOf(names);
    requireNonNull(verdict, "verdict");
    votes = List.copyOf(votes);
    requireNonNull(waited, "waited");
  }

  /** What the votes of a refused attempt amount to. */
  public enum Verdict {
    /** Somebody else holds it. */
    HELD,
    /** Held, or waited for, by this very process; no node was asked. */
    HELD_LOCALLY,
    /** Several asked at the same time and split the votes; nobody may hold it. */
    COLLIDED,
    /** Too few nodes could answer: dead, hung, erring or quarantined. */
    UNAVAILABLE,
    /** Too few nodes accept any one fencing token: their clocks lie too far apart. */
    TOKENS_REFUSED,
    /** A quorum granted, but too late for any validity to be left. */
    TOO_SLOW,
    /** The caller gave up, or the client was closed, before there was a verdict. */
    ABANDONED
  }

  /**
   * One node's vote.
   *
   * @param node the node's name, without credentials
   * @param vote what it said
   * @param latency from sending to the answer; zero if nothing was sent
   * @param error why it was silent or is quarantined; null otherwise
   * @param holder a short hash of the holder's lease id, for {@link Vote#HELD}; null otherwise
   * @param remaining how long the holder's key still lives unless extended; null unless held
   */
  public record NodeVote(
      String node,
      Vote vote,
      Duration latency,
      @Nullable String error,
      @Nullable String holder,
      @Nullable Duration remaining) {

    public NodeVote {
      requireNonNull(node, "node");
      requireNonNull(vote, "vote");
      requireNonNull(latency, "latency");
    }

    @Override
    public String toString() {
      StringBuilder out = new StringBuilder(node).append(' ').append(vote);
      if (holder != null) {
        out.append(" by ").append(holder);
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
      return out.toString();
    }
  }

  /** How many nodes voted this way. */
  public int count(Vote vote) {
    int n = 0;
    for (NodeVote v : votes) {
      if (v.vote() == vote) {
        n++;
      }
    }
    return n;
  }

  /** The verdict in one sentence, with what each node said. */
  public String sentence() {
    StringBuilder out = new StringBuilder();
    switch (verdict) {
      case HELD -> out.append("held by another");
      case HELD_LOCALLY -> out.append("held or waited for within this process");
      case COLLIDED -> out.append("several asked at once and split the votes");
      case UNAVAILABLE ->
          out.append("too few nodes can vote: ")
              .append(votes.size() - count(Vote.SILENT) - count(Vote.QUARANTINED))
              .append(" of ")
              .append(votes.size())
              .append(" answered, ")
              .append(quorum)
              .append(" are needed");
      case TOKENS_REFUSED ->
          out.append("too few nodes accept one fencing token; compare their clocks");
      case TOO_SLOW -> out.append("a quorum granted, but too late for any validity to be left");
      case ABANDONED -> out.append("given up before the nodes had answered");
    }
    out.append(" (").append(String.join(", ", names)).append("; waited ");
    out.append(waited.toMillis()).append(" ms, ").append(attempts).append(" attempts)");
    for (int i = 0; i < votes.size(); i++) {
      out.append(i == 0 ? ": " : ", ").append(votes.get(i));
    }
    return out.toString();
  }

  @Override
  public String toString() {
    return sentence();
  }
}
