package dev.redlock.bench.jmh;

import dev.redlock.LockOptions;
import dev.redlock.internal.protocol.Effect;
import dev.redlock.internal.protocol.ExtendQueue;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.internal.protocol.NodeKnowledge;
import dev.redlock.internal.protocol.Nodes;
import dev.redlock.internal.protocol.Randomness;
import dev.redlock.internal.protocol.RoundLimiter;
import dev.redlock.internal.protocol.Waiter;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** The pure protocol: one acquire and one release on five nodes, without I/O or threads. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class ProtocolRound {
  private static final Effect.Ack ACK = new Effect.Ack() {};

  private final LockKeys keys = LockKeys.of("redlock", List.of("name"));
  private final LockOptions config = LockOptions.defaults();
  private final LockMachine machine = new LockMachine(keys, new FiveNodes(), new Counting(), "p");
  private final List<Effect> effects = new ArrayList<>();
  private long now = 1;

  /** One pair: request, five votes, grant, release, five confirmations. */
  @Benchmark
  public long pair() {
    now += 1_000_000;
    machine.submit(new Caller(keys, config, now), now, 1);
    answerAll();
    HeldLease lease = Objects.requireNonNull(machine.lease());
    machine.release(lease, ACK, now, 1);
    answerAll();
    return lease.token();
  }

  private void answerAll() {
    while (!machine.effects().isEmpty()) {
      effects.addAll(machine.effects());
      machine.effects().clear();
      for (Effect effect : effects) {
        if (effect instanceof Effect.Send send) {
          for (long mask = send.mask(); mask != 0; mask &= mask - 1) {
            machine.onReply(
                send.exchange(),
                Long.numberOfTrailingZeros(mask),
                InstantNode.answer(send.request()),
                now,
                1);
          }
        }
      }
      effects.clear();
    }
  }

  private static final class Caller extends Waiter {
    Caller(LockKeys keys, LockOptions config, long now) {
      super(keys, config, now, now + 1_000_000_000L, false);
    }
  }

  private static final class FiveNodes implements Nodes {
    private final NodeStatus status = new NodeStatus(NodeStatus.State.VOTING, 1, 0, 0, "");
    private NodeKnowledge knowledge = NodeKnowledge.NONE;
    private final RoundLimiter limiter = new RoundLimiter();
    private final ExtendQueue extensions = new ExtendQueue();

    @Override
    public int count() {
      return 5;
    }

    @Override
    public String name(int node) {
      return "node" + node;
    }

    @Override
    public NodeStatus status(int node) {
      return status;
    }

    @Override
    public NodeKnowledge knowledge(int node) {
      return knowledge;
    }

    @Override
    public void learn(int node, UnaryOperator<NodeKnowledge> change) {
      knowledge = change.apply(knowledge);
    }

    @Override
    public RoundLimiter limiter() {
      return limiter;
    }

    @Override
    public ExtendQueue extensions() {
      return extensions;
    }
  }

  private static final class Counting implements Randomness {
    private long id;

    @Override
    public double next() {
      return 0.5;
    }

    @Override
    public String leaseId() {
      return "lease-" + id++;
    }
  }
}
