package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.it.failures.SetFailures.Control;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Short runs of {@code bin/failures --nemesis replace}, and of its controls. */
@Tag("thorough")
class ReplaceRunIT {
  private static final int CONTROL_RUNS = 5;
  private static final Path OUT = Path.of("target", "failures").toAbsolutePath();
  private static final Duration LEASE = Duration.ofSeconds(2);

  private static List<Event> run(Control control, int seconds) throws Exception {
    long seed = new Random().nextInt(1_000_000);
    Settings settings = new Settings(LEASE, true, false);
    Path out = OUT.resolve("replace-" + control);
    return SetFailures.run(
        new SetFailures.Plan(settings, 3, Duration.ofSeconds(seconds), control, seed, out, true));
  }

  @Test
  void membersAreReplaced_whileMastersAndOperatorsDie_noCheckerFindsAnything() throws Exception {
    List<Event> history = run(Control.NONE, 40);
    Verdict verdict = Verdict.of(history, LEASE, true);
    SetReport report = SetReport.of(history);
    System.out.println(verdict.line() + "\n" + report.line());
    assertThat(verdict.found()).isEmpty();
    assertThat(report.stuck()).isEmpty();
    assertThat(report.changes()).as(report.line()).isPositive();
    assertThat(history.stream().filter(e -> e.is("acquired")).count()).isGreaterThan(200);
  }

  /**
   * Whether a client meets the broken change at the right moment is a matter of luck in one run.
   */
  @Test
  void twoMembersAtOnce_overlapsAreFoundWithinAFewRuns() throws Exception {
    int found = 0;
    for (int run = 0; run < CONTROL_RUNS && found == 0; run++) {
      List<Event> history = run(Control.TWO_AT_ONCE, 25);
      System.out.println(Verdict.of(history, LEASE, true).line());
      found = Checks.overlaps(ClaimedHold.of(history)).size();
    }
    assertThat(found).isPositive();
  }

  /** Two of three workers start with a master of the other deployment in their lists. */
  @Test
  void identitiesIgnored_overlapsAreFound() throws Exception {
    List<Event> history = run(Control.IDENTITIES_IGNORED, 15);
    System.out.println(Verdict.of(history, LEASE, true).line());
    assertThat(Checks.overlaps(ClaimedHold.of(history))).isNotEmpty();
  }
}
