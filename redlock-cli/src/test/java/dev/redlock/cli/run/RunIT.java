package dev.redlock.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.testkit.RedisKey;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code redlock run} as a process, on real servers. */
@RedisTest(nodes = 3, gated = true, locksMayRemain = true)
class RunIT {
  private static final Map<String, Integer> NUMBERS =
      Map.of("TERM", 15, "INT", 2, "HUP", 1, "USR1", 10, "USR2", 12);

  private static final Duration DEADLINE = Duration.ofSeconds(30);

  /** How many leases are lost; 50 when a release is checked. */
  private static final int LOSSES = Integer.getInteger("redlock.cli.losses", 1);

  /** The margin of the guard is a twentieth of it: this is for a busy machine. */
  private static final String LOST_LEASE = System.getProperty("redlock.cli.lease", "8s");

  @TempDir Path folder;

  @Test
  void childThatEnds_exitCodeIsItsOwnAndNothingIsPrinted(RedisNodes nodes) throws Exception {
    try (Wrapper wrapper =
        Wrapper.run(
            folder,
            nodes,
            "a",
            "b",
            "--",
            "sh",
            "-c",
            "echo $REDLOCK_NAME $REDLOCK_TOKEN; exit 7")) {
      assertThat(wrapper.exitCode()).isEqualTo(7);
      assertThat(wrapper.out()).matches("a,b [1-9]\\d*\n");
      assertThat(wrapper.err()).isEmpty();
    }
  }

  @Test
  void childThatASignalKills_exitCodeIs128AndTheNumber(RedisNodes nodes) throws Exception {
    assertThat(codeOf(nodes, "a", "--", "sh", "-c", "kill -9 $$")).isEqualTo(137);
  }

  @Test
  void childThatCannotStart_is126Or127AndTheLockIsFree(RedisNodes nodes) throws Exception {
    assertThat(codeOf(nodes, "a", "--", "/nonexistent/program")).isEqualTo(127);
    assertThat(codeOf(nodes, "-n", "a", "--", "/etc/passwd")).isEqualTo(126);
    assertThat(codeOf(nodes, "-n", "a", "--", "true")).isZero();
  }

  @Test
  void lockThatOthersHold_is75OrTheGivenCode(RedisNodes nodes) throws Exception {
    try (Wrapper holder = holding(nodes, "a")) {
      assertThat(codeOf(nodes, "-n", "a", "--", "true")).isEqualTo(75);
      assertThat(codeOf(nodes, "-w", "200ms", "a", "--", "true")).isEqualTo(75);
      assertThat(codeOf(nodes, "-n", "-E", "0", "a", "--", "false")).isZero();
      assertThat(holder.isAlive()).isTrue();
    }
  }

  @Test
  void noMajority_is69AndNamesTheNodes(RedisNodes nodes) throws Exception {
    nodes.get(0).kill();
    nodes.get(1).kill();
    try (Wrapper wrapper = Wrapper.run(folder, nodes, "-n", "a", "--", "true")) {
      assertThat(wrapper.exitCode()).isEqualTo(69);
      assertThat(wrapper.err()).contains("too few nodes").containsAnyOf("VOTING", "PROBING");
      assertThat(wrapper.err().lines()).hasSize(1);
    }
  }

  @Test
  void wrongPassword_is69AndIsNotPrinted(RedisNodes nodes) throws Exception {
    Map<String, String> environment =
        Map.of(
            "REDLOCK_NODES", String.join(",", nodes.uris()), "REDLOCK_PASSWORD", "secret-of-mine");
    try (Wrapper wrapper =
        Wrapper.start(folder, environment, List.of("run", "-n", "a", "--", "true"))) {
      assertThat(wrapper.exitCode()).isEqualTo(69);
      assertThat(wrapper.err()).contains("too few nodes").doesNotContain("secret-of-mine");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT", "HUP", "USR1", "USR2"})
  void signal_whileTheChildRuns_arrivesThere(String signal, RedisNodes nodes) throws Exception {
    assumeNotIgnored(signal);
    String script = "trap 'echo got; exit 3' " + signal + "; echo up; while :; do sleep 0.05; done";
    try (Wrapper wrapper = Wrapper.run(folder, nodes, "a", "--", "sh", "-c", script)) {
      await().atMost(DEADLINE).until(() -> wrapper.out().contains("up"));
      wrapper.signal(signal);
      assertThat(wrapper.exitCode()).isEqualTo(3);
      assertThat(wrapper.out()).isEqualTo("up\ngot\n");
      assertThat(codeOf(nodes, "-n", "a", "--", "true")).isZero();
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT", "HUP", "USR1", "USR2"})
  void signal_whileWaiting_givesUp(String signal, RedisNodes nodes) throws Exception {
    assumeNotIgnored(signal);
    int number = NUMBERS.get(signal);
    try (Wrapper holder = holding(nodes, "a");
        Wrapper waiter = Wrapper.run(folder, nodes, "a", "--", "echo", "ran")) {
      await().atMost(DEADLINE).until(() -> isQueued(nodes));
      waiter.signal(signal);
      assertThat(waiter.exitCode()).isEqualTo(128 + number);
      assertThat(waiter.out()).isEmpty();
      assertThat(holder.isAlive()).isTrue();
    }
  }

  /** A shell without a terminal starts what runs in its background with INT ignored. */
  private static void assumeNotIgnored(String signal) throws IOException {
    String mask =
        Files.readAllLines(Path.of("/proc/self/status")).stream()
            .filter(line -> line.startsWith("SigIgn:"))
            .map(line -> line.substring(line.indexOf('\t') + 1))
            .findFirst()
            .orElse("0");
    long ignored = Long.parseUnsignedLong(mask, 16) >> (NUMBERS.get(signal) - 1) & 1;
    assumeThat(ignored).as("%s is ignored by the tests and their children", signal).isZero();
  }

  @Test
  void wrapperKilled_lockIsFreeWithinTheLeaseTime(RedisNodes nodes) throws Exception {
    try (Wrapper holder = holding(nodes, "a", "--lease", "2s")) {
      List<ProcessHandle> left = holder.descendants();
      holder.signal("KILL");
      try {
        // With the usual lease time, the lock would be held for longer than this wait.
        assertThat(codeOf(nodes, "-w", "10s", "a", "--", "true")).isZero();
      } finally {
        left.forEach(ProcessHandle::destroyForcibly);
      }
    }
  }

  @Tag("thorough")
  @Test
  void childIgnoresTerm_leaseCannotBeExtended_isGoneBeforeTheKeysExpire(RedisNodes nodes)
      throws Exception {
    for (int i = 0; i < LOSSES; i++) {
      String name = "lost-" + i;
      Path beats = folder.resolve(name);
      // Its last beat tells when it ended. The shell ignores TERM, its sleep inherits that.
      String script = "trap '' TERM; while :; do date +%s%N >> " + beats + "; sleep 0.01; done";
      try (Wrapper wrapper =
          Wrapper.run(folder, nodes, "--lease", LOST_LEASE, name, "--", "sh", "-c", script)) {
        await().atMost(DEADLINE).until(() -> Files.exists(beats));
        // The masters still run: what they store tells when another client could hold the lock.
        nodes.forEach(node -> node.gate().dropRequests());
        long expiresMillis = lastExpiryMillis(nodes, name);
        assertThat(wrapper.exitCode()).isEqualTo(79);
        List<String> all = Files.readAllLines(beats);
        long lastMillis = Long.parseLong(all.get(all.size() - 1)) / 1_000_000;
        assertThat(lastMillis).as("run %d: %s", i, wrapper.err()).isLessThan(expiresMillis);
        assertThat(wrapper.err()).contains("TERM").contains("is gone");
      }
      nodes.endFaults();
    }
  }

  private static long lastExpiryMillis(RedisNodes nodes, String name) {
    return nodes.stream()
        .mapToLong(node -> expiryMillis(node, name))
        .sorted()
        .skip(1)
        .min()
        .orElseThrow();
  }

  private static long expiryMillis(RedisNode node, String name) {
    return node.keys().stream()
        .map(RedisKey::name)
        .filter(key -> key.contains(name))
        .mapToLong(key -> System.currentTimeMillis() + (Long) node.command("PTTL", key))
        .min()
        .orElse(Long.MAX_VALUE);
  }

  private static boolean isQueued(RedisNodes nodes) {
    return nodes.stream()
        .anyMatch(n -> n.keys().stream().anyMatch(k -> k.name().contains(":queue")));
  }

  private Wrapper holding(RedisNodes nodes, String name, String... options) throws Exception {
    String[] args = new String[options.length + 5];
    System.arraycopy(options, 0, args, 0, options.length);
    System.arraycopy(
        new String[] {name, "--", "sh", "-c", "echo up; exec sleep 60"},
        0,
        args,
        options.length,
        5);
    Wrapper wrapper = Wrapper.run(folder, nodes, args);
    await().atMost(DEADLINE).until(() -> wrapper.out().contains("up"));
    return wrapper;
  }

  private int codeOf(RedisNodes nodes, String... args) throws IOException, InterruptedException {
    try (Wrapper wrapper = Wrapper.run(folder, nodes, args)) {
      return wrapper.exitCode();
    }
  }
}
