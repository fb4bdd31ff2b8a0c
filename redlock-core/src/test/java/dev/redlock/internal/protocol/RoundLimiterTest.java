package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireVerdict;
import dev.redlock.LockOptions;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class RoundLimiterTest {
  private static final long MILLI = 1_000_000;
  private static final LockKeys KEYS = LockKeys.of("redlock", List.of("a"));
  private static final LockOptions CONFIG =
      LockOptions.builder().nodeTimeout(Duration.ofMillis(100)).build();

  private NodeKnowledge known = NodeKnowledge.NONE;
  private final RoundLimiter limiter = new RoundLimiter(32, 16);
  private final Nodes one = new OneNode();
  private long now = 1_000 * MILLI;

  private final class OneNode implements Nodes {
    @Override
    public int count() {
      return 1;
    }

    @Override
    public String name(int node) {
      return "n";
    }

    @Override
    public NodeStatus status(int node) {
      return new NodeStatus(NodeStatus.State.VOTING, 1, 0, 0, "");
    }

    @Override
    public NodeKnowledge knowledge(int node) {
      return known;
    }

    @Override
    public void learn(int node, UnaryOperator<NodeKnowledge> change) {
      known = change.apply(known);
    }

    @Override
    public RoundLimiter limiter() {
      return limiter;
    }

    @Override
    public ExtendQueue extensions() {
      throw new AssertionError();
    }
  }

  private AcquireRound begin() {
    LockRequest.Acquire request =
        new LockRequest.Acquire(KEYS, "id", 64, CONFIG.leaseTime().toMillis(), null);
    AcquireRound r = new AcquireRound(one, request, CONFIG, false, -1, now, now / MILLI);
    limiter.began();
    return r;
  }

  /** Starts as many rounds as the limit allows, and wins all of them. */
  private void win(long millis) {
    AcquireRound[] rounds = new AcquireRound[limiter.limit()];
    for (int i = 0; i < rounds.length; i++) {
      rounds[i] = begin();
    }
    assertThat(limiter.backoff()).isPositive();
    now += millis * MILLI;
    for (AcquireRound r : rounds) {
      NodeReply granted = NodeReply.of(Code.GRANTED, 1, now / 1000, 64);
      assertThat(r.onReply(0, granted, now, now / MILLI)).isEqualTo(AcquireVerdict.ACQUIRED);
      limiter.ended(r.verdict(), r.sentNanos(), r.timeoutNanos, one, now);
    }
  }

  private void timeOut(boolean heard) {
    AcquireRound r = begin();
    now += 101 * MILLI;
    if (heard) {
      one.heard(0, now - 500 * MILLI, now - MILLI, 0);
    }
    assertThat(r.decide(now, now / MILLI, true)).isEqualTo(AcquireVerdict.UNAVAILABLE);
    limiter.ended(r.verdict(), r.sentNanos(), r.timeoutNanos, one, now);
  }

  @Test
  void limit_whenRoundsAreWonLate_fallsOnceForAllOfThem() {
    win(1);
    int before = limiter.limit();
    win(70);
    assertThat(limiter.limit()).isEqualTo((int) (before * 0.7));
  }

  @Test
  void limit_whenItIsReachedAndRoundsAreWonInTime_rises() {
    win(1);
    assertThat(limiter.limit()).isGreaterThan(32);
    assertThat(limiter.underWay()).isZero();
    assertThat(limiter.backoff()).as("nothing is under way").isZero();
  }

  @Test
  void limit_ofFarAwayNodes_isLoweredOnceAtMostForTheirDistance() {
    for (int i = 0; i < 20; i++) {
      win(60);
    }
    assertThat(limiter.limit()).isGreaterThanOrEqualTo((int) (32 * 0.7));
  }

  @Test
  void limit_afterNodesMovedFarAway_recovers() {
    win(1);
    for (int i = 0; i < 40; i++) {
      win(60);
    }
    assertThat(limiter.limit()).isGreaterThan(16);
  }

  @Test
  void limit_whenNodesHang_staysForTheyDoNotAnswerFasterIfAskedLess() {
    for (int i = 0; i < 10; i++) {
      timeOut(false);
    }
    assertThat(limiter.limit()).isEqualTo(32);
  }

  @Test
  void limit_whenNodesAnswerOthersButNotInTime_falls() {
    for (int i = 0; i < 10; i++) {
      timeOut(true);
    }
    assertThat(limiter.limit()).isEqualTo(16);
  }

  @Test
  void backoff_ofRejectedAttempts_grows() {
    AcquireRound[] rounds = new AcquireRound[32];
    for (int i = 0; i < rounds.length; i++) {
      rounds[i] = begin();
    }
    double first = limiter.backoff();
    for (int i = 0; i < 10_000; i++) {
      assertThat(limiter.backoff()).isLessThanOrEqualTo(8);
    }
    assertThat(limiter.backoff()).isGreaterThan(2 * first);
  }
}
