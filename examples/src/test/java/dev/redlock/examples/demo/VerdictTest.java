package dev.redlock.examples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class VerdictTest {
  private static final Audit GOOD = new Audit(5000, 0, true, true);
  private static final Duration GAP = Duration.ofMillis(3200);

  @Test
  void verdict_ofRunWithNothingWrong_passes() {
    Verdict verdict = Verdict.of(seen(true, GOOD, 1, 0, 0, 0, GAP));

    assertThat(verdict.exitCode()).isZero();
    assertThat(verdict.line())
        .isEqualTo(
            "demo: PASS sold=5000 oversold=0 waits p50=50.0ms p99=99.0ms max=100.0ms rejected=1"
                + " overlaps=0 longest-gap=3.2s seed=7");
  }

  @Test
  void verdict_ofOversoldCoupon_saysSoWhateverElseWasSeen() {
    Verdict verdict = Verdict.of(seen(true, new Audit(5000, 2, false, true), 1, 0, 0, 0, GAP));

    assertThat(verdict.exitCode()).isEqualTo(1);
    assertThat(verdict.line()).startsWith("demo: OVERSOLD sold=5000 oversold=2 ");
  }

  @Test
  void verdict_ofControlThatOversold_failsAsItShould() {
    Verdict verdict = Verdict.of(seen(false, new Audit(500, 400, false, false), 0, 0, 9, 0, GAP));

    assertThat(verdict.exitCode()).isEqualTo(1);
    assertThat(verdict.line()).isEqualTo("demo: OVERSOLD sold=500 oversold=400 seed=7");
  }

  @Test
  void verdict_ofControlThatDidNotOversell_isNoPass() {
    Verdict verdict = Verdict.of(seen(false, new Audit(500, 0, true, false), 0, 0, 0, 0, GAP));

    assertThat(verdict.exitCode()).isEqualTo(1);
    assertThat(verdict.line()).startsWith("demo: FAIL ");
  }

  @Test
  void verdict_ofAnyOtherFault_failsAndNamesIt() {
    assertFails(seen(true, new Audit(5000, 0, false, true), 1, 0, 0, 0, GAP), "stock");
    assertFails(seen(true, new Audit(5000, 0, true, false), 1, 0, 0, 0, GAP), "tokens");
    assertFails(seen(true, new Audit(9, 0, true, true), 1, 0, 0, 0, GAP), "only 9");
    assertFails(seen(true, GOOD, 0, 0, 0, 0, GAP), "not rejected");
    assertFails(seen(true, GOOD, 1, 3, 0, 0, GAP), "3 tokens of valid leases");
    assertFails(seen(true, GOOD, 1, 0, 2, 0, GAP), "2 times");
    assertFails(seen(true, GOOD, 1, 0, 0, 4, GAP), "4 sellers");
    assertFails(seen(true, GOOD, 1, 0, 0, 0, Duration.ofSeconds(8)), "no sale for 8.0s");
    Verdict.Seen broken = seen(true, GOOD, 1, 0, 0, 0, GAP, "worker 1 ended");
    assertFails(broken, "worker 1 ended");
  }

  private static void assertFails(Verdict.Seen seen, String why) {
    Verdict verdict = Verdict.of(seen);

    assertThat(verdict.exitCode()).isEqualTo(1);
    assertThat(verdict.line()).startsWith("demo: FAIL ");
    assertThat(verdict.complaints()).singleElement().asString().contains(why);
  }

  private static Verdict.Seen seen(
      boolean locked,
      Audit audit,
      int rejected,
      int violations,
      int overlaps,
      int refused,
      Duration gap,
      String... failures) {
    Plan plan = new Plan(locked, Duration.ofSeconds(30), 7, Path.of("timeline.html"));
    List<Long> waits = LongStream.rangeClosed(1, 100).mapToObj(ms -> ms * 1_000_000).toList();
    return new Verdict.Seen(
        plan, audit, waits, rejected, violations, overlaps, refused, gap, List.of(failures));
  }
}
