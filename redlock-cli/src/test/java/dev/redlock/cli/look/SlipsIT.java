package dev.redlock.cli.look;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.cli.ExitCode;
import dev.redlock.cli.run.Wrapper;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Slips of people who change a set, or have not heard of a change (issue 52). */
@Timeout(60)
class SlipsIT {
  private Masters masters;

  @BeforeEach
  void start() {
    masters = new Masters(6);
  }

  @AfterEach
  void close() {
    masters.close();
  }

  /** The name means another server on the machine of each client. */
  @ParameterizedTest
  @ValueSource(strings = {"localhost", "127.0.0.1"})
  void loopbackNameBesideOtherNames_isNotAdded(String loopback) {
    masters.found(0, 1, 2);
    // Elsewhere the members have these names; here they are found by their recorded names.
    masters.rename(
        name -> "redis-" + name.substring(name.indexOf(':') + 1) + ".invalid:6379", 0, 1, 2);
    List<Map<String, String>> before = masters.records(0, 1, 2);

    String added = loopback + ":" + masters.get(3).port();
    Captured seen = masters.redlock(masters.uris(0, 1, 2), "nodes", "add", added);
    assertThat(seen.code()).as(seen.toString()).isEqualTo(ExitCode.NO);
    assertThat(seen.err()).contains(added);
    assertThat(masters.records(0, 1, 2)).isEqualTo(before);
    assertThat(masters.record(3)).doesNotContainKey("members");
  }

  @Test
  @Tag("thorough")
  @Timeout(200)
  void twoOfFiveGoneForGood_theRefusalSaysTheWayOut_andThatReplacesThem(@TempDir Path folder)
      throws Exception {
    masters.found(0, 1, 2, 3, 4);
    masters.get(3).kill();
    masters.get(4).kill();
    List<String> list = masters.uris(0, 1, 2, 3, 4);
    List<String> words =
        new ArrayList<>(List.of("nodes", "replace", masters.name(4), masters.name(5)));
    Captured seen = change(list, words);
    assertThat(seen.code()).as(seen.toString()).isEqualTo(ExitCode.NO);
    assertThat(seen.err()).contains(masters.name(3), masters.name(4), "--gone");

    words.addAll(List.of("--gone", masters.name(3)));
    for (List<String> way : List.of(words, List.of("nodes", "remove", masters.name(3)))) {
      seen = change(list, way);
      assertThat(seen.code()).as(seen.toString()).isEqualTo(ExitCode.OK);
    }
    assertThat(seen.out()).contains(masters.name(5)).doesNotContain(masters.name(3));
    masters.get(0).kill(); // Of the five, two are left: no quorum of the set before.
    runs(folder, masters.uris(1, 2, 5), "-w", "20s");
  }

  /** On a busy machine the lock of the operator may end first: then the same call continues. */
  private Captured change(List<String> list, List<String> words) {
    Captured seen;
    do {
      seen = masters.redlock(list, words.toArray(new String[0]));
    } while (seen.code() == ExitCode.HELD);
    return seen;
  }

  @Test
  @Tag("thorough")
  void masterThatEvictsKeys_isRefused() {
    masters.found(0, 1, 2);
    List<Map<String, String>> before = masters.records(0, 1, 2);
    masters.get(3).command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    Captured seen = change(masters.uris(0, 1, 2), List.of("nodes", "add", masters.name(3)));
    assertThat(seen.code()).as(seen.toString()).isEqualTo(ExitCode.NO);
    assertThat(seen.err()).contains(masters.name(3), "allkeys-lru");
    assertThat(masters.records(0, 1, 2)).isEqualTo(before);
    assertThat(masters.record(3)).doesNotContainKey("members");
  }

  @Test
  void inspectAsJson_withoutTheQueue_hasNullForIt() {
    masters.found(0, 1, 2);
    assertThat(masters.redlock(masters.uris(0, 1, 2), "inspect", "x", "--json").out())
        .contains("\"waiting\":null");
  }

  /** Of a master that may be in the list by mistake, nothing says that a lock is free. */
  @ParameterizedTest
  @ValueSource(strings = {"inspect", "list", "watch"})
  void look_withAListThatShowsNoDeployment_doesNotSayFree(String look) {
    masters.found(0, 1, 2);
    masters.found(4, 5);
    List<String> words = new ArrayList<>(List.of(look, "x"));
    if (look.equals("watch")) {
      words.addAll(List.of("--until", "UNKNOWN"));
    }
    Captured seen = masters.redlock(masters.uris(0, 3, 4), words.toArray(new String[0]));
    assertThat(seen.code())
        .as(seen.toString())
        .isEqualTo(look.equals("watch") ? ExitCode.OK : ExitCode.TOO_FEW_NODES);
    assertThat(seen.out()).doesNotContain("free", "no lock is held");
  }

  /** The lock is free. */
  private static void runs(Path folder, List<String> list, String... wait) throws Exception {
    List<String> words = new ArrayList<>(List.of("run", "--restart-guard", "OFF"));
    words.addAll(List.of("--connect", "60s", "--max-lease-time", "2s", "--lease", "2s"));
    words.addAll(List.of(wait));
    words.addAll(List.of("x", "--", "true"));
    try (Wrapper run =
        Wrapper.start(folder, Map.of("REDLOCK_NODES", String.join(",", list)), words)) {
      assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.OK);
    }
  }
}
