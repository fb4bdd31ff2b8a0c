package dev.redlock.proof;

/** What both proofs share: quorums, and the life of an acquisition. */
final class Attempts {
  private Attempts() {}

  static void addTo(Model m) {
    m.constant("in", "n q", "Bool").constant("meet", "p q", "Node");
    m.assume("two quorums share a node", "p q", "(and (in (meet p q) p) (in (meet p q) q))");

    m.state("stage", "a", "Stage").state("asked", "a n", "Bool");
    m.begins("a", "(= (stage a) idle)");
    m.begins("a n", "(not (asked a n))");

    m.action("ask", "a")
        .guard("it has not begun", "(= (stage a) idle)")
        .set("stage", "b", "(ite (= b a) asking (stage b))");
    m.action("send", "a n").set("asked", "b m", "(or (asked b m) (and (= b a) (= m n)))");
    m.action("grant", "a n").guard("the request arrives", "(asked a n)");
    m.action("win", "a q").set("stage", "b", "(ite (= b a) held (stage b))");
    m.action("give up", "a")
        .guard("its round is open", "(= (stage a) asking)")
        .set("stage", "b", "(ite (= b a) undone (stage b))");
    m.action("end", "a")
        .guard("it is held", "(= (stage a) held)")
        .set("stage", "b", "(ite (= b a) ended (stage b))");
    m.action("restart", "n").set("asked", "b m", "(and (asked b m) (not (= m n)))");
  }
}
