package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

import ch.qos.logback.classic.Level;
import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.AcquireReport.Vote;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.harness.CapturedLog;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisReplyException;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Errors of real servers: each is a vote with a reason. */
@RedisTest(nodes = 3)
class ServerRefusalsIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(1);

  private final RedisNodes nodes;

  ServerRefusalsIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  private static Redlock patient(RedisNodes nodes) {
    return Clients.voting(Clients.on(nodes).nodeTimeout(TIMEOUT).build(), nodes.size());
  }

  /** The errors of two refusing nodes out of three. */
  private static List<NodeVote> refused(Redlock redlock) {
    QuorumUnavailableException refused =
        catchThrowableOfType(
            QuorumUnavailableException.class, () -> redlock.lock("refused").tryAcquire());
    assertThat(refused).isNotNull();
    System.out.println(refused.report());
    return refused.report().votes();
  }

  /**
   * A node whose marker cannot be read after a change is quarantined until it is probed; at first
   * it does not know why.
   */
  private void assertBothSay(Redlock redlock, String kind) {
    Eventually.holds(
        () ->
            refused(redlock).subList(0, 2).stream()
                .allMatch(
                    vote ->
                        (vote.vote() == Vote.SILENT || vote.vote() == Vote.QUARANTINED)
                            && vote.error() != null
                            && vote.error().contains(kind)),
        nodes);
  }

  private void onTwo(Consumer<RedisNode> action) {
    onTwo(nodes, action);
  }

  private static void onTwo(RedisNodes of, Consumer<RedisNode> action) {
    of.stream().limit(2).forEach(action);
  }

  @Test
  void script_ofAnotherClientRunsOn_isBusy() {
    onTwo(node -> node.command("CONFIG", "SET", "lua-time-limit", "5"));
    try (Redlock redlock = patient(nodes)) {
      onTwo(node -> whileItLasts(node, "EVAL", "while true do end", "0"));
      onTwo(node -> Eventually.holds(() -> isBusy(node), nodes));
      try {
        assertBothSay(redlock, "BUSY");
      } finally {
        onTwo(node -> node.command("SCRIPT", "KILL"));
      }
      redlock.lock("refused").acquire(Duration.ofSeconds(5)).close();
    }
  }

  private static boolean isBusy(RedisNode node) {
    try {
      node.command("PING");
      return false;
    } catch (RedisReplyException e) {
      return e.getMessage().contains("BUSY");
    }
  }

  @Test
  void server_readsItsFile_isLoading() {
    String version = String.valueOf(nodes.get(0).command("INFO", "server"));
    assumeThat(version).as("DEBUG can be allowed").doesNotContain("redis_version:6.");
    try (RedisNodes slow =
            RedisNodes.builder().count(3).serverArgs("--enable-debug-command", "yes").start();
        Redlock redlock = patient(slow)) {
      onTwo(
          slow,
          node -> {
            String fill = "for i=1,3000 do redis.call('SET','filler'..i,('x'):rep(100)) end";
            node.command("EVAL", fill, "0");
            node.command("CONFIG", "SET", "loading-process-events-interval-bytes", "1024");
            node.command("CONFIG", "SET", "key-load-delay", "1000");
          });
      onTwo(slow, node -> whileItLasts(node, "DEBUG", "RELOAD"));
      onTwo(slow, node -> Eventually.holds(() -> isLoading(node), slow));
      assertBothSay(redlock, "LOADING");
    }
  }

  /** Sends a command that takes longer than the timeout of the connection. */
  private static void whileItLasts(RedisNode node, String... command) {
    CompletableFuture.runAsync(() -> node.command(command)).exceptionally(e -> null);
  }

  private static boolean isLoading(RedisNode node) {
    return String.valueOf(node.command("INFO", "persistence")).contains("loading:1");
  }

  @Test
  void user_mayNotSetKeys_hasNoPermission_andTheLogSaysWhatElseIsMissing() {
    String[] weak =
        "ACL SETUSER weak reset on >secret ~redlock:* -@all +evalsha +eval +get +del +time"
            .concat(" +pttl +pexpire +mget +exists +hmget +hset +zadd +zrange +zrem +zrank +zcard")
            .split(" ", -1);
    onTwo(node -> node.command(weak));
    String[] uris =
        nodes.stream()
            .map(
                node ->
                    node.index() == 2
                        ? node.uri()
                        : node.uri().replace("redis://", "redis://weak:secret@"))
            .toArray(String[]::new);
    nodes.get(2).command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    try (CapturedLog log = new CapturedLog(Level.INFO, true);
        Redlock redlock =
            Clients.voting(
                Redlock.builder()
                    .nodes(uris)
                    .nodeTimeout(TIMEOUT)
                    .restartGuard(RestartGuard.OFF)
                    .build(),
                3)) {
      assertBothSay(redlock, "NO_PERMISSION");
      warned(log, w -> w.contains(uris[0].substring(uris[0].indexOf('@') + 1)));
      warned(log, w -> w.matches(".*no permission for .*INFO.*"));
      warned(log, w -> w.contains("maxmemory-policy is allkeys-lru"));
    } finally {
      nodes.get(2).command("CONFIG", "SET", "maxmemory-policy", "noeviction");
    }
  }

  private void warned(CapturedLog log, Predicate<String> of) {
    Eventually.holds(() -> log.messages(Level.WARN).anyMatch(of), nodes);
  }

  @Test
  void guard_freshMasters_remainingTimeIsInTheLogAndInInspect() {
    try (CapturedLog log = new CapturedLog(Level.INFO, true);
        Redlock redlock =
            Redlock.builder()
                .nodes(nodes.uris().toArray(String[]::new))
                .maxLeaseTime(
                    Duration.ofMinutes(
                        10)) // The masters are older than the default quarantine by now.
                .build()) {
      Eventually.holds(
          () ->
              redlock.operations().nodes().stream()
                  .allMatch(n -> n.state() == NodeState.State.QUARANTINED),
          nodes);
      assertThat(redlock.operations().inspect("free").toCompletableFuture().join().nodes())
          .allSatisfy(node -> assertThat(node.state()).matches("QUARANTINED for \\d.*"));
      Eventually.holds(
          () ->
              log.messages(Level.INFO)
                      .filter(m -> m.matches(".*does not vote for another \\d.*: .*"))
                      .count()
                  >= 3,
          nodes);
    }
  }
}
