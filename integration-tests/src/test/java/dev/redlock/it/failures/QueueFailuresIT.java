package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.harness.ForkedJvm;
import dev.redlock.harness.ForwardingLockNode;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.it.LeastUser;
import dev.redlock.lettuce.LettuceLockNode;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import dev.redlock.testkit.TcpGate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * If the process that has its turn is gone, or the home node is gone, the others lose little time.
 * The next poll comes after a minute, so that no poll can help.
 */
@RedisTest(nodes = 5)
@Tag("thorough")
class QueueFailuresIT {
  private static final Duration WAIT = Duration.ofSeconds(60);
  private static final int WAITERS = 20;
  private static final Duration NODE_TIMEOUT = Duration.ofMillis(200);

  /** Lives longer than the test, so that no expiry can help either. */
  private static final LockOptions LAZY =
      Clients.options()
          .leaseTime(Duration.ofSeconds(30))
          .pollInterval(Duration.ofMinutes(1))
          .build();

  private final RedisNodes nodes;

  QueueFailuresIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @Test
  void firstOfTheQueue_isKilled_theNextHasTheLockSoon() throws Exception {
    long[] millis = new long[3];
    for (int i = 0; i < millis.length; i++) {
      try (ForkedJvm first = first("killed-" + i)) {
        millis[i] = handOver("killed-" + i, () -> first.send("go"), first::kill);
      }
    }
    report("first of the queue killed", millis);
  }

  @Test
  void firstOfTheQueue_isPaused_theNextHasTheLockSoon_andItIsServedWhenItResumes()
      throws Exception {
    long[] millis = new long[3];
    for (int i = 0; i < millis.length; i++) {
      try (ForkedJvm first = first("paused-" + i)) {
        millis[i] = handOver("paused-" + i, () -> first.send("go"), first::pause);
        first.resume();
        assertThat(first.awaitExit(Duration.ofSeconds(60))).as(first.describe()).isZero();
      }
    }
    report("first of the queue paused", millis);
  }

  @Test
  void firstOfTheQueue_isCutOff_theNextHasTheLockSoon_andItIsServedWhenItIsBack() throws Exception {
    cutOff("cut", TcpGate::cut);
  }

  @Test
  void firstOfTheQueue_isBehindABlackHole_theNextHasTheLockSoon_andItIsServedWhenItIsBack()
      throws Exception {
    cutOff("swallowed", TcpGate::blackHole);
  }

  private void cutOff(String what, Consumer<TcpGate> fault) throws Exception {
    long[] millis = new long[5];
    List<TcpGate> gates = new ArrayList<>();
    for (RedisNode node : nodes) {
      gates.add(TcpGate.inFrontOf("127.0.0.1", node.directPort()));
    }
    // With the names of the nodes, from which all clients compute the home node.
    RedlockBuilder builder = Redlock.builder().restartGuard(RestartGuard.OFF);
    for (RedisNode node : nodes) {
      String uri = "redis://127.0.0.1:" + gates.get(node.index()).port();
      builder.nodes(
          new Named(LettuceLockNode.create(node.uri()).name(), LettuceLockNode.create(uri)));
    }
    try (Redlock first = Clients.voting(builder.build(), 5)) {
      for (int i = 0; i < millis.length; i++) {
        String name = what + "-" + i;
        List<CompletableFuture<Void>> served = new ArrayList<>();
        millis[i] =
            handOver(
                name,
                () ->
                    served.add(
                        first.lock(name, LAZY).acquireAsync(WAIT).thenAccept(Lease::releaseAsync)),
                () -> gates.forEach(fault));
        gates.forEach(TcpGate::endFaults);
        served.get(0).get(30, TimeUnit.SECONDS);
        Clients.voting(first, 5);
      }
    } finally {
      gates.forEach(TcpGate::close);
    }
    report("first of the queue " + what, millis);
  }

  /** A node that is reached at another address. */
  private static final class Named extends ForwardingLockNode {
    private final String name;

    Named(String name, LockNode node) {
      super(node);
      this.name = name;
    }

    @Override
    public String name() {
      return name;
    }
  }

  private void report(String what, long[] millis) {
    Arrays.sort(millis);
    System.out.println(what + ": next in after ms " + Arrays.toString(millis));
    assertThat(millis[millis.length / 2]).as("median ms").isLessThan(1_000);
  }

  private ForkedJvm first(String name) {
    ForkedJvm first = ForkedJvm.start(First.class, String.join(",", nodes.uris()), name);
    first.awaitLine("ready"::equals, Duration.ofMinutes(2));
    return first;
  }

  /** The milliseconds from a release to the grant of the second, with a fault of the first. */
  private long handOver(String name, Runnable queueFirst, Runnable fault) throws Exception {
    try (Redlock holder = Clients.start(nodes);
        Redlock next = Clients.start(nodes)) {
      Lease held = holder.lock(name, LAZY).acquire(WAIT);
      queueFirst.run();
      awaitQueued(name, 1);
      CompletableFuture<Long> in =
          next.lock(name, LAZY)
              .acquireAsync(WAIT)
              .thenApply(
                  lease -> {
                    long now = System.nanoTime();
                    lease.close();
                    return now;
                  });
      awaitQueued(name, 2);
      fault.run();
      long start = System.nanoTime();
      held.close();
      return (in.get(60, TimeUnit.SECONDS) - start) / 1_000_000;
    }
  }

  /** The node in whose queue so many are. A process that hears too late from it moves on. */
  private RedisNode awaitQueued(String name, long processes) {
    AtomicReference<RedisNode> home = new AtomicReference<>();
    Eventually.holds(
        () -> {
          nodes.stream()
              .filter(node -> queued(node, name) >= processes)
              .findFirst()
              .ifPresent(home::set);
          return home.get() != null;
        },
        Duration.ofSeconds(20),
        nodes);
    return home.get();
  }

  private static long queued(RedisNode node, String name) {
    return (Long) node.command("ZCARD", Clients.queueKey(name));
  }

  /** Waits once, from the line "go" on, until it is killed or served. */
  static final class First {
    private First() {}

    public static void main(String[] args) throws Exception {
      try (Redlock redlock =
          Clients.voting(
              Redlock.builder().nodes(args[0].split(",")).restartGuard(RestartGuard.OFF).build(),
              5)) {
        System.out.println("ready");
        System.in.read();
        redlock.lock(args[1], LAZY).acquire(WAIT).close();
        System.out.println("served");
      }
      System.exit(0);
    }
  }

  @Test
  void homeNode_isKilledWhileTwentyWait_theNextHasTheLockSoon_andAllAreServed() throws Exception {
    homeNodeGone("home-killed", RedisNode::kill, RedisNode::restart);
  }

  @Test
  void homeNode_hangsWhileTwentyWait_theNextHasTheLockSoon_andAllAreServed() throws Exception {
    homeNodeGone("home-hung", RedisNode::pause, RedisNode::resume);
  }

  private void homeNodeGone(String name, Consumer<RedisNode> fault, Consumer<RedisNode> end)
      throws Exception {
    LockOptions options = LAZY.toBuilder().nodeTimeout(NODE_TIMEOUT).build();
    List<Redlock> clients = new ArrayList<>();
    List<Long> served = new ArrayList<>();
    RedisNode home = null;
    try {
      for (int i = 0; i <= WAITERS; i++) {
        clients.add(Clients.start(nodes));
      }
      Lease held = clients.get(0).lock(name, options).acquire(WAIT);
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (Redlock client : clients.subList(1, clients.size())) {
        all.add(
            client
                .lock(name, options)
                .acquireAsync(WAIT)
                .thenAccept(
                    lease -> {
                      synchronized (served) {
                        served.add(System.nanoTime());
                      }
                      lease.releaseAsync();
                    }));
      }
      home = awaitQueued(name, WAITERS);
      fault.accept(home);
      long start = System.nanoTime();
      held.close();
      CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(50, TimeUnit.SECONDS);
      synchronized (served) {
        List<Long> millis = served.stream().map(t -> (t - start) / 1_000_000).sorted().toList();
        System.out.println(name + ": in after ms " + millis);
        assertThat(millis).hasSize(WAITERS);
        assertThat(millis.get(0)).as("ms of the next").isLessThan(3_000);
        assertThat(millis.get(WAITERS - 1)).as("ms of the last").isLessThan(20_000);
      }
    } finally {
      if (home != null) {
        end.accept(home);
      }
      clients.forEach(Redlock::close);
    }
  }

  @Test
  void userWithoutTracking_isServedByPolls() throws Exception {
    for (RedisNode node : nodes) {
      node.command(
          Arrays.stream(LeastUser.serverArgs())
              .filter(word -> !word.equals("+client|tracking"))
              .map(word -> word.equals("--user") ? "SETUSER" : word.equals("app") ? "deaf" : word)
              .collect(() -> new ArrayList<>(List.of("ACL")), ArrayList::add, ArrayList::addAll)
              .toArray(String[]::new));
    }
    String[] uris =
        nodes.uris().stream()
            .map(uri -> uri.replace("redis://", "redis://deaf:secret@"))
            .toArray(String[]::new);
    LockOptions polling = Clients.options().pollInterval(Duration.ofMillis(200)).build();
    List<Redlock> clients = new ArrayList<>();
    try {
      for (int i = 0; i < 4; i++) {
        clients.add(
            Clients.voting(
                Redlock.builder().nodes(uris).restartGuard(RestartGuard.OFF).build(), 5));
      }
      Lease held = clients.get(0).lock("polled", polling).acquire(WAIT);
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (Redlock client : clients) {
        all.add(client.lock("polled", polling).acquireAsync(WAIT).thenAccept(Lease::releaseAsync));
      }
      awaitQueued("polled", 3);
      long start = System.nanoTime();
      held.close();
      CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(30, TimeUnit.SECONDS);
      System.out.println(
          "without tracking: 4 served after ms " + (System.nanoTime() - start) / 1_000_000);
    } finally {
      clients.forEach(Redlock::close);
    }
  }
}
