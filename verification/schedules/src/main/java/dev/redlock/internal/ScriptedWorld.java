package dev.redlock.internal;

import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.schedules.Schedule;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.function.Consumer;

/** Nodes, a clock and a client for a scenario. Everything in it is under the schedule's control. */
final class ScriptedWorld {
  private ScriptedWorld() {}

  /** The clock of the schedule. */
  static final class Clock implements Time {
    @Override
    public long nanos() {
      return Schedule.nanos();
    }

    @Override
    public long wallMillis() {
      return 1_700_000_000_000L + Schedule.nanos() / 1_000_000;
    }

    @Override
    public Cancellable schedule(Runnable task, long delayNanos) {
      return Schedule.timer(task, delayNanos)::run;
    }
  }

  /** A node that stores one owner per key, and replies on a thread of its own, in order. */
  static class Node implements LockNode {
    private static final String ELSEWHERE = "elsewhere";

    private final String name;
    private final Map<String, String> owners = new HashMap<>();
    private final Queue<Runnable> replies = new ArrayDeque<>();
    private final boolean atOnce;
    private boolean delivering;
    private boolean closed;
    private volatile NodeStatus status = new NodeStatus(NodeStatus.State.VOTING, 1, 0, 0, "");
    int requests;
    LockNode.Listener listener;

    /** With replies on the caller's thread if {@code atOnce}, else on a thread of the node. */
    Node(String name, boolean atOnce) {
      this.name = name;
      this.atOnce = atOnce;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    public void start(LockNode.Context context) {
      listener = context.listener();
    }

    @Override
    public NodeStatus status() {
      return status;
    }

    void become(NodeStatus next) {
      status = next;
      listener.onStatus(this);
    }

    /** Another process holds the lock until it has refused this client once. */
    void heldElsewhereOnce(String lockKey) {
      owners.put(lockKey, ELSEWHERE);
    }

    boolean isFree() {
      return owners.isEmpty();
    }

    @Override
    public void send(LockRequest request, Consumer<NodeReply> handler) {
      requests++;
      NodeReply reply =
          closed ? NodeReply.failed(1, NodeError.Kind.CLOSED, "closed") : execute(request);
      if (atOnce) {
        handler.accept(reply);
        return;
      }
      replies.add(() -> handler.accept(reply));
      if (!delivering) {
        delivering = true;
        var unused = Schedule.spawn("io-" + name, this::deliver);
      }
    }

    private void deliver() {
      for (Runnable next = replies.poll(); next != null; next = replies.poll()) {
        next.run();
      }
      delivering = false;
    }

    NodeReply execute(LockRequest request) {
      long micros = Schedule.nanos() / 1_000;
      LockKeys keys = request.keys();
      return switch (request.operation()) {
        case ACQUIRE -> acquire((LockRequest.Acquire) request, micros);
        case RELEASE -> {
          LockRequest.Release release = (LockRequest.Release) request;
          owners.remove(keys.lockKey(0), release.leaseId());
          yield NodeReply.of(Code.RELEASED, 1, micros, release.token());
        }
        case EXTEND -> {
          LockRequest.Extend extend = (LockRequest.Extend) request;
          boolean mine = extend.leaseId().equals(owners.get(keys.lockKey(0)));
          yield NodeReply.of(mine ? Code.EXTENDED : Code.LOST, 1, micros, extend.token());
        }
        case ENQUEUE ->
            owners.containsKey(keys.lockKey(0))
                ? NodeReply.held(1, micros, 0, 30_000, "holder")
                : NodeReply.of(Code.ADMITTED, 1, micros, 0);
        case INSPECT, BREAK -> NodeReply.failed(1, NodeError.Kind.UNEXPECTED, "not in this world");
      };
    }

    private NodeReply acquire(LockRequest.Acquire acquire, long micros) {
      String key = acquire.keys().lockKey(0);
      String owner = owners.get(key);
      if (owner != null && !owner.equals(acquire.leaseId())) {
        owners.remove(key, ELSEWHERE);
        return NodeReply.held(1, micros, 0, 30_000, "holder");
      }
      owners.put(key, acquire.leaseId());
      return NodeReply.of(Code.GRANTED, 1, micros, acquire.token());
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  /** Lets a thread of the schedule wait. */
  static Blocking blocking() {
    return new Blocking(Platform.JVM, new Clock());
  }

  static RedlockBuilder builder(LockNode... nodes) {
    return Redlock.builder()
        .nodes(nodes)
        .restartGuard(RestartGuard.OFF)
        .nodeTimeout(Duration.ofSeconds(1))
        .time(new Clock());
  }

  static Client client(LockNode... nodes) {
    return (Client) builder(nodes).callbackExecutor(Runnable::run).build();
  }

  /** The same, created before another thread may continue. */
  static Client started(LockNode... nodes) {
    Client[] made = new Client[1];
    Schedule.atOnce(() -> made[0] = client(nodes));
    return made[0];
  }

  static void check(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
