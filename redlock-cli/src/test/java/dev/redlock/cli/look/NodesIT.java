package dev.redlock.cli.look;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.cli.ExitCode;
import dev.redlock.cli.run.Wrapper;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.NodeRecord;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code redlock nodes} on real servers. The guard time is 7 s here. */
@Timeout(120)
class NodesIT {
  private Masters masters;
  private Redlock application;

  @BeforeEach
  void start() {
    masters = new Masters(4);
    application = masters.program(masters.uris(0, 1, 2));
    assertThat(application.awaitReady(Masters.WAIT)).isTrue();
  }

  @AfterEach
  void stop() {
    masters.close();
  }

  private Captured redlock(String... words) {
    return masters.redlock(masters.uris(0, 1, 2), words);
  }

  private String name(int server) {
    return masters.name(server);
  }

  private String set(int epoch, int... which) {
    NodeRecord record = NodeState.newestRecord(application.operations().nodes());
    assertThat(record).isNotNull();
    return "deployment %s, epoch %d, floor %d: %s"
        .formatted(
            record.id(),
            epoch,
            epoch,
            IntStream.of(which).mapToObj(this::name).sorted().collect(Collectors.joining(", ")));
  }

  @Test
  void nodes_withARecord_printOneLineForTheSet() {
    Captured seen = redlock("nodes");
    assertThat(seen.code()).as(seen.toString()).isEqualTo(ExitCode.OK);
    assertThat(seen.out().lines()).hasSize(5).endsWith(set(1, 0, 1, 2));
    assertThat(redlock("nodes", "--json").out().lines())
        .hasSize(3)
        .allMatch(
            line ->
                line.contains("\"deployment\":\"")
                    && line.contains("\"epoch\":1,\"floor\":1,\"members\":[\""));
  }

  @Test
  void unknownName_isNotRemoved_andNotReplaced() {
    Captured seen = redlock("nodes", "remove", name(3));
    assertThat(seen.code()).as(seen.toString()).isEqualTo(ExitCode.OK);
    assertThat(seen.err()).contains("'" + name(3) + "' is no member of the set");
    assertThat(seen.out()).isEqualTo(set(1, 0, 1, 2) + "\n");
    Captured half = redlock("nodes", "replace", name(3), "127.0.0.1:1");
    assertThat(half.code()).isEqualTo(ExitCode.NO);
    assertThat(half.err())
        .contains("; if it was removed before, run: redlock nodes add 127.0.0.1:1");
  }

  @Test
  void passwordOfAUri_isInNoMessage() {
    for (String[] words :
        List.of(
            new String[] {"nodes", "remove", "redis://:secret@127.0.0.1:1"},
            new String[] {"nodes", "remove", ":secret@127.0.0.1:1"},
            new String[] {"nodes", "remove", "redis://:secret@"},
            new String[] {"nodes", "replace", "redis://:secret@127.0.0.1:1", "127.0.0.1:2"},
            new String[] {"nodes", "remove", name(2), "--gone", "redis://:secret@127.0.0.1:1"},
            new String[] {"nodes", "forget", "redis://:secret@127.0.0.1:1"},
            new String[] {"nodes", "forget", name(2), "redis://:secret@127.0.0.1:1"})) {
      assertThat(redlock(words).toString()).isNotEmpty().doesNotContain("secret");
    }
  }

  @Test
  void change_ofNodesWithoutARecord_endsWithASentence() {
    Captured seen =
        Captured.run(masters.uris(3), "nodes", "add", "127.0.0.1:1", "--restart-guard", "OFF");
    assertThat(seen.code()).as(seen.toString()).isEqualTo(ExitCode.TOO_FEW_NODES);
    assertThat(seen.err())
        .endsWith(
            "0 of 1 nodes vote, 1 are needed: none has a record of the set, and the first program"
                + " that uses them writes it\n");
  }

  @Test
  void foreignRecord_isForgotten_soThatItsMasterCanBeAdded() {
    Captured kept = redlock("nodes", "forget", name(3));
    assertThat(kept.code()).as(kept.toString()).isEqualTo(ExitCode.NO);
    assertThat(kept.err()).contains("this client does not reach " + name(3));
    masters.found(3);
    assertThat(redlock("nodes", "add", name(3)).err()).contains("belongs to another set");
    List<String> fourth = masters.uris(3);
    Captured seen = Captured.run(fourth, "nodes", "forget", name(3), "--restart-guard", "OFF");
    assertThat(seen.code()).as(seen.toString()).isEqualTo(ExitCode.OK);
    assertThat(seen.out()).isEqualTo(name(3) + " has forgotten its record\n");
    assertThat(masters.get(3).command("KEYS", "*").toString()).doesNotContain("%node");
  }

  @Test
  @Tag("thorough")
  void tooFewNodes_is69_andMeansThatNoLockCanBeAcquired() {
    masters.get(0).kill();
    masters.get(1).kill();
    assertThat(redlock("nodes").err())
        .endsWith(" vote, 2 are needed: no lock can be acquired now\n");
    Captured seen = redlock("nodes", "add", name(3));
    assertThat(seen.code()).as(seen.toString()).isEqualTo(ExitCode.TOO_FEW_NODES);
  }

  @Test
  void add_thatIsInterrupted_isContinuedByTheSameCommand(@TempDir Path folder) throws Exception {
    List<String> words = new ArrayList<>(List.of("nodes", "add", name(3)));
    words.addAll(Masters.SETTINGS);
    Map<String, String> uris = Map.of("REDLOCK_NODES", String.join(",", masters.uris(0, 1, 2)));
    Lease held = application.lock("held").acquire(Masters.WAIT);
    try (Wrapper operator = Wrapper.start(folder, uris, words)) {
      await()
          .atMost(Masters.WAIT)
          .until(() -> operator.err().matches("(?s).*epoch 2: .*for leases.*"));
      operator.signal("INT");
      assertThat(operator.exitCode()).isEqualTo(130);
      assertThat(operator.out()).isEmpty();
      assertThat(operator.err())
          .endsWith("redlock: interrupted: run the same command again to continue\n");
    }
    Captured again = redlock("nodes", "add", name(3));
    assertThat(again.code()).as(again.toString()).isEqualTo(ExitCode.OK);
    assertThat(again.out()).isEqualTo(set(2, 0, 1, 2, 3) + "\n");
    assertThat(again.err()).contains("an even number of nodes tolerates as many failures as one");
    assertThat(redlock("nodes").out().lines()).hasSize(6).endsWith(set(2, 0, 1, 2, 3));
    assertThat(held.isValid()).isTrue();
    held.release();
  }

  @Test
  void maxLeaseTime_isRaisedForAllNodes_andShownAsJson() {
    Captured seen = redlock("nodes", "max-lease-time", "2500ms");
    assertThat(seen.code()).as(seen.toString()).isEqualTo(ExitCode.OK);
    assertThat(redlock("nodes", "--json").out().lines())
        .hasSize(3)
        .allMatch(line -> line.contains("\"epoch\":2,") && line.contains("Millis\":2500}"));
    assertThat(redlock("nodes", "max-lease-time", "1s").err())
        .contains("this client uses maxLeaseTime 2000 ms, which is longer than 1000 ms");
  }

  @Test
  @Tag("thorough")
  void deadMaster_isReplaced_andApplicationsFollow() {
    masters.get(2).kill();
    Captured seen = redlock("nodes", "replace", name(2), name(3), "--json");
    assertThat(seen.code()).as(seen.toString()).isEqualTo(ExitCode.OK);
    assertThat(seen.out())
        .startsWith("{\"deployment\":\"")
        .contains("\"epoch\":3,\"floor\":3,\"members\":[\"");
    await()
        .atMost(Masters.WAIT)
        .until(
            () ->
                application.operations().nodes().stream()
                    .anyMatch(
                        node ->
                            node.node().equals(name(3)) && node.state() == NodeState.State.VOTING));
    Captured again = redlock("nodes", "replace", name(2), name(3));
    assertThat(again.code()).as(again.toString()).isEqualTo(ExitCode.OK);
    assertThat(again.out()).isEqualTo(set(3, 0, 1, 3) + "\n");
    assertThat(redlock("doctor").out().lines()).hasSizeGreaterThanOrEqualTo(3);
  }
}
