package dev.redlock.proof;

/**
 * Fencing tokens: they are distinct, and rise from each lease to those that are asked for later.
 * The proof uses no key, no validity and no clock of a client, only the clocks of nodes. These may
 * run at any rate and jump forward, and fall back by {@code D} in all.
 */
final class Tokens {
  private Tokens() {}

  static Model model() {
    Model m = new Model("TokensOrdered", "TokensDistinct");
    Attempts.addTo(m);
    addTo(m);
    return m;
  }

  static void addTo(Model m) {
    m.constant("S", "", "Real"); // how far behind the node's clock a token may be
    m.constant("H", "", "Real"); // how far ahead of it
    m.constant("D", "", "Real"); // by how much the clock of a node falls back, in all
    m.constant("Q", "", "Real"); // the quarantine, by the node's clock
    m.constant("F", "", "Real"); // the life of a fence, at least
    m.assume("quarantine outlasts the window", "", "(> Q (+ S H D))");
    m.assume("a fence outlives the window", "", "(> F (+ S H D))");
    state(m);
    clients(m);
    nodes(m);
    clauses(m);
  }

  private static void state(Model m) {
    m.state("clock", "n", "Real").state("back", "n", "Real").state("booted", "n", "Real");
    m.state("fenced", "n", "Bool").state("fence", "n", "Real").state("fades", "n", "Real");
    m.state("tok", "a", "Real").state("granted", "a n", "Bool").state("won", "a", "Quorum");
    m.state("before", "a b", "Bool");
    m.define("lease", "a", "(or (= (stage a) held) (= (stage a) ended))");
    m.begins("n", "(and (not (fenced n)) (>= (back n) 0.0) (<= (back n) D))");
    m.begins("a n", "(not (granted a n))");
    m.begins("a b", "(not (before a b))");
  }

  private static void clients(Model m) {
    m.action("time passes", "")
        .chooses("next", "n", "Real")
        .guard("a clock falls back only by a step", "(forall ((n Node)) (>= (next n) (clock n)))")
        .set("clock", "m", "(next m)")
        .set("fenced", "m", "(and (fenced m) (> (fades m) (next m)))");
    m.action("step back", "n by")
        .guard("it is a step back", "(>= by 0.0)")
        .guard("all steps are small together", "(<= (+ (back n) by) D)")
        .set("clock", "m", "(ite (= m n) (- (clock m) by) (clock m))")
        .set("back", "m", "(ite (= m n) (+ (back m) by) (back m))");
    m.action("ask", "a proposed")
        .set("tok", "b", "(ite (= b a) proposed (tok b))")
        .set("before", "b c", "(or (before b c) (and (= c a) (lease b)))");
    m.action("send", "a n")
        .guard("it has begun", "(not (= (stage a) idle))")
        .guard("quarantine is over", "(>= (+ (clock n) (back n)) (+ (booted n) Q))");
    m.action("win", "a q")
        .guard("its round is open", "(= (stage a) asking)")
        .guard("a quorum granted", "(forall ((n Node)) (=> (in n q) (granted a n)))")
        .set("won", "b", "(ite (= b a) q (won b))");
  }

  private static void nodes(Model m) {
    m.action("grant", "a n keep")
        .guard("the token is above the fence", "(=> (fenced n) (> (tok a) (fence n)))")
        .guard("not below the window", "(>= (tok a) (- (clock n) S))")
        .guard("not above the window", "(<= (tok a) (+ (clock n) H))")
        .guard("the fence lives long enough", "(>= keep F)")
        .set("granted", "b m", "(or (granted b m) (and (= b a) (= m n)))")
        .set("fenced", "m", "(or (fenced m) (= m n))")
        .set("fence", "m", "(ite (= m n) (tok a) (fence m))")
        .set("fades", "m", "(ite (= m n) (+ (clock n) keep) (fades m))");
    // An extension, a release or a break.
    m.action("raise", "n to keep")
        .guard("not above the window", "(<= to (+ (clock n) H))")
        .guard("the fence lives long enough", "(>= keep F)")
        .set("fenced", "m", "(or (fenced m) (= m n))")
        .set(
            "fence", "m", "(ite (and (= m n) (or (not (fenced n)) (> to (fence n)))) to (fence m))")
        .set("fades", "m", "(ite (= m n) (+ (clock n) keep) (fades m))");
    m.action("restart", "n")
        .set("fenced", "m", "(and (fenced m) (not (= m n)))")
        .set("booted", "m", "(ite (= m n) (+ (clock n) (back n)) (booted m))");
  }

  private static void clauses(Model m) {
    m.clause("TokensOrdered", "a b", "(=> (and (before a b) (lease b)) (< (tok a) (tok b)))");
    m.clause("TokensDistinct", "a b", "(=> (and (lease a) (lease b) (= (tok a) (tok b))) (= a b))");
    m.clause("Back", "n", "(and (<= 0.0 (back n)) (<= (back n) D))");
    m.clause("Idle", "a n", "(=> (= (stage a) idle) (not (or (asked a n) (granted a n))))");
    m.clause("Won", "a n", "(=> (and (lease a) (in n (won a))) (granted a n))");
    m.clause("Before", "a b", "(=> (before a b) (and (lease a) (not (= (stage b) idle))))");
    m.clause("AskedAwake", "a n", "(=> (asked a n) (>= (+ (clock n) (back n)) (+ (booted n) Q)))");
    m.clause("Granted", "a n", "(=> (granted a n) (<= (tok a) (+ (clock n) (back n) H)))");
    m.clause(
        "Fresh",
        "a n",
        "(=> (granted a n) (or (and (fenced n) (>= (fence n) (tok a)))"
            + " (> (- (+ (booted n) Q) S D) (tok a))"
            + " (> (- (+ (clock n) (back n)) S D) (tok a))))");
    m.clause(
        "Fence",
        "n",
        "(=> (fenced n) (and (<= (+ (fence n) F) (+ (fades n) (back n) H))"
            + " (<= (fence n) (+ (clock n) (back n) H))))");
    m.clause("Pair", "a b n", "(=> (and (granted a n) (granted b n) (= (tok a) (tok b))) (= a b))");
    m.clause(
        "Ordered",
        "a b n",
        "(=> (and (before a b) (in n (won a)) (granted b n)) (< (tok a) (tok b)))");
  }
}
