package dev.redlock.proof;

import static com.microsoft.z3.Status.SATISFIABLE;
import static com.microsoft.z3.Status.UNSATISFIABLE;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The proof of exclusion measures everything in one time. Here clocks have rates: a clock of rate r
 * shows r · t after the time t, and no clock of a node or client is faster than another by more
 * than the factor 1 + rho. A node's clock may also jump forward by delta in all. From what the
 * clocks show, each assumption of the proof follows.
 *
 * <p>V, A: validity and age of votes, on the clock of a client with the rate c. K: the life of a
 * key, on the clock of a node with the rate r. G, Y: guard time and age of a young node, on the
 * clock of another client with the rate d, or G on the node's own clock.
 */
class ClocksTest {
  private static final String CLOCKS =
      """
      (declare-const c Real)(declare-const d Real)(declare-const r Real)
      (declare-const rho Real)(declare-const delta Real)
      (declare-const V Real)(declare-const K Real)(declare-const G Real)
      (declare-const A Real)(declare-const Y Real)
      (assert (and (> c 0) (> d 0) (> r 0) (>= rho 0) (>= delta 0) (> V 0) (> A 0)))
      (assert (and (<= r (* (+ 1 rho) c)) (<= d (* (+ 1 rho) c))))
      """;

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          a key lives as long as the lease is valid, (<= (* V (+ 1 rho)) (- K delta)), (>= (/ (- K delta) r) (/ V c))
          guard time covers each lease,              (<= (* V (+ 1 rho)) G),           (>= (/ G d) (/ V c))
          guard time by uptime covers each lease,    (<= (* V (+ 1 rho)) (- G delta)), (>= (/ (- G delta) r) (/ V c))
          a young node waits until no vote counts,   (< (* A (+ 1 rho)) Y),            (> (/ Y d) (/ A c))
          """)
  void assumption_ofWhatClocksShow_holds(String says, String given, String follows) {
    String claim = CLOCKS + "(assert (not " + follows + "))";
    assertThat(Solver.check(claim + "(assert " + given + ")")).isEqualTo(UNSATISFIABLE);
    assertThat(Solver.check(claim)).as("without it").isEqualTo(SATISFIABLE);
  }

  /** The default drift is 1 % of the lease time and 2 ms; times are in ms. */
  @ParameterizedTest
  @CsvSource({"0.01, 2, true", "0.01, 3, false", "0.02, 0, false"})
  void defaultDrift_allowsForRatesAndJumps(String rho, String delta, boolean allows) {
    String lease =
        "(declare-const K Real)(assert (and (>= K 10) (<= K 3600000)))"
            + "(assert (not (<= (* (- (* 0.99 K) 2) (+ 1 %s)) (- K %s))))";
    assertThat(Solver.check(lease.formatted(rho, delta)))
        .isEqualTo(allows ? UNSATISFIABLE : SATISFIABLE);
  }
}
