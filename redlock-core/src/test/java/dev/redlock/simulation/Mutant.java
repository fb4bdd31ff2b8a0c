package dev.redlock.simulation;

import java.util.ArrayList;
import java.util.List;

/**
 * One fault, put into a copy of the sources.
 *
 * @param name what is wrong with it
 * @param source where the idea is from: {@code M…} the hazards page, {@code I} the issue, {@code X}
 *     a bug that was there
 * @param edits what is replaced; each original must occur exactly once
 */
@SuppressWarnings("StringConcatToTextBlock") // Snippets keep their own indentation.
record Mutant(String name, String source, List<Edit> edits) {
  private static final String PROTOCOL = "src/main/java/dev/redlock/internal/protocol/";
  private static final String MEMORY = "src/main/java/dev/redlock/internal/memory/";
  private static final String SIMULATION = "src/test/java/dev/redlock/simulation/";

  record Edit(String file, String original, String replacement) {}

  private static final List<Mutant> ALL = new ArrayList<>();

  /** Another way of doing it, to compare with; nothing has to catch it. */
  static Mutant variant(String name, Edit... edits) {
    return new Mutant(name, "variant", List.of(edits));
  }

  private static Mutant mutant(String source, String name, Edit... edits) {
    Mutant m = new Mutant(name, source, List.of(edits));
    ALL.add(m);
    return m;
  }

  static Edit protocol(String type, String original, String replacement) {
    return new Edit(PROTOCOL + type + ".java", original, replacement);
  }

  private static Edit node(String original, String replacement) {
    return new Edit(MEMORY + "NodeModel.java", original, replacement);
  }

  private static Edit simulation(String type, String original, String replacement) {
    return new Edit(SIMULATION + type + ".java", original, replacement);
  }

  static List<Mutant> all() {
    return List.copyOf(ALL);
  }

  static {
    mutant(
        "M1",
        "time since the first send is not looked at",
        protocol(
            "AcquireRound",
            "boolean inTime = !tooOld && validity.remaining(nowNanos, nowWallMillis) > 0;",
            "boolean inTime = true;"));
    mutant(
        "M2",
        "half of the nodes is a quorum",
        protocol("Quorum", "return nodes / 2 + 1;", "return Math.max(1, nodes / 2);"));
    mutant(
        "M3",
        "quorum of the nodes that can be asked",
        protocol(
            "AcquireRound",
            "    int quorum = Quorum.of(n);\n    if (queuedAtDoor",
            "    int quorum = Quorum.of(Math.max(1, Long.bitCount(sent)));\n    if (queuedAtDoor"));
    mutant(
        "M4",
        "validity counts from the answers",
        protocol(
            "HeldLease",
            "    long missed = 0;\n    AcquireRound r = won;",
            "    validity = new Validity(nowNanos, nowWallMillis, terms.ttlNanos(),"
                + " terms.driftNanos());\n    long missed = 0;\n    AcquireRound r = won;"));
    mutant(
        "M5",
        "no allowance for drift",
        protocol(
            "Validity",
            "return Math.max(0, ttlNanos - driftNanos - elapsed(nowNanos, nowWallMillis));",
            "return Math.max(0, ttlNanos - elapsed(nowNanos, nowWallMillis));"),
        protocol(
            "Validity",
            "return startNanos + ttlNanos - driftNanos;",
            "return startNanos + ttlNanos;"));
    mutant(
        "M6",
        "roll back only where granted",
        protocol(
            "LockMachine",
            "return r.sentMask() | contention.sentBefore(r);",
            "return r.grantedMask();"));
    mutant(
        "M7",
        "release deletes whatever is there",
        node(
            "if (!s.wrongType && r.leaseId().equals(s.owner)) {",
            "if (!s.wrongType && s.owner != null) {"));
    mutant(
        "M8",
        "a lease id is used for the next attempt too",
        protocol(
            "LockMachine",
            "ask(random.leaseId(), null, now, wall);",
            "ask(lastAsked == null ? random.leaseId() : lastAsked.request.leaseId(), null, now,"
                + " wall);"));
    mutant(
        "M9",
        "extend sets the key again whatever has ended",
        node("if (s.owner != null || s.ended >= r.token()) {", "if (s.owner != null) {"));
    mutant(
        "X",
        "a hand-off that finds its key there already does not end the predecessor",
        node(
            "if (r.previousLeaseId() != null\n          && r.previousToken() > s.ended",
            "if (r.previousLeaseId() != null && !isRepeat(s, r)\n"
                + "          && r.previousToken() > s.ended"));
    mutant(
        "X",
        "extend lengthens what a minimum hold has left",
        node("if (ours && s.ended < r.token()) {", "if (ours) {"));
    mutant(
        "M10",
        "extend adds to the time to live",
        node(
            "      write(s, r.leaseId(), nowMillis + r.ttlMillis(), session);\n"
                + "      if (r.token() > s.fence",
            "      write(s, r.leaseId(), (s.owner == null ? nowMillis : s.expiresMillis) +"
                + " r.ttlMillis(), session);\n      if (r.token() > s.fence"));
    mutant(
        "M11",
        "extended by one less than a quorum",
        protocol("ExtendRound", "if (renewed >= quorum) {", "if (renewed >= quorum - 1) {"));
    mutant(
        "M12",
        "extended after validity ran out",
        protocol(
            "ExtendRound",
            "boolean inTime = !tooOld && lease.validity().remaining(nowNanos, nowWallMillis) > 0;",
            "boolean inTime = !tooOld;"),
        protocol(
            "LockMachine",
            "    endIfOverdue(now, wall);\n    if (reply.code().definite()) {",
            "    if (reply.code().definite()) {"));
    mutant(
        "M13",
        "wall clock",
        protocol("Validity", "return Math.max(monotonic, wall - 1_000_000L);", "return wall;"));
    mutant(
        "M14",
        "votes of two tokens are added up",
        protocol(
            "LockMachine",
            "    round = r;\n    lastAsked = r;",
            "    AcquireRound old = lastAsked;\n"
                + "    round = r;\n"
                + "    lastAsked = r;\n"
                + "    for (int i = 0; old != null && !old.knock && i < nodes.count(); i++) {\n"
                + "      if (old.request.leaseId().equals(request.leaseId()) && old.reply(i) !="
                + " null && old.reply(i).code() == ReplyCode.GRANTED) {\n"
                + "        r.replies()[i] = old.reply(i);\n"
                + "      }\n"
                + "    }"));
    mutant(
        "I",
        "the knock counts as a vote",
        protocol(
            "LockMachine",
            "    round = r;\n    lastAsked = r;",
            "    AcquireRound old = lastAsked;\n"
                + "    round = r;\n"
                + "    lastAsked = r;\n"
                + "    for (int i = 0; old != null && old.knock && i < nodes.count(); i++) {\n"
                + "      if (old.request.leaseId().equals(request.leaseId()) && old.reply(i) !="
                + " null && old.reply(i).code() == ReplyCode.GRANTED) {\n"
                + "        r.replies()[i] = old.reply(i);\n"
                + "      }\n"
                + "    }"));
    mutant(
        "M15",
        "an equal token is granted",
        node("(r.token() <= s.fence || !inWindow)", "(r.token() < s.fence || !inWindow)"));
    mutant(
        "M16",
        "roll-back lowers the fence",
        node(
            "        s.fence = Math.max(s.fence, r.token());\n        if (r.ended()) {",
            "        s.fence = r.ended() ? Math.max(s.fence, r.token()) : r.token() - 1;\n"
                + "        if (r.ended()) {"));
    mutant(
        "M17",
        "fences live for a second",
        node(
            "      s.fenceExpiresMillis = nowMillis + fenceLifeMillis;\n      track(s, session);",
            "      s.fenceExpiresMillis = nowMillis + 1000;\n      track(s, session);"));
    mutant(
        "M18",
        "a node that lost its keys votes at once",
        new Edit(
            "src/main/java/dev/redlock/lettuce/internal/ConnectionStates.java",
            "boolean held = refusal != null || looks > 0 || heldUntil - now > 0;",
            "boolean held = refusal != null;"));
    mutant(
        "M18",
        "a flush that was seen is ignored",
        new Edit(
            "src/main/java/dev/redlock/lettuce/internal/ConnectionStates.java",
            "    connection++;\n    if (guard == RestartGuard.OFF) {",
            "    if (connection > 0) {"));
    mutant(
        "M19",
        "a late answer counts in the next round",
        protocol(
            "LockMachine",
            "    if (r == round) {\n      decide(r, r.onReply(node, reply, now, wall), now, wall);",
            "    AcquireRound k = round;\n    if (k != null && (r == k || granted)) {\n"
                + "      decide(k, k.onReply(node, reply, now, wall), now, wall);"));
    mutant(
        "M20",
        "silence means not granted",
        protocol(
            "LockMachine",
            "return r.sentMask() | contention.sentBefore(r);",
            "return (r.sentMask() & ~r.open()) | contention.sentBefore(r);"));
    mutant(
        "M21",
        "a tie of an even number of nodes waits",
        protocol(
            "AcquireRound",
            "if (granted + undecided >= quorum) {",
            "if (n - granted - undecided < quorum) {"));
    mutant(
        "M22",
        "a push is taken for a grant",
        protocol(
            "LockMachine",
            "  public void onHint(int node, long now, long wall) {\n    HeldLease l = lease;",
            "  public void onHint(int node, long now, long wall) {\n    HeldLease l = lease;\n"
                + "    AcquireRound k = round;\n    if (k != null && node >= 0) {\n"
                + "      decide(k, k.onReply(node, NodeReply.of(ReplyCode.GRANTED,"
                + " nodes.status(node).connection(), 0, 0), now, wall), now, wall);\n    }"));
    mutant(
        "M23",
        "scripts are not loaded again (model of the adapter)",
        simulation(
            "SimNode",
            "scriptsForgotten && scripts.add(request.getClass().getSimpleName())",
            "scriptsForgotten && !scripts.contains(request.getClass().getSimpleName())"));
    mutant(
        "M24",
        "cancelling releases nothing",
        protocol(
            "LockMachine",
            "    if (head) {\n      abandon(w, now);\n    }\n    leaveLine(now);",
            "    if (head) {\n      round = null;\n      contention.reset();\n    }\n"
                + "    leaveLine(now);"));
    mutant(
        "M25",
        "the end is told after the deadline",
        protocol(
            "HeldLease",
            "wake.at(validity.deadlineNanos() - noticeNanos());",
            "wake.at(validity.deadlineNanos() + 3_000_000);"));
    mutant(
        "I",
        "hand-off to a cancelled waiter",
        protocol(
            "LockMachine",
            "    if (head) {\n      abandon(w, now);\n    }\n    leaveLine(now);",
            "    if (head && (round == null || round.predecessor == null)) {\n      abandon(w, now);\n"
                + "    }\n    leaveLine(now);"));
    mutant(
        "I",
        "hand-off leaves the predecessor's key",
        protocol("LockMachine", "before.written() & ~r.grantedMask(),", "0L,"));
    mutant(
        "I",
        "still valid when its release is sent",
        protocol("HeldLease", "    releaseAsked = true;", "    releaseAsked = false;"));
    mutant(
        "I",
        "young nodes count in an extension",
        protocol(
            "ExtendRound", "nowNanos - status.sinceNanos() >= QUARANTINE_COUNTS_NANOS;", "true;"));
    mutant(
        "I",
        "quarantined nodes vote",
        protocol(
            "AcquireRound",
            "      if (status.state() == NodeStatus.State.VOTING) {\n        sent",
            "      if (status.usable()) {\n        sent"),
        protocol(
            "AcquireRound",
            "return status.connection() == reply.connection() && status.state() =="
                + " NodeStatus.State.VOTING;",
            "return status.connection() == reply.connection() && status.usable();"));
    mutant(
        "I",
        "the lease has the token of another round",
        protocol(
            "HeldLease",
            "    grantToken = won.request.token();",
            "    grantToken = won.request.token() - 1;"));
    mutant(
        "I",
        "a late grant is not rolled back",
        protocol("LockMachine", "cleanup.onLateGrant(r.request, won, node, now);", "won = false;"));
    mutant(
        "I",
        "a release does not raise the fence",
        node(
            "        s.fence = Math.max(s.fence, r.token());\n        if (r.ended()) {",
            "        if (r.ended()) {"));
    mutant(
        "I",
        "a request without script is sent again, behind the release (model of the adapter)",
        simulation(
            "SimNode",
            "    m.connection.executed(m);\n",
            "    if (reply.error() != null && reply.error().kind() == NodeError.Kind.NO_SCRIPT) {\n"
                + "      world.at(world.now + 3_000_000, () -> execute(m));\n      return;\n    }\n"
                + "    m.connection.executed(m);\n"));
    mutant(
        "I",
        "a roll-back claims that a lease has ended",
        protocol(
            "LockMachine",
            "new LockRequest.Release(keys, q.leaseId(), q.token(), false, 0, null);",
            "new LockRequest.Release(keys, q.leaseId(), q.token(), true, 0, null);"));
    mutant(
        "I",
        "votes of dropped connections count",
        protocol(
            "AcquireRound",
            "return status.connection() == reply.connection() && status.state() =="
                + " NodeStatus.State.VOTING;",
            "return true;"));
    mutant(
        "I",
        "votes never age",
        protocol(
            "AcquireRound",
            "boolean tooOld = validity.elapsed(nowNanos, nowWallMillis) > timeoutNanos;",
            "boolean tooOld = false;"));
    mutant(
        "X",
        "votes of a suspended machine do not age",
        protocol(
            "AcquireRound",
            "boolean tooOld = validity.elapsed(nowNanos, nowWallMillis) > timeoutNanos;",
            "boolean tooOld = nowNanos - startNanos > timeoutNanos;"));
    mutant(
        "X",
        "a hand-off does not say that its predecessor has ended",
        node("        s.ended = r.previousToken();", "        s.wanted = false;"));
    mutant(
        "X",
        "nodes that missed the grant are not healed",
        protocol("HeldLease", "    if (missed == 0) {", "    if (missed >= 0) {"));
    mutant(
        "X",
        "any token is granted, whatever the clock says",
        node("    boolean inWindow =\n", "    boolean inWindow = true ||\n"));
    mutant(
        "X",
        "a place in the line of a former door is kept",
        protocol("LockMachine", "    line.leave(~r.open(), now);\n", ""));
    mutant(
        "X",
        "the holder looks whenever anything is pushed from a node it has lost",
        protocol("HeldLease", "if ((notOurs & 1L << node) != 0) {", "if (notOurs < 0) {"));
    mutant(
        "X",
        "what is pushed during a look that fails is forgotten",
        protocol(
            "HeldLease",
            "could not use.\n    if (checkDue) {",
            "could not use.\n    if (checkDue && verdict == ExtendRound.Verdict.RENEWED) {"));
    mutant(
        "X",
        "the round after the door stands in line again",
        protocol(
            "LockMachine",
            "admittedBy >= 0 ? line.admitted(head) : line.stand(head, door);",
            "line.stand(head, door);"));
    mutant(
        "X",
        "whoever is let in at the door and loses the round has lost its place",
        protocol("LockMachine", "    standAgain(head, r, now);\n", ""));
    mutant(
        "X",
        "served often enough, it asks again at once",
        protocol("Turn", "stayingBack = often;", "stayingBack = false;"));
    mutant(
        "X",
        "after hand-offs that asked nobody it does not wait to hear of others",
        protocol(
            "Turn",
            "        return true; // No node was asked for a while: the door's answer will tell.\n",
            ""));
    mutant(
        "X",
        "who hands the lock on is told so by nobody",
        protocol(
            "LockMachine",
            "orders.add(new Order.Settle(ticket, Order.Outcome.DONE));\n      handOff",
            "handOff"));
    mutant(
        "X",
        "handed on for as long as anybody waits",
        protocol("LockMachine", "        && l.handOffs < l.terms.maxHandOffs()\n", ""));
    mutant(
        "X",
        "who is handed the lock at once has its predecessor's token",
        protocol("HeldLease", "token = before.token + 1;", "token = before.token;"));
    mutant(
        "X",
        "handed on at once for as long as it is valid",
        protocol("HeldLease", "        && votes.wouldWin(nowNanos, nowWallMillis)\n", ""));
    mutant(
        "X",
        "handed on at once though a node has pushed that its key is gone",
        protocol("HeldLease", "        && round == null\n        && !checkDue\n", ""));
    mutant(
        "X",
        "handed on at once though a node has said that it is another's",
        protocol("HeldLease", "        && notOurs == 0\n", ""));
    mutant(
        "X",
        "what was to be healed when the lease ended is forgotten with it",
        protocol("HeldLease", "      unhealed |= missed;\n", ""));
    mutant(
        "X",
        "it is freed by the token of whoever had it last",
        protocol(
            "HeldLease",
            "new LockRequest.Release(keys, id, grantToken, true,",
            "new LockRequest.Release(keys, id, token, true,"));
    mutant(
        "X",
        "a round that is given up counts as under way for ever",
        protocol(
            "LockMachine",
            "  private void drop(AcquireRound r, long now) {\n    over(r, now);\n",
            "  private void drop(AcquireRound r, long now) {\n    round = null;\n"));
    mutant(
        "X",
        "a grant has as many tokens as it is handed on",
        protocol("HeldLease", "        && token + 1 < grantToken + TokenWindow.PER_GRANT;", ";"));
    mutant(
        "X",
        "a proposal may lie among the tokens of another's grant",
        protocol(
            "TokenChoice",
            "highest = atLeast(Math.max(medianMicros(nowNanos), highest + 1));",
            "highest = Math.max(medianMicros(nowNanos), highest + 1);"));
    mutant(
        "X",
        "handed on at once it is trusted for a whole lease time again",
        protocol(
            "HeldLease",
            "validity = before.validity;",
            "validity =\n        new Validity(\n            nowNanos,"
                + " before.validity.remaining(nowNanos, 0), terms.ttlNanos(), terms.driftNanos());"));
    mutant(
        "X",
        "the nodes are told a token that they have never seen",
        protocol(
            "HeldLease",
            "new LockRequest.Extend(keys, id, grantToken, ttlMillis)",
            "new LockRequest.Extend(keys, id, token, ttlMillis)"));
    mutant(
        "X",
        "handed on at once, fair mode or not",
        protocol(
            "HeldLease",
            "        && !terms.fair() // Nobody but the nodes can tell who else stands in line.\n",
            ""));
    mutant(
        "X",
        "fair mode: whoever asks is let in",
        node(
            "boolean firstInLine = standBefore(first, line, now);",
            "boolean firstInLine = standBefore(first, line, now) || line != null;"));
    mutant(
        "X",
        "no fallback poll",
        protocol(
            "Contention",
            "long pollAt = now + (long) (poll * (0.5 + random.next()));",
            "long pollAt = now + (Long.MAX_VALUE >> 2);"));
    mutant(
        "X",
        "refusals do not tell when to wake up",
        protocol(
            "Contention",
            "boolean expiry = free - pollAt < 0;",
            "boolean expiry = free - pollAt < 0 && pollAt == 0;"));
    mutant(
        "X",
        "a token is proposed that only a clock far ahead of the others accepts",
        protocol("TokenChoice", "if (candidate > latest) {", "if (latest < 0) {"));
    mutant(
        "X",
        "a proposal that was far too high bars the ones that follow",
        protocol(
            "TokenChoice",
            "if (highest > medianMicros(nowNanos) + TokenWindow.AHEAD_MICROS) {",
            "if (highest < 0) {"));
  }
}
