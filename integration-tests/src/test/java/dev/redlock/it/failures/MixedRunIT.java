package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A short run of {@code bin/failures} with all faults, and one control run beyond the assumptions.
 */
@Tag("thorough")
class MixedRunIT {
  private static final Path OUT = Path.of("target", "failures").toAbsolutePath();

  private static List<Event> run(boolean guard, int workers, int seconds, Path out)
      throws InterruptedException {
    long seed = new Random().nextInt(1_000_000);
    Settings settings = new Settings(Duration.ofSeconds(guard ? 3 : 10), guard, false);
    return new Harness(
            new Harness.Plan(
                settings,
                workers,
                Duration.ofSeconds(seconds),
                List.of(Nemesis.values()),
                seed,
                out,
                true))
        .run();
  }

  private static Verdict judge(List<Event> history, Path out) throws Exception {
    Verdict verdict = Verdict.of(history, Duration.ofSeconds(3), true);
    Files.writeString(
        out.resolve("timeline.html"), HistoryPicture.of(history, verdict, "Mixed run"));
    System.out.println(verdict.line());
    return verdict;
  }

  @Test
  void allNemeses_withinTheAssumptions_noCheckerFindsAnything() throws Exception {
    Path out = OUT.resolve("mixed");
    List<Event> history = run(true, 3, 60, out);
    Verdict verdict = judge(history, out);
    assertThat(verdict.found()).as("see " + out.resolve("history.txt")).isEmpty();
    List<String> struck =
        history.stream().filter(e -> e.is("fault")).map(e -> e.text("code")).sorted().toList();
    System.out.println("faults: " + struck);
    assertThat(struck).hasSizeGreaterThan(2);
    assertThat(Set.copyOf(struck)).as("nemeses").hasSizeGreaterThan(1);
    // An idle machine makes a few thousand; this bound detects a run with almost no grants.
    assertThat(history.stream().filter(e -> e.is("acquired")).count()).isGreaterThan(200);
    assertThat(out.resolve("timeline.html")).isNotEmptyFile();
  }

  /** If a checker finds nothing in this run, the test fails. */
  @Test
  void guardOff_aMajorityForgetsWithinALeaseTime_overlapsAreFound() throws Exception {
    Path out = OUT.resolve("guard-off");
    List<Event> history = run(false, 3, 12, out);
    Verdict verdict = judge(history, out);
    assertThat(Checks.overlaps(ClaimedHold.of(history))).as(verdict.line()).isNotEmpty();
    assertThat(verdict.passed()).isFalse();
  }
}
