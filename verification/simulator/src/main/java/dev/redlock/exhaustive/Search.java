package dev.redlock.exhaustive;

import dev.redlock.exhaustive.NodeRule.Kind;
import dev.redlock.exhaustive.NodeRule.Request;
import dev.redlock.exhaustive.Scope.Check;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Every history of a few attempts with given tokens: any order in which requests arrive, any number
 * of copies of each, any loss, any delay, any key expiring at any time, and clients that win, give
 * up, extend, hand off and release whenever they may.
 *
 * <p>There is no clock: a key may expire at any moment, and a client may wait for ever before it
 * counts its votes. What holds here holds for any clocks. The TLA+ model covers what depends on
 * clocks (validity, windows, quarantine).
 *
 * <p>A second attempt follows the first in one of three ways: afresh, when the first has ended; as
 * a hand-off, which ends the lease of the first; as another round under the same lease id, which
 * replaces the first.
 *
 * <p>A state is one number. From the right: a column for each node, which is what it stores (see
 * {@link NodeRule}) and one bit for each attempt (granted, while the attempt asks; freed here,
 * afterwards); the stage of each attempt; how each second attempt began; how often a node may still
 * lose its keys.
 */
final class Search {
  // Stages of an attempt.
  private static final int IDLE = 0;
  private static final int ASKING = 1;

  /** Asking with a token that is not above one granted before: must not win. */
  private static final int DOOMED = 2;

  private static final int HELD = 3;
  private static final int ENDED = 4;
  private static final int UNDONE = 5;
  private static final int REPLACED = 6;
  private static final String[] STAGES = {
    "idle", "asking", "doomed", "held", "ended", "undone", "replaced"
  };

  // How a second attempt began.
  private static final int AFRESH = 0;
  private static final int NEXT_ROUND = 1;
  private static final int WAYS = 2;

  private static final int UNKNOWN = -1;
  private static final Kind[] KINDS = Kind.values();

  private final Scope scope;
  private final int[] tokens;
  private final int attempts;
  private final int storedBits;
  private final int columnBits;
  private final long columnMask;
  private final int stageShift;
  private final int wayShift;
  private final int forgetShift;
  private final Set<Check> checks;
  private final int[][] steps;

  private final LongSet seen = new LongSet();
  private int current;
  private long transitions;
  private long won;
  private @Nullable String violation;

  /**
   * @param tokens the token of each attempt: those of the first client, then those of the next
   */
  Search(Scope scope, int... tokens) {
    this.scope = scope;
    this.tokens = tokens;
    attempts = tokens.length;
    storedBits = bits(scope.node() instanceof RealRule ? NodeRule.PLAIN_STATES : NodeRule.STATES);
    columnBits = storedBits + attempts;
    columnMask = (1L << columnBits) - 1;
    stageShift = columnBits * scope.nodes();
    wayShift = stageShift + 3 * attempts;
    forgetShift = wayShift + (scope.attempts() > 1 ? 2 * scope.clients() : 0);
    if (forgetShift + bits(scope.forgets() + 1) > 63
        || attempts != scope.clients() * scope.attempts()
        || scope.attempts() > 2
        || attempts > NodeRule.TOP) {
      throw new IllegalArgumentException("does not fit: " + scope);
    }
    checks = scope.checks();
    steps = new int[KINDS.length * attempts * WAYS][NodeRule.STATES];
    for (int[] row : steps) {
      Arrays.fill(row, UNKNOWN);
    }
  }

  private static int bits(int values) {
    return 32 - Integer.numberOfLeadingZeros(values - 1);
  }

  /** Searches all histories, or stops at the first broken check. */
  Search run() {
    return run(Integer.MAX_VALUE, () -> false);
  }

  /** The same, but stops after so many states, or when {@code enough} returns true. */
  Search run(int limit, BooleanSupplier enough) {
    reach((long) scope.forgets() << forgetShift);
    for (current = 0;
        current < seen.size() && violation == null && !enough.getAsBoolean();
        current++) {
      expand(seen.get(current));
    }
    return this;
  }

  int states() {
    return seen.size();
  }

  /**
   * The size of the search.
   *
   * @param won how often an attempt won: a search without wins would prove nothing
   */
  record Counts(long states, long transitions, long won) {}

  Counts counts() {
    return new Counts(seen.size(), transitions, won);
  }

  /** The broken check and its history, or null. */
  @Nullable String violation() {
    return violation;
  }

  /** The number of states when states that differ only in the order of the nodes are one. */
  long folded() {
    LongSet folded = new LongSet();
    for (int i = 0; i < seen.size(); i++) {
      folded.add(fold(seen.get(i)), 0);
    }
    return folded.size();
  }

  private void expand(long s) {
    for (int a = 0; a < attempts; a++) {
      switch (stage(s, a)) {
        case IDLE -> start(s, a);
        case ASKING, DOOMED -> {
          win(s, a);
          reach(withStage(withoutBits(s, a), a, UNDONE));
        }
        case HELD -> reach(withStage(s, a, ENDED));
        default -> {}
      }
    }
    for (int n = 0; n < scope.nodes(); n++) {
      if (n > 0 && scope.foldNodes() && column(s, n) == column(s, n - 1)) {
        continue; // Equal nodes have the same histories.
      }
      for (int a = 0; a < attempts; a++) {
        int stage = stage(s, a);
        if (stage != IDLE) {
          execute(s, n, a, Kind.ACQUIRE);
        }
        if (stage == HELD || stage == ENDED) {
          execute(s, n, a, Kind.EXTEND);
        }
        if (stage == ENDED) {
          execute(s, n, a, Kind.RELEASE);
        } else if (stage == UNDONE) {
          execute(s, n, a, Kind.ROLL_BACK);
        }
      }
      int stored = stored(s, n);
      if (NodeRule.owner(stored) != 0) {
        reach(withStored(s, n, NodeRule.expired(stored)));
      }
      if (s >>> forgetShift != 0 && stored != 0) {
        reach(withStored(s, n, 0) - (1L << forgetShift));
      }
    }
  }

  // Clients.

  private void start(long s, int a) {
    if (a % scope.attempts() == 0) {
      reach(begin(s, a, AFRESH));
      return;
    }
    int first = a - 1;
    boolean above = tokens[a] > tokens[first]; // A client proposes a token above those it has seen.
    switch (stage(s, first)) {
      case ENDED, UNDONE -> reach(begin(s, a, AFRESH));
      case ASKING, DOOMED -> {
        if (above) {
          reach(nextRound(s, a, first));
        }
      }
      default -> {}
    }
  }

  private long nextRound(long s, int a, int first) {
    long next = begin(s, a, NEXT_ROUND);
    if (adds()) {
      for (int n = 0; n < scope.nodes(); n++) {
        next = bit(s, n, first) ? withBit(next, n, a) : next;
      }
      if (scope.flaws().contains(Flaw.GRANTS_ADDED_UP_FIRST_TOKEN)) {
        next = withStage(next, a, stage(s, first)); // The first attempt asked with that token.
      }
    }
    return withStage(withoutBits(next, first), first, REPLACED);
  }

  private boolean adds() {
    return scope.flaws().contains(Flaw.GRANTS_ADDED_UP)
        || scope.flaws().contains(Flaw.GRANTS_ADDED_UP_FIRST_TOKEN);
  }

  private long begin(long s, int a, int way) {
    int stage = ASKING;
    for (int b = 0; b < attempts; b++) {
      if (hasBeenLease(s, b) && leaseToken(s, b) >= tokens[a]) {
        stage = DOOMED;
      }
    }
    long next = withStage(s, a, stage);
    return a % scope.attempts() == 0
        ? next
        : next | ((long) way << (wayShift + 2 * (a / scope.attempts())));
  }

  private void win(long s, int a) {
    int granted = 0;
    for (int n = 0; n < scope.nodes(); n++) {
      granted += bit(s, n, a) ? 1 : 0;
    }
    if (granted < scope.quorum()) {
      return;
    }
    won++;
    int token = leaseToken(s, a);
    for (int b = 0; b < attempts; b++) {
      if (b != a && hasBeenLease(s, b)) {
        check(Check.DISTINCT, leaseToken(s, b) != token, a, -1);
        check(Check.LATER_IS_HIGHER, leaseToken(s, b) < token, a, -1);
      }
    }
    check(Check.ORDERED, stage(s, a) != DOOMED, a, -1);
    reach(withStage(withoutBits(s, a), a, HELD));
  }

  private boolean hasBeenLease(long s, int a) {
    return stage(s, a) == HELD || stage(s, a) == ENDED;
  }

  private int leaseToken(long s, int a) {
    boolean first =
        scope.flaws().contains(Flaw.GRANTS_ADDED_UP_FIRST_TOKEN) && way(s, a) == NEXT_ROUND;
    return tokens[first ? a - 1 : a];
  }

  // Nodes.

  private void execute(long s, int n, int a, Kind kind) {
    int stored = stored(s, n);
    int way = way(s, a);
    int[] row = steps[(kind.ordinal() * attempts + a) * WAYS + way];
    int result = row[stored];
    if (result == UNKNOWN) {
      result = scope.node().step(stored, request(kind, a, way));
      row[stored] = result;
    }
    boolean granted = (result & NodeRule.GRANTED) != 0;
    int then = result & ~NodeRule.GRANTED;
    long next = withStored(s, n, then);
    int stage = stage(s, a);
    if (granted && (stage == ASKING || stage == DOOMED)) {
      next = withBit(next, n, a);
    }
    if (kind == Kind.RELEASE || kind == Kind.ROLL_BACK) {
      next = withFreed(next, n, a);
      if (way == NEXT_ROUND) {
        next = withFreed(next, n, a - 1);
      }
    }
    if (then != stored || granted) {
      checkNode(s, n, a, stored, then, granted);
    }
    reach(next);
  }

  private void checkNode(long s, int n, int a, int stored, int then, boolean granted) {
    check(
        Check.FENCE_NEVER_FALLS,
        NodeRule.fence(then) >= NodeRule.fence(stored)
            && NodeRule.ended(then) >= NodeRule.ended(stored),
        a,
        n);
    boolean repeat =
        NodeRule.owner(then) == NodeRule.owner(stored)
            && NodeRule.fence(then) == NodeRule.fence(stored)
            && NodeRule.fence(stored) == tokens[a];
    boolean rises = NodeRule.fence(stored) < tokens[a] && NodeRule.fence(then) == tokens[a];
    check(Check.GRANTS_RISE, !granted || repeat || rises, a, n);
    int owner = NodeRule.owner(then);
    check(
        Check.FREED_FOR_GOOD,
        owner == NodeRule.owner(stored) || owner == 0 || !freed(s, n, a),
        a,
        n);
    check(
        Check.ENDED_WAS_A_LEASE,
        NodeRule.ended(then) == NodeRule.ended(stored) || isOver(s, NodeRule.ended(then)),
        a,
        n);
  }

  private boolean isOver(long s, int token) {
    for (int a = 0; a < attempts; a++) {
      if (stage(s, a) == ENDED && tokens[a] == token) {
        return true;
      }
    }
    return false;
  }

  /** Whether the node was told to free the lease id of this attempt. */
  private boolean freed(long s, int n, int a) {
    int stage = stage(s, a);
    return (stage == ENDED || stage == UNDONE || stage == REPLACED) && bit(s, n, a);
  }

  /** Recorded only for the check that needs it, because it multiplies the states. */
  private long withFreed(long s, int n, int a) {
    return checks.contains(Check.FREED_FOR_GOOD) ? withBit(s, n, a) : s;
  }

  private Request request(Kind kind, int a, int way) {
    int id = way == NEXT_ROUND ? a : a + 1;
    return new Request(kind, id, tokens[a]);
  }

  // Access to the number that is the state.

  private int stage(long s, int a) {
    return (int) (s >>> (stageShift + 3 * a)) & 7;
  }

  private long withStage(long s, int a, int stage) {
    int shift = stageShift + 3 * a;
    return (s & ~(7L << shift)) | ((long) stage << shift);
  }

  private int way(long s, int a) {
    return a % scope.attempts() == 0
        ? AFRESH
        : (int) (s >>> (wayShift + 2 * (a / scope.attempts()))) & 3;
  }

  private long column(long s, int n) {
    return (s >>> (n * columnBits)) & columnMask;
  }

  private int stored(long s, int n) {
    return (int) (s >>> (n * columnBits)) & ((1 << storedBits) - 1);
  }

  private long withStored(long s, int n, int stored) {
    int shift = n * columnBits;
    return (s & ~(((1L << storedBits) - 1) << shift)) | ((long) stored << shift);
  }

  private boolean bit(long s, int n, int a) {
    return ((s >>> (n * columnBits + storedBits + a)) & 1) != 0;
  }

  private long withBit(long s, int n, int a) {
    return s | (1L << (n * columnBits + storedBits + a));
  }

  private long withoutBits(long s, int a) {
    long without = s;
    for (int n = 0; n < scope.nodes(); n++) {
      without &= ~(1L << (n * columnBits + storedBits + a));
    }
    return without;
  }

  private void reach(long s) {
    if (current < seen.size() && s == seen.get(current)) {
      return;
    }
    transitions++;
    if (!scope.toTheEnd() && isDecided(s)) {
      return; // No further lease is possible.
    }
    seen.add(scope.foldNodes() ? fold(s) : s, current);
  }

  private boolean isDecided(long s) {
    for (int a = 0; a < attempts; a++) {
      if (stage(s, a) < HELD) {
        return false;
      }
    }
    return true;
  }

  /**
   * The nodes' columns in ascending order. Nodes differ in nothing but their column: all get the
   * same requests, a quorum is a number, and no check names a node. An exchange of two nodes
   * therefore maps histories to histories and violations to violations, and one order is enough.
   */
  private long fold(long s) {
    long folded = s;
    for (int i = 1; i < scope.nodes(); i++) {
      for (int n = i; n > 0; n--) {
        long left = column(folded, n - 1);
        long right = column(folded, n);
        if (left <= right) {
          break;
        }
        long differ = left ^ right;
        folded ^= (differ << ((n - 1) * columnBits)) | (differ << (n * columnBits));
      }
    }
    return folded;
  }

  private void check(Check check, boolean holds, int a, int n) {
    if (!holds && violation == null && checks.contains(check)) {
      String where = n < 0 ? "by winning" : "on node " + n;
      violation = "%s: broken by attempt %d %s%n%s".formatted(check, a, where, history());
    }
  }

  private String history() {
    ArrayDeque<String> states = new ArrayDeque<>();
    int at = current;
    while (at > 0) {
      states.addFirst(describe(seen.get(at)));
      at = seen.parent(at);
    }
    states.addFirst("tokens " + Arrays.toString(tokens));
    return String.join(System.lineSeparator(), states);
  }

  private String describe(long s) {
    StringBuilder text = new StringBuilder();
    for (int a = 0; a < attempts; a++) {
      text.append(STAGES[stage(s, a)])
          .append(way(s, a) == NEXT_ROUND ? " (round)" : "")
          .append(' ');
    }
    for (int n = 0; n < scope.nodes(); n++) {
      text.append(NodeRule.describe(stored(s, n)));
      for (int a = 0; a < attempts; a++) {
        text.append(bit(s, n, a) ? " " + a : "");
      }
      text.append(' ');
    }
    return text.toString();
  }
}
