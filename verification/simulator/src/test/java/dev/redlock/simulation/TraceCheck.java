package dev.redlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Asks TLC whether recorded histories are behaviours of the models, and shows that TLC refuses
 * wrong histories. As {@code TlaCheck}, it runs in the profile {@code -Ptla} only.
 *
 * <p>{@code -Dredlock.traces=FILE} adds the traces of a file; {@code bin/traces} does so with those
 * of {@code bin/failures}. {@code -Dredlock.traceSeeds=N} sets the number of seeds of each setting.
 */
class TraceCheck {
  private static final Path SAMPLES = Path.of("src/test/traces");
  private static final int SEEDS = Integer.getInteger("redlock.traceSeeds", 20);

  /** A history of one name: local hand-off, releases, extension. */
  private static final List<String> WORLD =
      List.of(
          "trace HandOff world nodes=3 quorum=2 validity=1000 keyLife=1010 voteAge=100",
          "0 ask g=1 n=0 t=64 x=0 y=0",
          "1 grants g=1 n=1 t=64 x=0 y=0",
          "1 grants g=1 n=2 t=64 x=0 y=0",
          "2 win g=1 n=0 t=64 x=0 y=0",
          "10 local g=1 n=0 t=65 x=0 y=0",
          "20 end g=1 n=0 t=0 x=0 y=0",
          "21 frees g=1 n=1 t=0 x=1 y=0",
          "21 frees g=1 n=2 t=0 x=1 y=0",
          "30 ask g=2 n=0 t=128 x=0 y=0",
          "31 grants g=2 n=1 t=128 x=0 y=0",
          "31 grants g=2 n=2 t=128 x=0 y=0",
          "32 win g=2 n=0 t=128 x=0 y=0",
          "33 end g=2 n=0 t=0 x=0 y=0",
          "34 frees g=2 n=1 t=0 x=1 y=0",
          "34 frees g=2 n=2 t=0 x=1 y=0",
          "40 ask g=3 n=0 t=192 x=0 y=0",
          "41 grants g=3 n=1 t=192 x=0 y=0",
          "41 grants g=3 n=2 t=192 x=0 y=0",
          "42 win g=3 n=0 t=192 x=0 y=0",
          "50 extend g=3 n=0 t=0 x=0 y=0",
          "51 prolongs g=3 n=1 t=0 x=0 y=0",
          "51 prolongs g=3 n=2 t=0 x=0 y=0",
          "52 renew g=3 n=0 t=0 x=2 y=0",
          "60 end g=3 n=0 t=0 x=0 y=0");

  /** Two leases of one name, as their clients see them. */
  private static final List<String> NAME =
      List.of(
          "trace Register name",
          "0 ask l=1",
          "1 ask l=2",
          "10 got l=1 t=64",
          "20 valid l=1",
          "30 got l=2 t=128",
          "40 valid l=2");

  @TempDir Path work;

  private TraceRun check(List<String> lines) throws Exception {
    return new TraceRun(work).check(TraceFile.parse(lines));
  }

  @ParameterizedTest
  @EnumSource(
      value = Scenario.Setting.class,
      names = {"NORMAL", "SHELL_NORMAL"})
  void worlds_withinTheAssumptions_areBehavioursOfHandOff(Scenario.Setting setting)
      throws Exception {
    List<String> lines = new ArrayList<>();
    for (long seed = 1; seed <= SEEDS; seed++) {
      lines.addAll(Trace.of(seed, setting));
    }
    TraceRun run = check(lines);
    System.out.println(run.summary(setting.toString()));
    assertThat(run.refused).isEmpty();
    assertThat(run.traces).isGreaterThan(SEEDS / 4);
  }

  @Test
  void worldWithoutRestartGuard_inWhichTwoOwnersAreFound_isRefused() throws Exception {
    long seed = 1;
    List<String> lines = List.of();
    while (lines.isEmpty()) {
      seed++;
      Simulator.Result result = Simulator.run(seed, Scenario.Setting.GUARD_OFF, false);
      if ("exclusion".equals(result.rule())) {
        lines = Trace.of(seed, Scenario.Setting.GUARD_OFF);
      }
    }
    TraceRun run = check(lines);
    System.out.println(run.summary("GUARD_OFF, seed " + seed));
    assertThat(run.refused).singleElement().asString().contains("violates TraceExclusion");
  }

  @Test
  void namesOfARunOfFailures_areBehavioursOfRegister() throws Exception {
    String file = System.getProperty("redlock.traces");
    Path traces = file == null ? SAMPLES.resolve("failures.txt") : Path.of(file);
    TraceRun run = check(Files.readAllLines(traces));
    System.out.println(run.summary(traces.toString()));
    assertThat(run.refused).isEmpty();
    assertThat(run.events).isPositive();
  }

  @Test
  void namesOfARunWithoutRestartGuard_areRefused() throws Exception {
    TraceRun run = check(Files.readAllLines(SAMPLES.resolve("failures-guard-off.txt")));
    System.out.println(run.summary("failures-guard-off.txt"));
    assertThat(run.refused).singleElement().asString().contains("trace still of Register");
  }

  @Test
  void handWrittenTraces_areBehaviours() throws Exception {
    List<String> both = new ArrayList<>(WORLD);
    both.addAll(NAME);
    assertThat(check(both).refused).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    // event, what it becomes, the event that is not possible
    "4, 2 win g=1 n=0 t=128 x=0 y=0, 4", // it won with another token
    "3, 1 grants g=1 n=1 t=64 x=0 y=0, 4", // a node grants twice, and that is one vote
    "3, 1 undone g=1 n=0 t=0 x=0 y=0, 4", // no quorum
    "5, 10 local g=1 n=0 t=66 x=0 y=0, 5", // a token is left out
    "6, 1002 local g=1 n=0 t=66 x=0 y=0, 6", // handed off after its validity
    "7, 21 local g=1 n=0 t=66 x=0 y=0, 7", // handed off after its end
    "7, 21 extend g=1 n=0 t=0 x=0 y=0, 7", // extended after its end
    "7, 21 frees g=1 n=1 t=0 x=0 y=0, 7", // a lease is rolled back
    "8, 21 frees g=1 n=1 t=0 x=1 y=0, 11", // granted beside a key of another lease
    "10, 31 grants g=2 n=1 t=64 x=0 y=0, 10", // the token goes back
    "13, 34 frees g=2 n=1 t=0 x=1 y=0, 13", // released before its end
    "22, 51 extend g=3 n=0 t=0 x=0 y=0, 23" // extended without a quorum
  })
  void world_withOneWrongEvent_isRefusedAtThatEvent(int index, String event, int refused)
      throws Exception {
    List<String> lines = new ArrayList<>(WORLD);
    lines.set(index, event);
    assertThat(check(lines).refused)
        .singleElement()
        .asString()
        .contains("event " + refused + " of 24 is not possible");
  }

  @Test
  void world_withASecondOwnerOnTheOtherNodes_violatesExclusion() throws Exception {
    List<String> lines =
        IntStream.range(0, WORLD.size())
            .filter(i -> i < 5 || i == 9)
            .mapToObj(WORLD::get)
            .collect(Collectors.toCollection(ArrayList::new));
    lines.add("31 grants g=2 n=3 t=128 x=0 y=0");
    lines.add("31 fails g=0 n=2 t=0 x=0 y=0"); // It restarts without its keys, and votes at once.
    lines.add("32 grants g=2 n=2 t=128 x=0 y=0");
    lines.add("33 win g=2 n=0 t=128 x=0 y=0");
    assertThat(check(lines).refused)
        .singleElement()
        .asString()
        .contains("event 9 of 9 violates TraceExclusion");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "30 got l=2 t=32", // the token goes back
        "30 got l=2 t=64", // two leases with one token
        "15 got l=2 t=128" // granted during a valid lease
      })
  void name_whoseSecondGrantIsWrong_isRefused(String got) throws Exception {
    List<String> lines = new ArrayList<>(NAME);
    lines.set(5, got);
    long at = Long.parseLong(got.split(" ", -1)[0]);
    if (at < 20) {
      lines.set(5, NAME.get(4));
      lines.set(4, got);
    }
    assertThat(check(lines).refused)
        .singleElement()
        .asString()
        .contains("trace name of Register", "is not possible");
  }

  @Test
  void name_whoseFirstLeaseIsExtendedAfterItsEnd_isRefusedThere() throws Exception {
    List<String> lines = new ArrayList<>(NAME);
    lines.add("50 valid l=1");
    assertThat(check(lines).refused)
        .singleElement()
        .asString()
        .contains(String.format(Locale.ROOT, "event %d of %d", 7, 7), "50 valid l=1");
  }
}
