package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class PendingReleasesRetryTest {
  private static final long MILLI = 1_000_000;
  private static final long LIFE = 30_000 * MILLI;
  private static final LockKeys KEYS = LockKeys.of("redlock", List.of("a"));
  private static final int MANY = 100_000;

  private final List<Effect> effects = new ArrayList<>();
  private final PendingReleases pendingReleases = new PendingReleases(new OneNode(), effects);
  private boolean erring;
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
      return new NodeStatus(NodeStatus.State.VOTING, 1, 0, 0, "", erring, null);
    }

    @Override
    public NodeKnowledge knowledge(int node) {
      throw new AssertionError();
    }

    @Override
    public void learn(int node, UnaryOperator<NodeKnowledge> change) {
      throw new AssertionError();
    }

    @Override
    public RoundLimiter limiter() {
      throw new AssertionError();
    }

    @Override
    public ExtendQueue extensions() {
      throw new AssertionError();
    }
  }

  private void release(String leaseId) {
    pendingReleases.add(new LockRequest.Release(KEYS, leaseId, 64, true, 0, null), 1, LIFE, now);
  }

  /** Replies to all that was sent since the last call; returns how many requests that were. */
  private int answerAll(NodeReply reply) {
    List<Effect> sent = List.copyOf(effects);
    effects.clear();
    for (Effect effect : sent) {
      PendingRelease entry = (PendingRelease) ((Effect.Send) effect).exchange();
      assertThat(entry.answered(0)).isTrue();
      pendingReleases.onReply(entry, 0, reply, now);
    }
    return sent.size();
  }

  private static NodeReply failed() {
    return NodeReply.failed(1, NodeError.Kind.OVERLOADED, "by the test");
  }

  private static NodeReply confirmed() {
    return NodeReply.of(Code.RELEASED, 1, 0, 64);
  }

  private long delay() {
    NextWake wake = new NextWake(now);
    pendingReleases.deadlines(wake);
    return wake.delayNanos();
  }

  @Test
  void releasesThatFailed_areTriedOneAtATime_howeverMany() {
    for (int i = 0; i < MANY; i++) {
      release("lease" + i);
    }
    assertThat(answerAll(failed())).isEqualTo(MANY);
    int sent = 0;
    for (long end = now + 10_000 * MILLI; now < end; ) {
      long delay = delay();
      assertThat(delay).isPositive();
      now += delay;
      pendingReleases.onTimer(now);
      sent += answerAll(failed());
    }
    assertThat(sent).as("in ten seconds").isBetween(10, 20);
    assertThat(pendingReleases.pending()).isEqualTo(MANY);
  }

  @Test
  void releasesThatFailed_areSentFasterWithEachThatIsConfirmed() {
    for (int i = 0; i < MANY; i++) {
      release("lease" + i);
    }
    answerAll(failed());
    now += delay();
    pendingReleases.onTimer(now);
    int rounds = 0;
    while (answerAll(confirmed()) > 0) {
      rounds++;
    }
    assertThat(rounds).isLessThan(20);
    assertThat(pendingReleases.isEmpty()).isTrue();
    assertThat(delay()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void nodeThatErrs_isSentNothingAgain_untilItWorks() {
    release("lease");
    erring = true;
    assertThat(answerAll(failed())).isEqualTo(1);
    assertThat(delay()).as("until the keys are dead").isGreaterThan(20_000 * MILLI);
    now += 1_000 * MILLI;
    pendingReleases.onTimer(now);
    assertThat(effects).isEmpty();
    erring = false;
    pendingReleases.onWorks(0, now);
    assertThat(answerAll(confirmed())).isEqualTo(1);
    assertThat(pendingReleases.isEmpty()).isTrue();
  }

  /** Each event reads the next deadline. That must be cheap with thousands of releases. */
  @Test
  void deadlines_ofManyPendingReleases_costNoMoreThanOfFew() {
    for (int i = 0; i < MANY; i++) {
      release("lease" + i);
    }
    answerAll(failed());
    long start = System.nanoTime();
    for (int i = 0; i < 100_000; i++) {
      delay();
      pendingReleases.onTimer(now);
    }
    // A walk through all releases at each event took five minutes.
    assertThat((System.nanoTime() - start) / MILLI).as("ms").isLessThan(5_000);
  }
}
