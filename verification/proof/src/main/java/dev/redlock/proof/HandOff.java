package dev.redlock.proof;

/**
 * Local hand-off: up to 64 leases have one grant, one after another, each with its own token.
 * Tokens rise from each lease to the next. This needs both other proofs: a hand-off happens while
 * the grant is valid, so no other grant can have come in between.
 */
final class HandOff {
  private HandOff() {}

  static Model model() {
    Model m = new Model("Rising");
    Attempts.addTo(m);
    Exclusion.addTo(m);
    Tokens.addTo(m);
    m.assume("all exclude each other", "a b", "(=> (not (= a b)) (clash a b))");

    // The last lease of a grant has the grant's token and this much more.
    m.state("handed", "a", "Real");
    m.state("newest", "", "Acq").state("any", "", "Bool").state("fell", "", "Bool");
    m.begins("", "(and (not any) (not fell))");
    m.begins("a", "(= (handed a) 0.0)");
    m.begins("a b", "(=> (< (tok a) (tok b)) (>= (tok b) (+ (tok a) 64.0)))");
    m.action("ask", "a proposed")
        .guard(
            "the token is a multiple of 64",
            "(forall ((b Acq)) (or (= proposed (tok b)) (>= proposed (+ (tok b) 64.0))"
                + " (<= proposed (- (tok b) 64.0))))");
    m.action("win", "a q")
        .guard("validity is left", "(< now (+ (begun a) (V a)))")
        .set("any", "", "true")
        .set("newest", "", "a")
        .set("fell", "", "(or fell (and any (<= (tok a) (+ (tok newest) (handed newest)))))");
    m.action("hand off", "a")
        .guard("the lease is valid", "(valid a)")
        .guard("a token is left", "(< (+ (handed a) 1.0) 64.0)")
        .set("handed", "b", "(ite (= b a) (+ (handed b) 1.0) (handed b))")
        .set("newest", "", "a")
        .set(
            "fell",
            "",
            "(or fell (<= (+ (tok a) (handed a) 1.0) (+ (tok newest) (handed newest))))");

    m.clause("Rising", "", "(not fell)");
    m.clause("Newest", "a", "(and (=> any (lease newest)) (=> (valid a) (= newest a)))");
    m.clause("Handed", "a", "(and (<= 0.0 (handed a)) (< (handed a) 64.0))");
    m.clause("Spaced", "a b", "(=> (< (tok a) (tok b)) (>= (tok b) (+ (tok a) 64.0)))");
    m.clause(
        "TokVote", "a b n", "(=> (and (vote a n) (granted b n) (< (tok a) (tok b))) (late a))");
    return m;
  }
}
