package dev.redlock.internal.protocol;

import dev.redlock.LockOptions;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.UnaryOperator;

/** Nodes that do what a test says: all vote, until it says otherwise. */
final class TestNodes implements Nodes {
  static final long MILLI = 1_000_000;
  static final LockKeys KEYS = LockKeys.of("redlock", List.of("a"));

  private NodeStatus[] status;
  private NodeKnowledge[] known;
  private final RoundLimiter limiter = new RoundLimiter();
  private final ExtendQueue extensions = new ExtendQueue();

  TestNodes(int count) {
    status = new NodeStatus[count];
    known = new NodeKnowledge[count];
    Arrays.fill(known, NodeKnowledge.NONE);
    for (int i = 0; i < count; i++) {
      state(i, NodeStatus.State.VOTING, 1);
    }
  }

  /** One more node is a member from now on; it votes. */
  void join() {
    int node = status.length;
    status = Arrays.copyOf(status, node + 1);
    known = Arrays.copyOf(known, node + 1);
    known[node] = NodeKnowledge.NONE;
    state(node, NodeStatus.State.VOTING, 1);
  }

  void state(int node, NodeStatus.State state, long connection) {
    status(node, new NodeStatus(state, connection, 0, 0, "by the test"));
  }

  void status(int node, NodeStatus newest) {
    status[node] = newest;
  }

  @Override
  public int count() {
    return status.length;
  }

  @Override
  public String name(int node) {
    return "n" + node;
  }

  @Override
  public NodeStatus status(int node) {
    return status[node];
  }

  @Override
  public NodeKnowledge knowledge(int node) {
    return known[node];
  }

  @Override
  public void learn(int node, UnaryOperator<NodeKnowledge> change) {
    known[node] = change.apply(known[node]);
  }

  /** By node: how many releases it has not confirmed. */
  final int[] pending = new int[63];

  boolean tooManyPending;

  @Override
  public void releasesPending(int node, int change) {
    pending[node] += change;
  }

  @Override
  public boolean tooManyReleasesPending() {
    return tooManyPending;
  }

  boolean polled;

  @Override
  public boolean notifiesWaiters(int node) {
    return !polled;
  }

  @Override
  public RoundLimiter limiter() {
    return limiter;
  }

  @Override
  public ExtendQueue extensions() {
    return extensions;
  }

  /** A lease time of one second, a node timeout of 100 ms. */
  static LockOptions.Builder options() {
    return LockOptions.builder()
        .leaseTime(Duration.ofSeconds(1))
        .nodeTimeout(Duration.ofMillis(100))
        .autoExtend(true);
  }

  static NodeReply reply(Code code) {
    return NodeReply.of(code, 1, 0, 0);
  }

  static NodeReply held(long remainingMillis) {
    return NodeReply.held(1, 0, 0, remainingMillis, "another");
  }

  /** A round to all nodes, with these votes of these nodes. */
  AcquireRound round(LockOptions config, long now, NodeReply vote, int... voters) {
    LockRequest.Acquire request =
        new LockRequest.Acquire(KEYS, "id", 64, config.leaseTime().toMillis(), null);
    AcquireRound r = new AcquireRound(this, request, config, false, -1, now, now / MILLI);
    for (int node : voters) {
      r.answered(node);
      r.onReply(node, vote, now, now / MILLI);
    }
    return r;
  }

  /** A lease that a round to all nodes has won. */
  HeldLease lease(LockOptions config, long now) {
    AcquireRound won = round(config, now, reply(Code.GRANTED), 0, 1, 2);
    return new HeldLease(new Grant(won, config), this, new Middle(), new ArrayList<>());
  }

  /** Random numbers that are always the middle of their range; lease ids in order. */
  static final class Middle implements Randomness {
    private int ids;

    @Override
    public double next() {
      return 0.5;
    }

    @Override
    public String leaseId() {
      return "lease-" + ids++;
    }
  }

  static final class Caller extends Waiter {
    Caller(LockOptions config, long now, long patienceNanos, boolean singleTry) {
      super(KEYS, config, now, now + patienceNanos, singleTry);
    }
  }
}
