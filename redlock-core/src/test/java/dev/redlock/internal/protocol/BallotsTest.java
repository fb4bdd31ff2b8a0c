package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Every ballot in every order of arrival, for one to five nodes. After each reply the test compares
 * the verdict with the rules. The rules name the sets of nodes that are a quorum; the protocol
 * counts votes. The verdict must be the same, must come neither earlier nor later, and must not
 * change afterwards.
 */
class BallotsTest {
  private static final LockOptions CONFIG = LockOptions.defaults();
  private static final LockKeys KEYS = LockKeys.of("t", List.of("x"));

  /** The connection that is current; what came on another does not count any more. */
  private static final long CONNECTION = 1;

  private static final long NOW = 10_000_000_000L;
  private static final NodeStatus VOTING = status(State.VOTING, 0);

  /** Quarantined exactly long enough for its replies to an extension to count. */
  private static final NodeStatus OLD =
      status(State.QUARANTINED, NOW - ExtendRound.QUARANTINE_COUNTS_NANOS);

  private static final NodeStatus YOUNG =
      status(State.QUARANTINED, NOW - ExtendRound.QUARANTINE_COUNTS_NANOS + 1);

  /** One possible vote of a node; the reply is null if none comes. */
  private static final class Kind {
    private final String name;
    private final NodeStatus status;
    private final @Nullable NodeReply reply;

    Kind(String name, NodeStatus status, @Nullable NodeReply reply) {
      this.name = name;
      this.status = status;
      this.reply = reply;
    }

    NodeStatus status() {
      return status;
    }

    @Nullable NodeReply reply() {
      return reply;
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static final Kind GRANTED = came("granted", VOTING, Code.GRANTED);
  private static final Kind HELD_BY_A =
      new Kind("held by a", VOTING, NodeReply.held(CONNECTION, 1, 1, 1000, "a"));
  private static final Kind HELD_BY_B =
      new Kind("held by b", VOTING, NodeReply.held(CONNECTION, 1, 1, 1000, "b"));
  private static final Kind STALE = came("stale", VOTING, Code.STALE);
  private static final Kind QUARANTINED = new Kind("quarantined", OLD, null);
  private static final Kind GRANTED_BEFORE =
      new Kind("granted before a flush", VOTING, answer(Code.GRANTED, CONNECTION - 1));

  private static final Kind EXTENDED = came("extended", VOTING, Code.EXTENDED);
  private static final Kind REPAIRED_OLD = came("repaired, old", OLD, Code.REPAIRED);
  private static final Kind REPAIRED_YOUNG = came("repaired, young", YOUNG, Code.REPAIRED);
  private static final Kind EXTENDED_BEFORE =
      new Kind("extended before a flush", VOTING, answer(Code.EXTENDED, CONNECTION - 1));
  private static final Kind LOST = came("lost", VOTING, Code.LOST);
  private static final Kind LOST_QUARANTINED = came("lost, quarantined", OLD, Code.LOST);

  private static final Kind FAILED =
      new Kind("failed", VOTING, NodeReply.failed(CONNECTION, NodeError.Kind.TIMEOUT, ""));
  private static final Kind NEVER = new Kind("never", VOTING, null);

  private static final List<Kind> VOTES =
      List.of(GRANTED, HELD_BY_A, HELD_BY_B, STALE, FAILED, GRANTED_BEFORE, QUARANTINED, NEVER);
  private static final List<Kind> SILENT = List.of(FAILED, GRANTED_BEFORE, QUARANTINED);

  private static final List<Kind> ANSWERS =
      List.of(
          EXTENDED, REPAIRED_OLD, REPAIRED_YOUNG, LOST, LOST_QUARANTINED, EXTENDED_BEFORE, NEVER);
  private static final List<Kind> YES = List.of(EXTENDED, REPAIRED_OLD);

  /**
   * The verdict of the rules when all replies except those of {@code open} have come; null if none.
   */
  private static @Nullable String acquired(Kind[] votes, int open) {
    int n = votes.length;
    if (aQuorum(n, i -> !is(open, i) && votes[i] == GRANTED)) {
      return "ACQUIRED";
    }
    if (aQuorum(n, i -> is(open, i) || votes[i] == GRANTED)) {
      return null;
    }
    if (!aQuorum(n, i -> is(open, i) || !SILENT.contains(votes[i]))) {
      return "UNAVAILABLE";
    }
    if (aQuorum(n, i -> is(open, i) || votes[i] == GRANTED || votes[i] == STALE)) {
      return "STALE"; // With another token it could have been won.
    }
    for (Kind holder : List.of(HELD_BY_A, HELD_BY_B)) {
      boolean seen = false;
      for (int i = 0; i < n; i++) {
        seen |= !is(open, i) && votes[i] == holder;
      }
      if (seen && aQuorum(n, i -> is(open, i) || votes[i] == holder || SILENT.contains(votes[i]))) {
        return "HELD";
      }
    }
    return "COLLIDED";
  }

  private static @Nullable String extended(Kind[] answers, int open) {
    int n = answers.length;
    if (aQuorum(n, i -> !is(open, i) && YES.contains(answers[i]))) {
      return "RENEWED";
    }
    if (!aQuorum(n, i -> is(open, i) || answers[i] != LOST)) {
      return "LOST";
    }
    boolean mayBeRenewed = aQuorum(n, i -> is(open, i) || YES.contains(answers[i]));
    boolean mayBeLost = open != 0 && !aQuorum(n, i -> !is(open, i) && answers[i] != LOST);
    return mayBeRenewed || mayBeLost ? null : "UNKNOWN";
  }

  /** Whether more than half of all nodes are in this set. */
  private static boolean aQuorum(int n, IntPredicate of) {
    for (int set = 0; set < 1 << n; set++) {
      boolean all = 2 * Integer.bitCount(set) > n;
      for (int i = 0; i < n && all; i++) {
        all = !is(set, i) || of.test(i);
      }
      if (all) {
        return true;
      }
    }
    return false;
  }

  private static boolean is(int mask, int node) {
    return (mask & 1 << node) != 0;
  }

  /** A round of either kind. */
  private interface Round {
    /** The verdict before the first reply. */
    Object begin();

    Object onReply(int node, NodeReply reply);

    Object onTimeout();

    Exchange exchange();
  }

  private static final class Acquiring implements Round {
    private final AcquireRound round;

    Acquiring(Kind[] votes) {
      LockRequest.Acquire request = new LockRequest.Acquire(KEYS, "id", 5, 30_000, null);
      round = new AcquireRound(nodes(votes), request, CONFIG, false, -1, NOW, 0);
    }

    @Override
    public Object begin() {
      return round.decide(NOW, 0, false);
    }

    @Override
    public Object onReply(int node, NodeReply reply) {
      return round.onReply(node, reply, NOW, 0);
    }

    @Override
    public Object onTimeout() {
      return round.decide(NOW, 0, true);
    }

    @Override
    public Exchange exchange() {
      return round;
    }
  }

  private static final class Extending implements Round {
    private final ExtendRound round;

    Extending(Kind[] answers) {
      Nodes nodes = nodes(answers);
      LockRequest.Acquire won = new LockRequest.Acquire(KEYS, "id", 5, 30_000, null);
      HeldLease lease =
          new HeldLease(
              new Grant(new AcquireRound(nodes, won, CONFIG, false, -1, NOW, 0), CONFIG),
              nodes,
              new TestNodes.Middle(),
              List.of());
      round = new ExtendRound(nodes, lease, 30_000, false, nodes.members().mask(), NOW, 0);
    }

    @Override
    public Object begin() {
      return round.verdict();
    }

    @Override
    public Object onReply(int node, NodeReply reply) {
      return round.onReply(node, reply, NOW, 0);
    }

    @Override
    public Object onTimeout() {
      return round.decide(NOW, 0, true);
    }

    @Override
    public Exchange exchange() {
      return round;
    }
  }

  /** One kind of round, and the verdict of the rules for each of its states; computed once. */
  private abstract static class Ballots {
    private final List<Kind> kinds;
    private final String[] known;
    int runs;

    Ballots(List<Kind> kinds) {
      this.kinds = kinds;
      known = new String[1 << 20];
    }

    abstract Round round(Kind[] votes);

    abstract @Nullable String rule(Kind[] votes, int open);

    void all() {
      for (int n = 1; n <= 5; n++) {
        Arrays.fill(known, null);
        int ballots = (int) Math.pow(kinds.size(), n);
        for (int ballot = 0; ballot < ballots; ballot++) {
          Kind[] votes = new Kind[n];
          int come = 0;
          for (int i = 0, rest = ballot; i < n; i++, rest /= kinds.size()) {
            votes[i] = kinds.get(rest % kinds.size());
            come |= votes[i].reply() == null ? 0 : 1 << i;
          }
          arrive(ballot, votes, new int[n], 0, come);
        }
      }
    }

    private void arrive(int ballot, Kind[] votes, int[] order, int placed, int left) {
      if (left == 0) {
        check(ballot, votes, order, placed);
        return;
      }
      for (int i = 0; i < votes.length; i++) {
        if (is(left, i)) {
          order[placed] = i;
          arrive(ballot, votes, order, placed + 1, left & ~(1 << i));
        }
      }
    }

    private void check(int ballot, Kind[] votes, int[] order, int come) {
      runs++;
      Round round = round(votes);
      int open = 0;
      for (int i = 0; i < votes.length; i++) {
        open |= votes[i] == QUARANTINED ? 0 : 1 << i;
      }
      Object verdict = round.begin();
      String decided = rules(ballot, votes, open);
      require(verdict, decided, votes, order, 0);
      for (int at = 0; at < come; at++) {
        int node = order[at];
        open &= ~(1 << node);
        boolean first = round.exchange().answered(node);
        assertTrue(first && !round.exchange().answered(node), "a copy is not taken for a reply");
        verdict = round.onReply(node, votes[node].reply());
        if (decided == null) {
          decided = rules(ballot, votes, open);
        }
        require(verdict, decided, votes, order, at + 1);
      }
      if (decided == null) {
        // A node that has not replied is silent. If the client waits for no reply any more, there
        // is a verdict.
        Kind[] late = votes.clone();
        for (int i = 0; i < late.length; i++) {
          late[i] = is(open, i) ? FAILED : late[i];
        }
        decided = rule(late, 0);
        assertTrue(decided != null, "the rules decide in the end");
      }
      require(round.onTimeout(), decided, votes, order, votes.length);
    }

    private @Nullable String rules(int ballot, Kind[] votes, int open) {
      int state = ballot << 5 | open;
      if (known[state] == null) {
        String rule = rule(votes, open);
        known[state] = rule == null ? "UNDECIDED" : rule;
      }
      return known[state].equals("UNDECIDED") ? null : known[state];
    }

    private static void require(
        Object verdict, @Nullable String rule, Kind[] votes, int[] order, int after) {
      String right = rule == null ? "UNDECIDED" : rule;
      if (!verdict.toString().equals(right)) {
        throw new AssertionError(
            List.of(votes)
                + " in the order "
                + Arrays.toString(order)
                + ", after "
                + after
                + ": "
                + verdict
                + " instead of "
                + right);
      }
    }
  }

  @Test
  void acquire_anyBallotInAnyOrder_saysWhatTheRulesSayAndWhen() {
    Ballots ballots =
        new Ballots(VOTES) {
          @Override
          Round round(Kind[] votes) {
            return new Acquiring(votes);
          }

          @Override
          @Nullable String rule(Kind[] votes, int open) {
            return acquired(votes, open);
          }
        };
    ballots.all();
    System.out.println("ballots x orders, acquire: " + ballots.runs);
    assertThat(ballots.runs).isGreaterThan(1_000_000);
  }

  @Test
  void extend_anyAnswersInAnyOrder_saysWhatTheRulesSayAndWhen() {
    Ballots ballots =
        new Ballots(ANSWERS) {
          @Override
          Round round(Kind[] votes) {
            return new Extending(votes);
          }

          @Override
          @Nullable String rule(Kind[] votes, int open) {
            return extended(votes, open);
          }
        };
    ballots.all();
    System.out.println("ballots x orders, extend: " + ballots.runs);
    assertThat(ballots.runs).isGreaterThan(1_000_000);
  }

  private static void assertTrue(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }

  private static Kind came(String name, NodeStatus status, Code code) {
    return new Kind(name, status, answer(code, CONNECTION));
  }

  private static NodeReply answer(Code code, long connection) {
    return NodeReply.of(code, connection, 1, 9);
  }

  private static NodeStatus status(State state, long since) {
    long until = state == State.QUARANTINED ? NOW + 1 : 0;
    return new NodeStatus(state, CONNECTION, since, until, "");
  }

  private static Nodes nodes(Kind[] votes) {
    return new Nodes() {
      @Override
      public int count() {
        return votes.length;
      }

      @Override
      public String name(int node) {
        return "n" + node;
      }

      @Override
      public NodeStatus status(int node) {
        return votes[node].status();
      }

      @Override
      public NodeKnowledge knowledge(int node) {
        return NodeKnowledge.NONE;
      }

      @Override
      public void learn(int node, UnaryOperator<NodeKnowledge> change) {
        // Each ballot is judged by itself.
      }

      @Override
      public RoundLimiter limiter() {
        return new RoundLimiter();
      }

      @Override
      public ExtendQueue extensions() {
        return new ExtendQueue();
      }
    };
  }
}
