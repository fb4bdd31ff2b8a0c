package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyCode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class PaceTest {
  private static final long MILLI = 1_000_000;
  private static final LockKeys KEYS = LockKeys.of("redlock", List.of("a"));
  private static final Terms TERMS =
      Terms.of(LockOptions.builder().nodeTimeout(Duration.ofMillis(100)).build());

  private final NodeKnowledge known = new NodeKnowledge();
  private final Pace pace = new Pace(32, 16);
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
    public Pace pace() {
      return pace;
    }
  }

  private AcquireRound begin() {
    LockRequest.Acquire request =
        new LockRequest.Acquire(KEYS, "id", 64, TERMS.ttlMillis(), null, 0, null);
    AcquireRound r = new AcquireRound(one, request, TERMS, false, null, now, now / MILLI);
    r.begin(1);
    pace.began();
    return r;
  }

  /** As many as may be are put together, and are won together. */
  private void win(long millis) {
    AcquireRound[] rounds = new AcquireRound[pace.most()];
    for (int i = 0; i < rounds.length; i++) {
      rounds[i] = begin();
    }
    assertThat(pace.rest()).isPositive();
    now += millis * MILLI;
    for (AcquireRound r : rounds) {
      NodeReply granted = NodeReply.of(ReplyCode.GRANTED, 1, now / 1000, 64);
      assertThat(r.onReply(0, granted, now, now / MILLI)).isEqualTo(AcquireRound.Verdict.WON);
      pace.ended(r, one, now);
    }
  }

  private void timeOut(boolean heard) {
    AcquireRound r = begin();
    now += 101 * MILLI;
    if (heard) {
      known.observe(now - 500 * MILLI, now - MILLI, 0);
    }
    assertThat(r.onTimeout(now, now / MILLI)).isEqualTo(AcquireRound.Verdict.UNAVAILABLE);
    pace.ended(r, one, now);
  }

  @Test
  void bound_whenRoundsAreWonLate_fallsOnceForAllOfThem() {
    win(1);
    int before = pace.most();
    win(70);
    assertThat(pace.most()).isEqualTo((int) (before * 0.7));
  }

  @Test
  void bound_whenItIsReachedAndRoundsAreWonInTime_rises() {
    win(1);
    assertThat(pace.most()).isGreaterThan(32);
    assertThat(pace.underWay()).isZero();
    assertThat(pace.rest()).as("nothing is under way").isZero();
  }

  @Test
  void bound_ofFarAwayNodes_isLoweredOnceAtMostForTheirDistance() {
    for (int i = 0; i < 20; i++) {
      win(60);
    }
    assertThat(pace.most()).isGreaterThanOrEqualTo((int) (32 * 0.7));
  }

  @Test
  void bound_afterNodesMovedFarAway_recovers() {
    win(1);
    for (int i = 0; i < 40; i++) {
      win(60);
    }
    assertThat(pace.most()).isGreaterThan(16);
  }

  @Test
  void bound_whenNodesHang_staysForTheyDoNotAnswerFasterIfAskedLess() {
    for (int i = 0; i < 10; i++) {
      timeOut(false);
    }
    assertThat(pace.most()).isEqualTo(32);
  }

  @Test
  void bound_whenNodesAnswerOthersButNotInTime_falls() {
    for (int i = 0; i < 10; i++) {
      timeOut(true);
    }
    assertThat(pace.most()).isEqualTo(16);
  }

  @Test
  void rest_theMoreFindItFull_isLonger() {
    AcquireRound[] rounds = new AcquireRound[32];
    for (int i = 0; i < rounds.length; i++) {
      rounds[i] = begin();
    }
    double first = pace.rest();
    for (int i = 0; i < 10_000; i++) {
      assertThat(pace.rest()).isLessThanOrEqualTo(8);
    }
    assertThat(pace.rest()).isGreaterThan(2 * first);
  }
}
