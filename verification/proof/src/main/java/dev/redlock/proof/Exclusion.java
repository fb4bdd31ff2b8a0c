package dev.redlock.proof;

/**
 * Votes, keys and validity, in dense time: two leases that clash are not valid at the same time.
 * docs/proof.md explains the assumptions and the main clauses. The state:
 *
 * <ul>
 *   <li>{@code now}: the time
 *   <li>{@code own(n, a)}, {@code dies(n, a)}: the node stores the key of a; when that key expires
 *   <li>{@code born(n)}: when the node last started without its keys
 *   <li>{@code stage(a)}: idle, asking, held, ended (it was held), or undone (it never was)
 *   <li>{@code begun(a)}: when its round or its open extension began
 *   <li>{@code until(a)}: when its validity ends
 *   <li>{@code asked(a, n)}: the node may still execute its request
 *   <li>{@code vote(a, n)}: it is asking, and has the vote of this node
 *   <li>{@code ext(a)}: an extension is open
 *   <li>{@code ren(a, n)}, {@code past(a, n)}: this node has replied to the extension; and has
 *       restarted since
 *   <li>{@code rborn(a, n)}: {@code born(n)} at the time of that reply
 *   <li>{@code prot(a, n)}: this node protects the lease: it voted or renewed, and has not lost the
 *       key early
 *   <li>{@code holds(a)}: a quorum of such nodes
 * </ul>
 */
final class Exclusion {
  private static final String THEOREM = "Exclusion";

  private Exclusion() {}

  static Model model() {
    Model m = new Model(THEOREM);
    Attempts.addTo(m);
    addTo(m);
    return m;
  }

  static void addTo(Model m) {
    constants(m);
    state(m);
    clients(m);
    nodes(m);
    clauses(m);
  }

  private static void constants(Model m) {
    m.constant("clash", "a b", "Bool"); // whether they exclude each other
    m.assume("a clash has two sides", "a b", "(= (clash a b) (clash b a))");
    m.assume("no acquisition excludes itself", "a", "(not (clash a a))");
    m.constant("V", "a", "Real"); // how long its lease is valid, from its first request on
    m.constant("A", "a", "Real"); // for how long its round counts votes
    m.constant("K", "a n", "Real"); // how long its key lives on the node, at least
    m.constant("G", "a n", "Real"); // for how long its client does not ask a node that restarted
    m.constant("Y", "a n", "Real"); // for how long its client does not count such a node's reply
    m.assume("a key lives as long as the lease is valid", "a n", "(>= (K a n) (V a))");
    m.assume("guard time covers each lease", "a b n", "(>= (G a n) (V b))");
    m.assume("a young node waits until no vote counts", "a b n", "(> (Y a n) (A b))");
  }

  private static void state(Model m) {
    m.state("now", "", "Real");
    m.state("own", "n a", "Bool").state("dies", "n a", "Real").state("born", "n", "Real");
    m.state("begun", "a", "Real").state("until", "a", "Real");
    m.state("vote", "a n", "Bool").state("ext", "a", "Bool");
    m.state("ren", "a n", "Bool").state("past", "a n", "Bool").state("rborn", "a n", "Real");
    m.state("holds", "a", "Quorum").state("prot", "a n", "Bool");
    m.define("valid", "a", "(and (= (stage a) held) (< now (until a)))");
    m.define("late", "a", "(or (> now (+ (begun a) (A a))) (>= now (+ (begun a) (V a))))");
    m.begins("a", "(and (not (ext a)) (<= (begun a) now))");
    m.begins("a n", "(and (not (own n a)) (not (vote a n)) (not (ren a n)) (not (past a n)))");
  }

  private static void clients(Model m) {
    m.action("time passes", "t")
        .guard("time does not run backwards", "(>= t now)")
        .set("now", "", "t")
        .set("own", "m b", "(and (own m b) (> (dies m b) t))");
    m.action("ask", "a").set("begun", "b", "(ite (= b a) now (begun b))");
    m.action("send", "a n").guard("the node is not quarantined", "(>= now (+ (born n) (G a n)))");
    m.action("win", "a q")
        .guard("a quorum voted", "(forall ((n Node)) (=> (in n q) (vote a n)))")
        .guard("its votes are young", "(<= now (+ (begun a) (A a)))")
        .set("until", "b", "(ite (= b a) (+ (begun a) (V a)) (until b))")
        .set("holds", "b", "(ite (= b a) q (holds b))")
        .set("prot", "b m", "(ite (= b a) (vote a m) (prot b m))")
        .set("vote", "b m", "(and (vote b m) (not (= b a)))");
    m.action("give up", "a").set("vote", "b m", "(and (vote b m) (not (= b a)))");
    over(m.action("end", "a"));
    m.action("extend", "a")
        .guard("it is held", "(= (stage a) held)")
        .guard("no extension is open", "(not (ext a))")
        .set("ext", "b", "(or (= b a) (ext b))")
        .set("begun", "b", "(ite (= b a) now (begun b))");
    String counts =
        "(and (or (ren a %1$s) (past a %1$s))"
            + " (or (>= now (+ (rborn a %1$s) (G a %1$s))) (>= now (+ (rborn a %1$s) (Y a %1$s)))))";
    over(
        m.action("renew", "a q")
            .guard(
                "a quorum replied", "(forall ((n Node)) (=> (in n q) (or (ren a n) (past a n))))")
            .guard(
                "no reply of a young node",
                "(forall ((n Node)) (=> (in n q) (or (>= now (+ (rborn a n) (G a n)))"
                    + " (>= now (+ (rborn a n) (Y a n))))))")
            .guard("validity is left", "(< now (until a))")
            .set("until", "b", "(ite (= b a) (+ (begun a) (V a)) (until b))")
            .set("holds", "b", "(ite (= b a) q (holds b))")
            .set("prot", "b m", "(ite (= b a) " + counts.formatted("m") + " (prot b m))"));
    over(m.action("extension fails", "a"));
  }

  /** No extension is open any more. */
  private static void over(Model.Action action) {
    action
        .set("ext", "b", "(and (ext b) (not (= b a)))")
        .set("ren", "b m", "(and (ren b m) (not (= b a)))")
        .set("past", "b m", "(and (past b m) (not (= b a)))");
  }

  private static void nodes(Model m) {
    String free = "(forall ((b Acq)) (=> (own n b) (not (clash a b))))";
    String own = "(or (own m b) (and (= b a) (= m n)))";
    String dies = "(ite (and (= b a) (= m n)) (+ now life) (dies m b))";
    m.action("grant", "a n life")
        .guard("no other key is there", free)
        .guard("the key lives long enough", "(>= life (K a n))")
        .set("own", "m b", own)
        .set("dies", "m b", dies)
        .set("vote", "b m", "(or (vote b m) (and (= b a) (= m n) (= (stage a) asking)))")
        .set(
            "prot",
            "b m",
            "(or (prot b m) (and (= b a) (= m n) (valid a) (>= (+ now life) (until a))))");
    m.action("prolong", "a n life")
        .guard("no other key is there", free)
        .guard("the key lives long enough", "(>= life (K a n))")
        .set("own", "m b", own)
        .set("dies", "m b", dies)
        .set("ren", "b m", "(or (ren b m) (and (= b a) (= m n) (ext a)))")
        .set("rborn", "b m", "(ite (and (= b a) (= m n)) (born n) (rborn b m))");
    m.action("release", "a n")
        .guard("it is over", "(or (= (stage a) ended) (= (stage a) undone))")
        .set("own", "m b", "(and (own m b) (not (and (= b a) (= m n))))");
    m.action("restart", "n")
        .set("own", "m b", "(and (own m b) (not (= m n)))")
        .set("born", "m", "(ite (= m n) now (born m))")
        .set("past", "b m", "(or (past b m) (and (= m n) (ren b m)))")
        .set("ren", "b m", "(and (ren b m) (not (= m n)))");
    m.action("lose", "n")
        .chooses("rest", "a", "Quorum")
        .guard(
            "each valid lease keeps a quorum",
            "(forall ((a Acq) (m Node)) (=> (and (valid a) (in m (rest a)))"
                + " (and (prot a m) (not (= m n)))))")
        .set("own", "m b", "(and (own m b) (not (= m n)))")
        .set("vote", "b m", "(and (vote b m) (not (= m n)))")
        .set("ren", "b m", "(and (ren b m) (not (= m n)))")
        .set("past", "b m", "(and (past b m) (not (= m n)))")
        .set("holds", "b", "(rest b)")
        .set("prot", "b m", "(and (prot b m) (not (= m n)))");
  }

  private static void clauses(Model m) {
    m.clause(THEOREM, "a b", "(=> (and (valid a) (valid b)) (not (clash a b)))");
    m.clause("Votes", "a n", "(=> (vote a n) (= (stage a) asking))");
    m.clause("Extends", "a", "(=> (ext a) (= (stage a) held))");
    m.clause("Begun", "a", "(<= (begun a) now)");
    m.clause("Until", "a", "(=> (= (stage a) held) (<= (until a) (+ now (V a))))");
    m.clause("Asked", "a n", "(=> (asked a n) (>= now (+ (born n) (G a n))))");
    m.clause(
        "Vote",
        "a n",
        "(=> (vote a n) (or (and (own n a) (>= (dies n a) (+ (begun a) (V a))))"
            + " (<= (begun a) (born n)) (>= now (+ (begun a) (V a)))))");
    m.clause(
        "VoteVote", "a b n", "(=> (and (vote a n) (vote b n) (clash a b)) (or (late a) (late b)))");
    m.clause(
        "Held",
        "a n",
        "(=> (and (valid a) (prot a n))"
            + " (or (and (own n a) (>= (dies n a) (until a))) (<= (until a) (+ (born n) (V a)))))");
    m.clause(
        "HeldVote", "a b n", "(=> (and (valid a) (prot a n) (vote b n) (clash a b)) (late b))");
    m.clause("Intact", "a n", "(=> (and (valid a) (in n (holds a))) (prot a n))");
    m.clause(
        "Ren",
        "a n",
        "(=> (ren a n) (and (ext a) (or (and (own n a) (>= (dies n a) (+ (begun a) (V a))))"
            + " (>= now (+ (begun a) (V a))))))");
    m.clause("Past", "a n", "(=> (past a n) (and (ext a) (<= (begun a) (born n))))");
    m.clause(
        "RenVote",
        "a b n",
        "(=> (and (or (ren a n) (past a n)) (vote b n) (clash a b)) (or (late b)"
            + " (>= now (+ (begun a) (V a))) (<= (begun b) (rborn a n))))");
  }
}
