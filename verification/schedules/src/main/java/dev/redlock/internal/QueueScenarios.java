package dev.redlock.internal;

import static dev.redlock.internal.ScriptedWorld.blocking;
import static dev.redlock.internal.ScriptedWorld.check;
import static dev.redlock.internal.ScriptedWorld.client;

import dev.redlock.RedlockListener;
import dev.redlock.internal.ScriptedWorld.Clock;
import dev.redlock.internal.ScriptedWorld.Node;
import dev.redlock.operations.NodeState;
import dev.redlock.schedules.Pool;
import dev.redlock.schedules.Schedule;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.Time;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.slf4j.LoggerFactory;

/** The small parts that threads share: results, queues, and the threads for user code. */
public final class QueueScenarios {
  private QueueScenarios() {}

  /** All scenarios. */
  public static Map<String, Runnable> all() {
    Map<String, Runnable> all = new LinkedHashMap<>();
    all.put("a result and two that wait", QueueScenarios::result);
    all.put("the future of an ack", QueueScenarios::ack);
    all.put("the queue of a lock", QueueScenarios::lockQueue);
    all.put("the queue of a listener", QueueScenarios::listenerQueue);
    all.put("the queue of a listener at close", QueueScenarios::listenerQueueClosed);
    all.put("the states of a node", QueueScenarios::nodeStates);
    all.put("callbacks that block", QueueScenarios::callbacks);
    return all;
  }

  private static CallbackThreads callbackThreads(Time time) {
    return new CallbackThreads(Pool.few(Thread::new), time, failures());
  }

  private static FailureLog failures() {
    return new FailureLog(LoggerFactory.getLogger(QueueScenarios.class));
  }

  private static void result() {
    CompletableFuture<String> result = new CompletableFuture<>();
    int[] woken = {0};
    for (int i = 0; i < 2; i++) {
      var unused =
          Schedule.spawn(
              "taker",
              () -> {
                check(blocking().await(result), "interrupted");
                check(Results.of(result).equals("set"), "another result");
                woken[0]++;
              });
    }
    boolean[] first = new boolean[2];
    for (int i = 0; i < 2; i++) {
      int which = i;
      var unused = Schedule.spawn("setter", () -> first[which] = result.complete("set"));
    }
    Schedule.awaitOthers();
    check(woken[0] == 2, "a taker waits for ever");
    check(first[0] != first[1], "set twice, or never");
  }

  private static void ack() {
    PendingAck ack = new PendingAck("release", null, Runnable::run);
    List<CompletableFuture<Void>> futures = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      var unused = Schedule.spawn("caller", () -> futures.add(ack.future()));
    }
    var queue =
        Schedule.spawn(
            "queue", () -> ack.settle(new dev.redlock.internal.protocol.Effect.Result(null, null)));
    Schedule.awaitOthers();
    check(queue != null && futures.get(0) == futures.get(1), "two futures");
    check(futures.get(0).isDone(), "the future is never completed");
  }

  private static void lockQueue() {
    Client[] client = new Client[1];
    LockActor[] actor = new LockActor[1];
    Schedule.atOnce(
        () -> {
          client[0] = client(new Node("a", true));
          actor[0] = new LockActor(client[0].context(), LockKeys.of("redlock", List.of("x")));
        });
    int[] inside = {0};
    List<Integer> handled = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      int thread = i;
      var unused =
          Schedule.spawn(
              "poster",
              () -> {
                for (int j = 0; j < 2; j++) {
                  int number = 10 * thread + j;
                  actor[0].post(
                      (machine, now, wall) -> {
                        check(++inside[0] == 1, "two events at once");
                        check(actor[0].isHandledHere(), "not handled here");
                        dev.redlock.schedules.Points.point("inside an event");
                        inside[0]--;
                        handled.add(number);
                        if (number == 1) {
                          throw new IllegalStateException("an event throws");
                        }
                      });
                }
              });
    }
    Schedule.awaitOthers();
    check(handled.size() == 6, "handled " + handled);
    for (int i = 0; i < 3; i++) {
      check(handled.indexOf(10 * i) < handled.indexOf(10 * i + 1), "not in order: " + handled);
    }
  }

  private static void listenerQueue() {
    List<String> told = new ArrayList<>();
    ListenerQueue queue =
        new ListenerQueue(
            new RedlockListener() {}, callbackThreads(new Clock()), new Clock(), failures(), 100);
    for (int i = 0; i < 2; i++) {
      String thread = "ab".substring(i, i + 1);
      var unused =
          Schedule.spawn(
              "teller",
              () -> {
                for (int j = 0; j < 3; j++) {
                  String event = thread + j;
                  queue.add(l -> told.add(event));
                }
              });
    }
    Schedule.awaitOthers();
    // The queue collects the other events during the pause. Its timer runs while this thread waits.
    CompletableFuture<Boolean> never = new CompletableFuture<>();
    check(blocking().await(never, 1_000_000_000L), "interrupted");
    check(told.size() == 6, "told " + told);
    check(inOrder(told, "a") && inOrder(told, "b"), "not in order: " + told);
  }

  private static boolean inOrder(List<String> told, String thread) {
    return told.indexOf(thread + 0) < told.indexOf(thread + 1)
        && told.indexOf(thread + 1) < told.indexOf(thread + 2);
  }

  /** Timers may not run any more once the queue is closed. */
  private static void listenerQueueClosed() {
    List<Integer> told = new ArrayList<>();
    Clock stopped = new Clock();
    boolean[] ended = {false};
    dev.redlock.spi.Time time =
        new dev.redlock.spi.Time() {
          @Override
          public long nanos() {
            return stopped.nanos();
          }

          @Override
          public long wallMillis() {
            return stopped.wallMillis();
          }

          @Override
          public Cancellable schedule(Runnable task, long delayNanos) {
            return ended[0] ? () -> {} : stopped.schedule(() -> run(task), delayNanos);
          }

          private void run(Runnable task) {
            if (!ended[0]) {
              task.run();
            }
          }
        };
    ListenerQueue queue =
        new ListenerQueue(
            new RedlockListener() {}, callbackThreads(stopped), time, failures(), 100);
    queue.add(l -> told.add(1));
    Schedule.awaitOthers();
    var teller = Schedule.spawn("teller", () -> queue.add(l -> told.add(2)));
    var closer =
        Schedule.spawn(
            "closer",
            () -> {
              queue.close();
              ended[0] = true;
            });
    Schedule.awaitOthers();
    check(teller != null && closer != null && told.size() == 2, "told " + told);
  }

  private static final class States implements RedlockListener {
    final List<NodeState.State> told = new ArrayList<>();

    @Override
    public void onNode(NodeState state) {
      told.add(state.state());
    }
  }

  private static void nodeStates() {
    Node node = new Node("a", true);
    States states = new States();
    Client[] client = new Client[1];
    Schedule.atOnce(
        () -> client[0] = (Client) ScriptedWorld.builder(node).listener(states).build());
    var a =
        Schedule.spawn(
            "loss",
            () -> node.become(new NodeStatus(NodeStatus.State.CONNECTING, 2, 0, 0, "lost")));
    var b =
        Schedule.spawn(
            "probe", () -> node.become(new NodeStatus(NodeStatus.State.VOTING, 3, 0, 0, "")));
    Schedule.awaitOthers();
    CompletableFuture<Boolean> never = new CompletableFuture<>();
    check(blocking().await(never, 1_000_000_000L), "interrupted");
    check(a != null && b != null && !states.told.isEmpty(), "nothing was told");
    NodeState.State last = states.told.get(states.told.size() - 1);
    check(
        last == NodeState.State.valueOf(node.status().state().name()),
        "the last that was told is " + last + ", the node is " + node.status().state());
  }

  private static void callbacks() {
    CallbackThreads threads = callbackThreads(new Clock());
    CompletableFuture<Boolean> gate = new CompletableFuture<>();
    int[] passed = {0};
    for (int i = 0; i < 3; i++) {
      var unused =
          Schedule.spawn(
              "user",
              () ->
                  threads.execute(
                      () -> {
                        check(blocking().await(gate), "interrupted");
                        passed[0]++;
                      }));
    }
    var last = Schedule.spawn("user", () -> threads.execute(() -> gate.complete(true)));
    Schedule.awaitOthers();
    check(last != null && passed[0] == 3, passed[0] + " callbacks have run");
  }
}
