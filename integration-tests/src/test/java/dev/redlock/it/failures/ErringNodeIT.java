package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.operations.NodeState;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One of three masters replies to every write with an error; it must not cost more than a dead
 * master. Interleaved with healthy runs. The commandstats of the erring node show the requests that
 * it received.
 *
 * <p>On a quiet machine the rate beside an erring node is 0.8 of the healthy rate or more ({@code
 * -Dredlock.erring.share=0.8} asserts it). The defect that this test was written for left less than
 * 0.25; a machine with other work may leave 0.65.
 */
@RedisTest(nodes = 3)
@Tag("thorough")
class ErringNodeIT {
  private static final int THREADS = 8;
  private static final int ROUNDS = 5;
  private static final Duration RUN = Duration.ofMillis(400);
  private static final double LEAST_SHARE =
      Double.parseDouble(System.getProperty("redlock.erring.share", "0.5"));
  private static final Pattern SCRIPTS =
      Pattern.compile("cmdstat_eval(?:sha)?:calls=(\\d+),[^\\n]*?rejected_calls=(\\d+)");

  /** How a master comes to reply with errors, and how it recovers. */
  @SuppressWarnings(
      // The constant MISCONFIGURED stores how to end the error, so only one test at a time may use
      // it.
      "ImmutableEnumChecker")
  enum Illness {
    OUT_OF_MEMORY {
      @Override
      void fall(RedisNode node) {
        node.command("CONFIG", "SET", "maxmemory", "1");
      }

      @Override
      void getWell(RedisNode node) {
        node.command("CONFIG", "SET", "maxmemory", "0");
      }
    },
    NO_REPLICAS {
      @Override
      void fall(RedisNode node) {
        node.command("CONFIG", "SET", "min-replicas-to-write", "1");
      }

      @Override
      void getWell(RedisNode node) {
        node.command("CONFIG", "SET", "min-replicas-to-write", "0");
      }
    },
    /** It could not save its last snapshot. */
    MISCONFIGURED {
      private @Nullable Runnable end;

      @Override
      void fall(RedisNode node) {
        end = Erring.MISCONF.begin(node);
        Eventually.holds(
            () ->
                String.valueOf(node.command("INFO", "persistence"))
                    .contains("rdb_last_bgsave_status:err"),
            Duration.ofSeconds(10),
            node::describe);
      }

      @Override
      void getWell(RedisNode node) {
        Runnable begun = end;
        if (begun != null) {
          end = null;
          begun.run();
        }
      }
    },
    NO_PERMISSION {
      @Override
      void fall(RedisNode node) {
        node.command("ACL", "SETUSER", "default", "-evalsha", "-eval");
      }

      @Override
      void getWell(RedisNode node) {
        node.command("ACL", "SETUSER", "default", "+@all");
      }
    },
    /** Inside the script: the key is not set, but the client cannot know. */
    NO_PERMISSION_TO_SET {
      @Override
      void fall(RedisNode node) {
        node.command("ACL", "SETUSER", "default", "-set");
      }

      @Override
      void getWell(RedisNode node) {
        node.command("ACL", "SETUSER", "default", "+@all");
      }
    };

    abstract void fall(RedisNode node);

    abstract void getWell(RedisNode node);
  }

  private final RedisNodes nodes;

  ErringNodeIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @AfterEach
  void allAreWell() {
    nodes.forEach(
        node -> {
          for (Illness illness : Illness.values()) {
            illness.getWell(node);
          }
        });
  }

  @ParameterizedTest
  @EnumSource
  void nodeThatErrs_namesOfTheirOwn_costsNoMoreThanADeadOne(Illness illness) throws Exception {
    compare(illness, thread -> "own" + thread);
  }

  @ParameterizedTest
  @EnumSource
  void nodeThatErrs_oneNameForAll_costsNoMoreThanADeadOne(Illness illness) throws Exception {
    compare(illness, thread -> "shared");
  }

  /** Stored leases are extended and released: only new ones would need memory. */
  @Test
  void nodesWithoutMemory_heldLease_isExtendedAndReleased() {
    try (Redlock redlock = Clients.patient(nodes)) {
      Lease lease = redlock.lock("held").acquire(Duration.ofSeconds(5));
      nodes.forEach(Illness.OUT_OF_MEMORY::fall);
      assertThatThrownBy(() -> redlock.lock("other").tryAcquire())
          .isInstanceOf(QuorumUnavailableException.class)
          .hasMessageContaining("OOM command not allowed");
      Eventually.holds(
          () ->
              redlock.operations().nodes().stream()
                  .allMatch(n -> n.state() == NodeState.State.ERRING),
          nodes);
      assertThat(redlock.operations().nodes().get(0).cause())
          .contains("OOM", "tried again every 200 ms");
      lease.extendAsync().toCompletableFuture().join();
      assertThat(lease.isValid()).isTrue();
      lease.releaseAsync().toCompletableFuture().join();
      Clients.gone(nodes, "held");
      nodes.forEach(Illness.OUT_OF_MEMORY::getWell);
      redlock.lock("other").acquire(Duration.ofSeconds(2)).close();
    }
  }

  /** A name without permission does not affect the others. */
  @Test
  void nameThatIsNotPermitted_leavesTheOthersAlone() {
    nodes.forEach(
        node ->
            node.command(
                "ACL", "SETUSER", "default", "resetkeys", "~redlock:{mine*", "~redlock:%node"));
    try (Redlock redlock = Clients.patient(nodes)) {
      for (int i = 0; i < 200; i++) {
        assertThatThrownBy(() -> redlock.lock("theirs").tryAcquire())
            .isInstanceOf(QuorumUnavailableException.class)
            .hasMessageContaining("NO_PERMISSION");
        redlock.lock("mine").tryAcquire().orElseThrow().close();
      }
      assertThat(redlock.operations().nodes())
          .allMatch(node -> node.state() == NodeState.State.VOTING);
      Eventually.holds(() -> Clients.owesNothing(redlock), nodes);
    } finally {
      nodes.forEach(node -> node.command("ACL", "SETUSER", "default", "allkeys"));
    }
  }

  /**
   * The user has no permission for the key of the trial by which the client finds out that a node
   * errs.
   */
  @Test
  void userOfSomeNamesOnly_nodeThatErrs_isLeftAloneAllTheSame() throws Exception {
    nodes.forEach(
        node ->
            node.command(
                "ACL", "SETUSER", "default", "resetkeys", "~redlock:{mine*", "~redlock:%node"));
    try (Redlock redlock = Clients.start(nodes)) {
      Illness.OUT_OF_MEMORY.fall(nodes.get(0));
      pairsPerSecond(redlock, thread -> "mine" + thread);
      long before = scripts(nodes.get(0));
      pairsPerSecond(redlock, thread -> "mine" + thread);
      double perSecond = (scripts(nodes.get(0)) - before) * 1e9 / RUN.toNanos();
      assertThat(redlock.operations().nodes().get(0).state()).isEqualTo(NodeState.State.ERRING);
      assertThat(perSecond).as("requests a second to the node that errs").isLessThan(100);
      Illness.OUT_OF_MEMORY.getWell(nodes.get(0));
      Eventually.holds(
          () -> redlock.operations().nodes().get(0).state() == NodeState.State.VOTING, nodes);
      Eventually.holds(() -> Clients.owesNothing(redlock), nodes);
    } finally {
      nodes.forEach(node -> node.command("ACL", "SETUSER", "default", "allkeys"));
    }
  }

  /** Every request finds that its script is missing, and none fails because of it. */
  @Test
  void scriptsFlushedBeforeEachCall_nothingFails() {
    try (Redlock redlock = Clients.patient(nodes)) {
      for (int i = 0; i < 30; i++) {
        nodes.forEach(node -> node.command("SCRIPT", "FLUSH"));
        Lease lease = redlock.lock("flushed").tryAcquire().orElseThrow();
        nodes.forEach(node -> node.command("SCRIPT", "FLUSH"));
        lease.extendAsync().toCompletableFuture().join();
        nodes.forEach(node -> node.command("SCRIPT", "FLUSH"));
        lease.releaseAsync().toCompletableFuture().join();
      }
      Eventually.holds(() -> Clients.owesNothing(redlock), nodes);
    }
  }

  private void compare(Illness illness, IntFunction<String> names) throws Exception {
    // Sums, not medians: another process on the machine may slow down any one of these short runs.
    List<Double> shares = new ArrayList<>(); // Their median: the machine may be busy in a round.
    List<Double> asked = new ArrayList<>();
    try (Redlock redlock = Clients.start(nodes)) {
      pairsPerSecond(redlock, names);
      for (int round = 0; round < ROUNDS; round++) {
        RedisNode sick = nodes.get(round % 3);
        double healthy = pairsPerSecond(redlock, names);
        illness.fall(sick);
        pairsPerSecond(redlock, names); // Only the steady state counts.
        long before = scripts(sick);
        double erring = pairsPerSecond(redlock, names);
        double perSecond = (scripts(sick) - before) * 1e9 / RUN.toNanos();
        String state = redlock.operations().nodes().get(round % 3).toString();
        illness.getWell(sick);
        Eventually.holds(
            () ->
                redlock.operations().nodes().stream()
                    .allMatch(n -> n.state() == NodeState.State.VOTING),
            nodes);
        System.out.printf(
            Locale.ROOT,
            "%s: %.0f pairs/s against %.0f, %.0f scripts/s to it, %s%n",
            illness,
            erring,
            healthy,
            perSecond,
            state);
        shares.add(erring / healthy);
        asked.add(perSecond);
      }
      Eventually.holds(() -> Clients.owesNothing(redlock), nodes);
    }
    assertThat(median(shares)).as("share of the healthy rate").isGreaterThan(LEAST_SHARE);
    assertThat(median(asked)).as("requests a second to the node that errs").isLessThan(100);
  }

  private static double pairsPerSecond(Redlock redlock, IntFunction<String> names)
      throws Exception {
    LongAdder pairs = new LongAdder();
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    long end = System.nanoTime() + RUN.toNanos();
    try {
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        String name = names.apply(i);
        all.add(
            CompletableFuture.runAsync(
                () -> {
                  while (System.nanoTime() - end < 0) {
                    try (Lease lease = redlock.lock(name).acquire(Duration.ofSeconds(10))) {
                      lease.ensureValid();
                      pairs.increment();
                    }
                  }
                },
                threads));
      }
      CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0])).get();
    } finally {
      threads.shutdown();
    }
    return pairs.sum() * 1e9 / RUN.toNanos();
  }

  /** The script calls that the node received, including rejected ones. */
  private static long scripts(RedisNode node) {
    Matcher each = SCRIPTS.matcher(String.valueOf(node.command("INFO", "commandstats")));
    long sum = 0;
    while (each.find()) {
      sum += Long.parseLong(each.group(1)) + Long.parseLong(each.group(2));
    }
    return sum;
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
  }
}
