package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.redlock.Lease;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.harness.CapturedLog;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.RestartGuard;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A scripted server behaves like each managed service: it refuses or omits commands. {@code
 * docs/operations.md} says what the client then does. In each case the node has a state with a
 * cause.
 */
@Tag("thorough")
class ManagedServersIT {
  /** Makes the guard time 7 s. */
  private static final Duration MAX_LEASE = Duration.ofSeconds(3);

  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final String UNKNOWN_COMMAND = "-ERR unknown command\r\n";
  private static final String NO_PERMISSION =
      "-NOPERM User app has no permissions to run this command\r\n";

  private FakeServer fake;

  @BeforeEach
  void start() throws IOException {
    fake = new FakeServer();
  }

  @AfterEach
  void stop() {
    fake.close();
  }

  private RedlockBuilder builder() {
    return Redlock.builder()
        .nodes(fake.uri())
        .nodeTimeout(Duration.ofMillis(500))
        .maxLeaseTime(MAX_LEASE);
  }

  private static NodeState node(Redlock client) {
    return client.operations().nodes().get(0);
  }

  private static void awaitState(Redlock client, NodeState.State state, String cause) {
    Eventually.holds(
        () -> node(client).state() == state && node(client).cause().contains(cause),
        PATIENCE,
        () -> "expected " + state + " '" + cause + "', found " + client.operations().nodes());
  }

  private static boolean isAcquire(List<String> command) {
    return command.get(0).startsWith("EVAL")
        && !FakeServer.isMarker(command)
        && command.stream().noneMatch(word -> word.contains("redlock.trial"));
  }

  /** The granted vote of a node. */
  private static String granted() {
    return "*3\r\n:1\r\n:" + System.currentTimeMillis() * 1000 + "\r\n:0\r\n";
  }

  private static String info(String... lines) {
    String text = String.join("\r\n", lines) + "\r\n";
    return "$" + text.length() + "\r\n" + text + "\r\n";
  }

  @Test
  void configRefused_theNodeVotes_andTheDoctorKnowsNoFsyncPolicy() throws Exception {
    fake.answer(command -> command.get(0).equals("CONFIG") ? UNKNOWN_COMMAND : null);
    try (Redlock client = builder().build()) {
      awaitState(client, NodeState.State.VOTING, "");
      assertThat(
              client.operations().doctor().toCompletableFuture().get(5, TimeUnit.SECONDS).nodes())
          .singleElement()
          .satisfies(
              found -> {
                assertThat(found.server()).isEqualTo("redis 7.0.15");
                assertThat(found.appendFsync()).isNull();
              });
    }
  }

  @Test
  void trackingRefused_theNodeVotes_andTheLogAndTheDoctorSayThatWaitersPoll() throws Exception {
    fake.answer(command -> command.get(0).equals("CLIENT") ? NO_PERMISSION : null);
    try (CapturedLog log = new CapturedLog(Level.WARN, false);
        Redlock client = builder().build()) {
      awaitState(client, NodeState.State.VOTING, "");
      assertThat(log.events().map(event -> event.getFormattedMessage()))
          .anyMatch(line -> line.contains("CLIENT TRACKING (waiters receive no invalidations)"));
      assertThat(Clients.done(client.operations().doctor()).toString())
          .contains("sends no invalidations (CLIENT TRACKING)")
          .contains("waiters poll");
    }
  }

  @Test
  void infoRefused_eachConnectionIsAQuarantine_whichSaysSo() {
    fake.answer(command -> command.get(0).equals("INFO") ? NO_PERMISSION : null);
    assertQuarantinedAtEachConnection("may have restarted: this user has no permission for INFO");
  }

  @Test
  void infoWithoutRunId_eachConnectionIsAQuarantine_whichSaysSo() {
    fake.answer(
        command ->
            command.get(0).equals("INFO")
                ? info("redis_version:7.2.0", "uptime_in_seconds:100000", "role:master")
                : null);
    assertQuarantinedAtEachConnection(
        "may have restarted: the server reports no run_id in INFO, so each connection counts");
  }

  private void assertQuarantinedAtEachConnection(String cause) {
    AtomicBoolean cut = new AtomicBoolean();
    FakeServer.Answers usual = fake.answers();
    try (Redlock client = builder().build()) {
      awaitState(client, NodeState.State.QUARANTINED, cause);
      assertThatThrownBy(() -> client.lock("a").tryAcquire())
          .isInstanceOf(QuorumUnavailableException.class)
          .hasMessageContaining("QUARANTINED");
      awaitState(client, NodeState.State.VOTING, "");
      fake.answer(
          command ->
              isAcquire(command) && cut.compareAndSet(false, true)
                  ? FakeServer.HANG_UP
                  : usual.to(command));
      assertThatThrownBy(() -> client.lock("a").tryAcquire())
          .isInstanceOf(QuorumUnavailableException.class);
      awaitState(client, NodeState.State.QUARANTINED, cause);
    }
  }

  @Test
  void infoWithoutUptime_theFirstConnectionIsAQuarantine_laterOnesAreNot() {
    AtomicBoolean cut = new AtomicBoolean();
    FakeServer.Answers usual =
        command ->
            command.get(0).equals("INFO")
                ? info("run_id:abc", "redis_version:7.2.0", "role:master")
                : null;
    fake.answer(usual);
    try (Redlock client = builder().build()) {
      awaitState(
          client,
          NodeState.State.QUARANTINED,
          "may have restarted just before this client first saw it: the server reports no"
              + " uptime_in_seconds");
      awaitState(client, NodeState.State.VOTING, "");
      int before = fake.connections();
      fake.answer(
          command ->
              isAcquire(command) && cut.compareAndSet(false, true)
                  ? FakeServer.HANG_UP
                  : usual.to(command));
      assertThatThrownBy(() -> client.lock("a").tryAcquire())
          .isInstanceOf(QuorumUnavailableException.class);
      Eventually.holds(
          () -> fake.connections() > before && node(client).state() != NodeState.State.CONNECTING,
          PATIENCE,
          () -> client.operations().nodes().toString());
      Eventually.holds(
          () -> node(client).state() == NodeState.State.VOTING,
          Duration.ofSeconds(4), // Less than the guard time.
          () -> client.operations().nodes().toString());
    }
  }

  @Test
  void helloRefused_theNodeNeverConnects_andTheCauseNamesTheCommand() {
    for (String refusal :
        List.of(
            "-ERR unknown command 'HELLO', with args beginning with: '3' \r\n",
            "-NOPROTO unsupported protocol version\r\n",
            NO_PERMISSION)) {
      fake.answer(command -> command.get(0).equals("HELLO") ? refusal : null);
      try (Redlock client = builder().build()) {
        awaitState(client, NodeState.State.CONNECTING, refusal.substring(1, 7));
        Eventually.refused(
            () -> client.lock("a").tryAcquire(),
            refusal.substring(1, 7),
            PATIENCE,
            () -> client.operations().nodes().toString());
      }
    }
  }

  /**
   * A proxy keeps the connection of the client, and the server behind it was replaced by an empty
   * one.
   */
  @Test
  void proxyThatHidesARestart_theVoteAfterItDoesNotCount_andTheNodeIsQuarantined() {
    AtomicBoolean restarted = new AtomicBoolean();
    fake.answer(command -> isAcquire(command) ? granted() : null);
    try (Redlock client = builder().build()) {
      awaitState(client, NodeState.State.VOTING, "");
      try (Lease lease = client.lock("before").acquire(Duration.ofSeconds(5))) {
        lease.ensureValid();
      }
      int before = fake.connections();
      long anew = System.currentTimeMillis() * 1000;
      fake.forgetRecord();
      fake.answer(
          command -> {
            if (command.get(0).equals("EVALSHA") && restarted.compareAndSet(false, true)) {
              return "-NOSCRIPT No matching script. Please use EVAL.\r\n";
            }
            if (FakeServer.readsMarker(command)) {
              return fake.marker(true, anew, anew, "id");
            }
            if (command.get(0).equals("INFO")) {
              return info(
                  "run_id:another",
                  "redis_version:7.2.0",
                  "uptime_in_seconds:0",
                  "role:master",
                  "maxmemory_policy:noeviction");
            }
            return isAcquire(command) ? granted() : null;
          });
      assertThatThrownBy(() -> client.lock("after").tryAcquire())
          .isInstanceOf(QuorumUnavailableException.class);
      assertThat(restarted).isTrue();
      assertThat(node(client).state()).isEqualTo(NodeState.State.QUARANTINED);
      awaitState(client, NodeState.State.QUARANTINED, "restarted: its run id changed");
      assertThat(fake.connections()).isEqualTo(before);
      awaitState(client, NodeState.State.VOTING, "");
    }
  }

  /**
   * After an operator's SCRIPT FLUSH the client gets the same reply at first, but the marker still
   * exists.
   */
  @Test
  void scriptsLost_markerKept_theNodeKeepsVoting_andTheCallSucceeds() {
    AtomicBoolean flushed = new AtomicBoolean();
    fake.answer(command -> isAcquire(command) ? granted() : null);
    try (Redlock client = builder().build()) {
      awaitState(client, NodeState.State.VOTING, "");
      fake.answer(
          command ->
              command.get(0).equals("EVALSHA") && flushed.compareAndSet(false, true)
                  ? "-NOSCRIPT No matching script. Please use EVAL.\r\n"
                  : isAcquire(command) ? granted() : null);
      assertThat(client.lock("a").tryAcquire()).isPresent();
      assertThat(flushed).isTrue();
      assertThat(node(client).state()).isEqualTo(NodeState.State.VOTING);
    }
  }

  @Test
  void guardOff_isTheOnlyWayToVoteAtOnceWithoutRunId() {
    fake.answer(command -> command.get(0).equals("INFO") ? info("redis_version:7.2.0") : null);
    try (Redlock client = builder().restartGuard(RestartGuard.OFF).build()) {
      awaitState(client, NodeState.State.VOTING, "");
    }
  }
}
