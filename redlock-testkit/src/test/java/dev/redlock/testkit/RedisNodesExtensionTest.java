package dev.redlock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

class RedisNodesExtensionTest {

  @RedisTest(nodes = 2, gated = true)
  @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
  static class Faults {

    private final RedisNodes nodes;
    private static Object directory;

    Faults(RedisNodes nodes) {
      this.nodes = nodes;
    }

    @Test
    @Order(1)
    void leavesFaultsAndData() {
      directory = nodes.get(1).command("CONFIG", "GET", "dir");
      nodes.get(0).command("SET", "other", "v");
      nodes.get(0).kill();
      nodes.get(1).gate().cut();
      nodes.get(1).command("SET", "other", "v");
      nodes.get(1).pause();
    }

    @Test
    @Order(2)
    void findsAllWell(RedisNodes same) {
      assertThat(same).isSameAs(nodes);
      assertThat(nodes.get(1).command("CONFIG", "GET", "dir")).isEqualTo(directory);
      assertThat(nodes.stream().map(RedisNode::state)).containsOnly(ServerState.RUNNING);
      assertThat(nodes.stream().flatMap(node -> node.keys().stream())).isEmpty();
      assertThat(nodes.get(1).gate().describe()).startsWith("open");
    }

    @Nested
    class Inner {
      @Test
      void sharesTheNodes(RedisNodes same) {
        assertThat(same).isSameAs(nodes);
      }
    }
  }

  @Test
  void nodes_leftWithFaults_areRestoredAndEmptiedForTheNextTest() {
    assertThat(run(Faults.class).results)
        .containsEntry("leavesFaultsAndData()", "SUCCESSFUL")
        .containsEntry("findsAllWell(RedisNodes)", "SUCCESSFUL")
        .containsEntry("sharesTheNodes(RedisNodes)", "SUCCESSFUL");
  }

  @RedisTest(nodes = 2)
  static class Failing {
    @Test
    void fails(RedisNodes nodes) {
      nodes.get(1).kill();
      fail("on purpose");
    }
  }

  @Test
  void test_fails_printsEachNodesStateAtThatMoment() {
    Run run = run(Failing.class);
    assertThat(run.results.get("fails(RedisNodes)")).startsWith("FAILED").contains("on purpose");
    assertThat(run.errors)
        .containsPattern("Failing\\.fails.* failed \\(.*on purpose")
        .containsPattern("node 0 127\\.0\\.0\\.1:\\d+ running")
        .containsPattern("node 1 127\\.0\\.0\\.1:\\d+ dead");
  }

  @RedisTest(nodes = 1)
  static class FailingBefore {
    @BeforeEach
    void before() {
      fail("before");
    }

    @Test
    void neverRuns() {}
  }

  @Test
  void lifecycleMethod_fails_printsEachNodesState() {
    assertThat(run(FailingBefore.class).errors).containsPattern("node 0 .* running");
  }

  @RedisTest(nodes = 2)
  static class Untidy {
    @Test
    void eternalKey(RedisNodes nodes) {
      nodes.get(1).command("SET", "redlock:{a}:fence", "1:0:0");
    }

    @Test
    void leftLock(RedisNodes nodes) {
      nodes.get(0).command("SET", "redlock:{a}", "x", "PX", "60000");
    }

    @Test
    void lockThatGoesSoon(RedisNodes nodes) {
      nodes.get(0).command("SET", "redlock:{a}", "x", "PX", "200");
    }

    @Test
    void markerFenceAndForeignKeys(RedisNodes nodes) {
      nodes.get(0).command("SET", "redlock:%node", "x");
      nodes.get(0).command("SET", "shop:stock", "5");
      nodes.get(0).command("SET", "redlock:{a}:fence", "1:0:0", "PX", "60000");
    }
  }

  @Test
  void keys_leftAfterTest_failItWhenTheyAreLocksOrEternal() {
    Map<String, String> results = run(Untidy.class).results;
    assertThat(results.get("eternalKey(RedisNodes)"))
        .contains("Keys without a time to live", "node 1", "redlock:{a}:fence");
    assertThat(results.get("leftLock(RedisNodes)"))
        .contains("Lock keys remain after the test", "node 0", "redlock:{a}");
    assertThat(results)
        .containsEntry("lockThatGoesSoon(RedisNodes)", "SUCCESSFUL")
        .containsEntry("markerFenceAndForeignKeys(RedisNodes)", "SUCCESSFUL");
  }

  @RedisTest(nodes = 1, locksMayRemain = true)
  static class Tolerant {
    @Test
    void leftLock(RedisNodes nodes) {
      nodes.get(0).command("SET", "redlock:{a}", "x", "PX", "60000");
    }

    @Test
    void eternalLock(RedisNodes nodes) {
      nodes.get(0).command("SET", "redlock:{a}", "x");
    }
  }

  @Test
  void locksMayRemain_leftLock_onlyNeedsATimeToLive() {
    Map<String, String> results = run(Tolerant.class).results;
    assertThat(results).containsEntry("leftLock(RedisNodes)", "SUCCESSFUL");
    assertThat(results.get("eternalLock(RedisNodes)")).contains("without a time to live");
  }

  @RedisTest(nodes = 1, source = RedisSource.URI)
  static class Elsewhere {
    @Test
    void runsOnGivenServers(RedisNodes nodes) {
      nodes.get(0).command("SET", "k", "v");
    }
  }

  @Test
  void source_notToBeHad_skipsTheClassAndTellsWhy() {
    Run run = run(Elsewhere.class);
    assertThat(run.results.get("RedisNodesExtensionTest$Elsewhere"))
        .startsWith("ABORTED")
        .contains("-Dredlock.redis.uris");
    assertThat(run.output).contains("Elsewhere is skipped").contains("-Dredlock.redis.uris");
  }

  private record Run(Map<String, String> results, String output, String errors) {}

  /** Runs a class with a separate launcher. Returns the results by display name. */
  private static Run run(Class<?> fixture) {
    Map<String, String> results = new TreeMap<>();
    TestExecutionListener listener =
        new TestExecutionListener() {
          @Override
          public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            String why = result.getThrowable().map(failure -> ": " + failure).orElse("");
            results.put(test.getDisplayName(), result.getStatus() + why);
          }
        };
    LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(DiscoverySelectors.selectClass(fixture))
            .build();
    PrintStream output = System.out;
    PrintStream errors = System.err;
    ByteArrayOutputStream seenOutput = new ByteArrayOutputStream();
    ByteArrayOutputStream seenErrors = new ByteArrayOutputStream();
    System.setOut(new PrintStream(seenOutput, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(seenErrors, true, StandardCharsets.UTF_8));
    try {
      LauncherFactory.create().execute(request, listener);
    } finally {
      System.setOut(output);
      System.setErr(errors);
    }
    return new Run(
        results,
        seenOutput.toString(StandardCharsets.UTF_8),
        seenErrors.toString(StandardCharsets.UTF_8));
  }
}
