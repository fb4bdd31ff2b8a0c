package dev.redlock.simulation;

import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.Mutant.Edit;
import java.util.ArrayList;
import java.util.List;

/**
 * Faults of the protocol, its model of a node and the restart guard. Their sources: {@code M…} is
 * the project's list of hazards, {@code I} the plan of the simulator, {@code X} a defect that this
 * project had or that a review found.
 */
@SuppressWarnings("StringConcatToTextBlock") // Snippets keep their own indentation.
final class ProtocolMutants {
  private static final String PROTOCOL =
      "redlock-core/src/main/java/dev/redlock/internal/protocol/";
  private static final String MODEL = "redlock-testkit/src/main/java/dev/redlock/testkit/model/";
  private static final String SIMULATION =
      "verification/simulator/src/test/java/dev/redlock/simulation/";

  private static final List<Mutant> ALL = new ArrayList<>();

  private ProtocolMutants() {}

  static List<Mutant> all() {
    return List.copyOf(ALL);
  }

  /** Another way to do it, for a comparison; no test has to catch it. */
  static Mutant variant(String name, Edit... edits) {
    return new Mutant("variant", name, MutantTrial.PROTOCOL, List.of(edits));
  }

  private static void mutant(String source, String name, Edit... edits) {
    ALL.add(new Mutant(source, name, MutantTrial.PROTOCOL, List.of(edits)));
  }

  static Edit protocol(String type, String original, String replacement) {
    return new Edit(PROTOCOL + type + ".java", original, replacement);
  }

  static Edit members(String original, String replacement) {
    return new Edit(
        "redlock-core/src/main/java/dev/redlock/internal/sets/Members.java", original, replacement);
  }

  private static Edit node(String type, String original, String replacement) {
    return new Edit(MODEL + type + ".java", original, replacement);
  }

  private static Edit simulation(String type, String original, String replacement) {
    return new Edit(SIMULATION + type + ".java", original, replacement);
  }

  static {
    mutant(
        "M1",
        "the time since the first send is not checked",
        protocol(
            "AcquireRound",
            "boolean inTime = !tooOld && validity.remaining(nowNanos, nowWallMillis) > 0;",
            "boolean inTime = true;"));
    mutant(
        "M2",
        "half of the nodes counts as a quorum",
        members("return quorumOf(count());", "return Math.max(1, count() / 2);"));
    mutant(
        "M3",
        "the quorum is taken of the reachable nodes only",
        protocol(
            "AcquireRound",
            "    if (tally.isWon()) {",
            "    if (tally.granted >= Math.max(1, Long.bitCount(recipients.mask())) / 2 + 1) {"),
        protocol(
            "AcquireRound",
            "return tally.mayBeWon() ?",
            "return tally.granted + tally.open >= Math.max(1, Long.bitCount(recipients.mask())) / 2"
                + " + 1 ?"));
    mutant(
        "M4",
        "the validity starts at the answers",
        protocol(
            "LeaseKeeper",
            "l.extender.begin(now);",
            "l.extender.begin(now); l.grant.renew(new Validity(now, won.validity.startWallMillis()"
                + " + 99, w.config.ttlNanos(), w.config.driftNanos()));"));
    mutant(
        "M5",
        "the drift is not subtracted from the validity",
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
        "only nodes that granted are rolled back",
        protocol(
            "PendingReleases",
            "refused ? 0 : r.recipients.mask(), now);",
            "refused ? 0 : r.grantedMask(), now);"));
    mutant(
        "M7",
        "a release deletes the key of another lease",
        node(
            "ReleaseScript",
            "if (!s.wrongType && r.leaseId().equals(s.owner)) {",
            "if (!s.wrongType && s.owner != null) {"));
    mutant(
        "M8",
        "the next attempt uses the same lease id",
        protocol(
            "Acquirer",
            "(keys, random.leaseId(), token",
            "(keys, wait.roundFor(w) == null ? random.leaseId() :"
                + " wait.roundFor(w).request.leaseId(), token"));
    mutant(
        "M9",
        "an extension sets the key again although a later lease has ended",
        node(
            "ExtendScript",
            "if (s.owner != null || s.ended >= r.token()) {",
            "if (s.owner != null) {"));
    mutant(
        "I",
        "a node grants although another lease holds the key",
        node(
            "AcquireScript",
            "boolean anothers = owner != null && !owner.equals(r.leaseId());",
            "boolean anothers = owner != null && owner.isEmpty();"));
    mutant(
        "I",
        "an extension takes the key of another lease",
        node(
            "ExtendScript",
            "if (s.owner != null || s.ended >= r.token()) {",
            "if (s.ended >= r.token()) {"));
    mutant(
        "X",
        "an extension prolongs a key that the minimum hold has kept",
        node("ExtendScript", "if (ours && s.ended < r.token()) {", "if (ours) {"));
    mutant(
        "M10",
        "an extension adds to the time to live",
        node(
            "ExtendScript",
            "call.write(s, r.leaseId(), r.ttlMillis());",
            "call.write(s, r.leaseId(), (s.owner == null ? 0 : s.expiresMillis - call.nowMillis())"
                + " + r.ttlMillis());"));
    mutant(
        "M11",
        "one node less than a quorum extends the lease",
        protocol(
            "ExtendRound", "if (tally.isWon()) {", "if (tally.granted >= members.quorum() - 1) {"));
    mutant(
        "M12",
        "the lease is extended after its validity has ended",
        protocol(
            "ExtendRound",
            "boolean inTime = lease.validity().remaining(nowNanos, nowWallMillis) > 0;",
            "boolean inTime = true;"),
        protocol(
            "LockMachine",
            "    leases.endIfOverdue(now, wall);\n    if (reply.code().definite()) {",
            "    if (reply.code().definite()) {"));
    mutant(
        "M13",
        "the validity uses the wall clock only",
        protocol("Validity", "return Math.max(monotonic, wall - 1_000_000L);", "return wall;"));
    mutant(
        "M14",
        "votes for two tokens are added up",
        protocol(
            "Wait",
            "    lastVotes = round;\n",
            "    AcquireRound before = round();\n"
                + "    lastVotes = round;\n"
                + "    for (int i = 0; before instanceof AcquireRound && i <"
                + " round.replies().length; i++) {\n"
                + "      if (before.is(i, dev.redlock.spi.NodeReply.Code.GRANTED)) {\n"
                + "        round.replies()[i] = before.reply(i);\n"
                + "      }\n"
                + "    }"));
    mutant(
        "I",
        "the turn counts as a vote of the home node",
        protocol(
            "Acquirer",
            "    effects.add(new Effect.Send(r, r.request, r.recipients.mask()));\n"
                + "    return Outcome.WAITS;",
            "    effects.add(new Effect.Send(r, r.request, r.recipients.mask()));\n"
                + "    return r.atTurn && nodes.status(home.node()).votes() ? onReply(r,"
                + " home.node(), NodeReply.of(dev.redlock.spi.NodeReply.Code.GRANTED,"
                + " nodes.status(home.node()).connection(), 0, 0), now, wall) : Outcome.WAITS;"));
    mutant(
        "M15",
        "a node grants a token that equals its fence",
        node(
            "AcquireScript",
            "(r.token() <= s.fence || !inWindow)",
            "(r.token() < s.fence || !inWindow)"));
    mutant(
        "M16",
        "a roll-back lowers the fence",
        node(
            "ReleaseScript",
            "        s.fence = Math.max(s.fence, r.token());\n        if (r.ended()) {",
            "        s.fence = r.ended() ? Math.max(s.fence, r.token()) : r.token() - 1;\n"
                + "        if (r.ended()) {"));
    mutant(
        "M17",
        "fences expire after one second",
        node(
            "AcquireScript",
            "call.refreshFence(s);",
            "s.fenceExpiresMillis = call.nowMillis() + 1000;"));
    mutant(
        "M18",
        "a node that lost its keys votes at once (no quarantine)",
        new Edit(
            "redlock-lettuce/src/main/java/dev/redlock/lettuce/internal/ConnectionStates.java",
            "boolean held = quarantine.onTick(now) || refusal != null;",
            "boolean held = refusal != null;"));
    mutant(
        "M18",
        "the client ignores a reported flush",
        new Edit(
            "redlock-lettuce/src/main/java/dev/redlock/lettuce/internal/ConnectionStates.java",
            "    connection++;\n    if (guard == RestartGuard.OFF && !keepsRecords) {",
            "    if (connection > 0) {"));
    mutant(
        "M19",
        "a late grant counts in the next round",
        protocol(
            "LockMachine",
            "    if (r == wait.round()) {\n      waiters.conclude(acquirer.onReply(r, ",
            "    AcquireRound k = wait.round();\n"
                + "    if (k != null && (r == k || reply.code() == Code.GRANTED)) {\n"
                + "      waiters.conclude(acquirer.onReply(k, "));
    mutant(
        "M20",
        "a silent node is not rolled back",
        protocol(
            "PendingReleases",
            "refused ? 0 : r.recipients.mask(), now);",
            "refused ? 0 : r.recipients.mask() & ~r.open(), now);"));
    mutant(
        "M21",
        "a tie of an even number of nodes is not decided",
        protocol(
            "QuorumTally",
            "return granted + open >= round.members.quorum();",
            "return round.members.count() - granted - open < round.members.quorum();"));
    mutant(
        "M22",
        "an invalidation counts as a grant",
        protocol(
            "LockMachine",
            "  public void onInvalidation(int node, String key, long now, long wall) {\n"
                + "    HeldLease l = leases.lease();",
            "  public void onInvalidation(int node, String key, long now, long wall) {\n"
                + "    HeldLease l = leases.lease();\n"
                + "    AcquireRound k = wait.round();\n"
                + "    if (k != null && node >= 0) {\n"
                + "      waiters.conclude(acquirer.onReply(k, node, NodeReply.of(Code.GRANTED,"
                + " nodes.status(node).connection(), 0, 0), now, wall), now);\n"
                + "    }"));
    mutant(
        "M23",
        "forgotten scripts are not loaded again (model of the adapter)",
        simulation(
            "SimNode",
            "scriptsForgotten && scripts.add(request.getClass().getSimpleName()) && !whole",
            "scriptsForgotten && !scripts.contains(request.getClass().getSimpleName())"));
    mutant(
        "M24",
        "a cancelled attempt is not rolled back",
        protocol(
            "Waiters",
            "    if (head) {\n      headLeft(w, now);\n    }\n    leaveQueues(now);",
            "    if (head) {\n      wait.end();\n    }\n    leaveQueues(now);"));
    mutant(
        "M25",
        "the holder is notified after the deadline",
        protocol(
            "HeldLease",
            "wake.at(validity().deadlineNanos() - marginNanos());",
            "wake.at(validity().deadlineNanos() + 3_000_000);"));
    mutant(
        "I",
        "the lease is still valid when its release is sent",
        protocol("HeldLease", "    releaseAsked = true;", "    releaseAsked = false;"));
    mutant(
        "I",
        "a node that was just quarantined counts in an extension",
        protocol(
            "ExtendRound", "nowNanos - status.sinceNanos() >= QUARANTINE_COUNTS_NANOS;", "true;"));
    mutant(
        "I",
        "quarantined nodes vote",
        protocol(
            "Recipients",
            "      if (status.votes()) {\n        voting",
            "      if (status.usable()) {\n        voting"),
        protocol(
            "Nodes",
            "        && status.state() == NodeStatus.State.VOTING\n",
            "        && status.usable()\n"));
    mutant(
        "I",
        "the lease has a token that was not granted",
        protocol(
            "Grant", "    token = won.request.token();", "    token = won.request.token() - 1;"));
    mutant(
        "I",
        "a late grant is not rolled back",
        protocol(
            "LockMachine",
            "pendingReleases.undo(r.request, won, 1L << node, now);",
            "won = false;"));
    mutant(
        "I",
        "a release does not raise the fence",
        node(
            "ReleaseScript",
            "        s.fence = Math.max(s.fence, r.token());\n        if (r.ended()) {",
            "        if (r.ended()) {"));
    mutant(
        "I",
        "after NOSCRIPT a request is sent again behind the release (model of the adapter)",
        simulation(
            "SimLink",
            "return !m.whole && (m.request instanceof LockRequest.Release || !undone);",
            "return !m.whole;"));
    mutant(
        "I",
        "a roll-back raises `ended`, although there was no lease",
        protocol("PendingReleases", "q.token(), lease, 0, null);", "q.token(), true, 0, null);"));
    mutant(
        "I",
        "votes of dropped connections count",
        protocol(
            "Nodes",
            "    return status.connection() == reply.connection()\n"
                + "        && status.state() == NodeStatus.State.VOTING\n"
                + "        && members",
            "    return members"));
    mutant(
        "I",
        "votes never become too old",
        protocol(
            "AcquireRound",
            "boolean tooOld = validity.elapsed(nowNanos, nowWallMillis) > timeoutNanos;",
            "boolean tooOld = false;"));
    mutant(
        "X",
        "votes do not age while the machine is suspended",
        protocol(
            "AcquireRound",
            "boolean tooOld = validity.elapsed(nowNanos, nowWallMillis) > timeoutNanos;",
            "boolean tooOld = nowNanos - sentNanos() > timeoutNanos;"));
    mutant(
        "X",
        "nodes without the grant are not repaired",
        protocol("LeaseExtender", "    lacking |= 1L << node;\n", ""));
    mutant(
        "X",
        "a node grants tokens outside the window of its clock",
        node(
            "AcquireScript",
            "        r.token() >= now - NodeModel.SLACK",
            "        true || r.token() >= now - NodeModel.SLACK"));
    mutant(
        "X",
        "the queue entry at a former home node is kept",
        protocol("Waiters", "    places.leave(~r.open(), now);\n", ""));
    mutant(
        "X",
        "the holder checks its lease after every invalidation from a node that it has lost",
        protocol(
            "LeaseExtender",
            "boolean lost = (lostOn & 1L << node) != 0;",
            "boolean lost = lostOn < 0;"));
    mutant(
        "X",
        "an invalidation during a failed check is forgotten",
        protocol(
            "LeaseExtender",
            "could not use.\n    if (checkDue) {",
            "could not use.\n    if (checkDue && verdict == ExtendVerdict.RENEWED) {"));
    mutant(
        "X",
        "the second of the queue never passes the first over",
        protocol(
            "Wait",
            "    askHomeBy(now + home.turnPatience(place.node()));\n"
                + "  }\n\n"
                + "  /**\n"
                + "   * A node reports a",
            "  }\n\n  /**\n   * A node reports a"));
    mutant(
        "X",
        "the release wakes others although the next caller of the process came first",
        protocol("Waiters", "      acquirer.queueEarly(next, now);\n", ""));
    mutant(
        "X",
        "a process that loses the round at its turn loses its place to the next",
        protocol("Acquirer", "    keepPlace(head, r, now);\n", ""));
    mutant(
        "X",
        "a process that knows of others asks all nodes before them",
        protocol("Wait", "turn.othersWant() || (turn.needsHome", "(turn.needsHome"));
    mutant(
        "X",
        "after hand-offs a process does not need the home node",
        protocol("Turn", "l.handOffs > 0);", "l.handOffs < 0);"));
    mutant(
        "X",
        "after hand-offs a process asks all nodes although the home node is far",
        protocol("Wait", "turn.needsHome(now) && !home.isNearAndWakes()", "false"));
    mutant(
        "X",
        "a single try needs the home node",
        protocol("Acquirer", "!w.singleTry && turn.needsHome(now)", "turn.needsHome(now)"));
    mutant(
        "X",
        "a lost race is judged as if a node that hung might still vote",
        protocol("AcquireRound", "tally(timedOut)", "tally(false)"));
    mutant(
        "X",
        "the release wakes no process",
        node(
            "ReleaseScript",
            "    if (!kept && queues.woken(wakeKey, nowMillis) < 0) {",
            "    if (kept && second == null) {"));
    mutant(
        "X",
        "a process that is woken asks the home node instead of all",
        protocol(
            "Wait",
            "sleep(now, WakeUp.HINT, true, Whom.ALL);",
            "sleep(now, WakeUp.HINT, true, Whom.HOME);"));
    mutant(
        "X",
        "waiters that are woken in vain wake each other without end",
        protocol("Wait", "turnsInVain += r.atTurn ? 1 : 0;", ""));
    mutant(
        "X",
        "the home node takes the lock for held for ever, once a process was admitted in vain",
        protocol("Wait", "return state.whom() == Whom.DOUBTED_HOME ?", "return isHomeWrong() ?"));
    mutant(
        "X",
        "a grant forgets that processes are queued",
        node(
            "AcquireScript",
            "s.wanted = others > 0 || (s.wanted && keepMarks);",
            "s.wanted = false;"));
    mutant(
        "X",
        "the release that becomes a hand-off never completes",
        protocol(
            "LockMachine",
            "effects.add(new Effect.Settle(ack, Effect.Result.DONE));\n      waiters.handOff",
            "waiters.handOff"));
    mutant(
        "X",
        "the number of hand-offs in a row has no limit",
        protocol(
            "HeldLease", "return handOffs < grant.config.maxHandOffs()\n        &&", "return"));
    mutant(
        "X",
        "a local hand-off does not take a new token",
        protocol("HeldLease", "token = before.token + 1;", "token = before.token;"));
    mutant(
        "X",
        "local hand-off although the votes are too old",
        protocol("HeldLease", "        && grant.votes.wouldWin(nowNanos, nowWallMillis)\n", ""));
    mutant(
        "X",
        "local hand-off although a node has sent an invalidation",
        protocol("LeaseExtender", "!isExtending() && !checkDue && lostOn == 0;", "lostOn == 0;"));
    mutant(
        "X",
        "local hand-off although a node has said that another lease holds the key",
        protocol(
            "LeaseExtender",
            "!isExtending() && !checkDue && lostOn == 0;",
            "!isExtending() && !checkDue;"));
    mutant(
        "X",
        "a local hand-off forgets the nodes that lack the grant",
        protocol("LeaseExtender", "lease = successor;", "lease = successor; lacking = 0;"));
    mutant(
        "X",
        "the release after a local hand-off carries the last token, not that of the grant",
        protocol(
            "PendingReleases",
            "request = grant.release(keepMillis);",
            "request = new LockRequest.Release(l.keys(), l.id(), l.token(), true, keepMillis,"
                + " null);"));
    mutant(
        "X",
        "an abandoned round counts as in flight for ever",
        protocol(
            "Acquirer",
            "    nodes.limiter().ended(",
            "    if (r.verdict() == AcquireVerdict.ACQUIRED) nodes.limiter().ended("));
    mutant(
        "X",
        "local hand-off takes more tokens than the grant owns",
        protocol("HeldLease", "        && token + 1 < grant.token + TOKENS_PER_GRANT;", ";"));
    mutant(
        "X",
        "a proposed token may be one that another grant owns",
        protocol(
            "TokenChoice",
            "highest = atLeast(Math.max(medianMicros(nowNanos), highest + 1));",
            "highest = Math.max(medianMicros(nowNanos), highest + 1);"));
    mutant(
        "X",
        "a local hand-off starts a new validity",
        protocol(
            "HeldLease",
            "    grantedNanos = nowNanos;",
            "    grantedNanos = nowNanos;\n    grant.renew(new Validity(nowNanos,"
                + " grant.validity().startWallMillis(), grant.config.ttlNanos(),"
                + " grant.config.driftNanos()));"));
    mutant(
        "X",
        "an extension after a local hand-off carries the last token, not that of the grant",
        protocol(
            "ExtendRound",
            "request = lease.grant.extend(ttlMillis);",
            "request = early ? lease.grant.extend(ttlMillis) : new"
                + " LockRequest.Extend(lease.keys(), lease.id(), lease.token(), ttlMillis);"));
    mutant(
        "X",
        "local hand-off in fair mode",
        protocol(
            "HeldLease",
            "        && !grant.config.fair() // Only the nodes know which processes are queued.\n",
            ""));
    mutant(
        "X",
        "fair mode waits for a home node that hangs until the other votes are too old",
        protocol("HomeNode", "return timeoutNanos - timeoutNanos / 4;", "return timeoutNanos;"));
    mutant(
        "X",
        "an arrival behind the clock of the node stays there until the clock has come to it",
        node("QueueModel", "entry.arrivalMicros() <= now) {", "entry.arrivalMicros() != 0) {"));
    mutant(
        "X",
        "the queue of a node that is not the home node refuses the process that has its turn",
        node("TurnScript", "!isBefore(first) || isElsewhere()) {", "!isBefore(first)) {"),
        protocol(
            "AcquireRound",
            "if (home >= 0 && is(home, Code.QUEUED)) {",
            "if (maskOf(Code.QUEUED) != 0) {"));
    mutant(
        "X",
        "processes that died stay in the queue of a lock that is held",
        node("QueueModel", "if (until * 1000 < now) {", "if (until < 0) {"));
    mutant(
        "X",
        "the home node admits any process, not the first of the queue",
        node(
            "EnqueueScript",
            "    if (free && turnLeft < 0) {\n      queues.write",
            "    if (free) {\n      queues.write"));
    mutant(
        "X",
        "there is no fallback poll",
        protocol(
            "Place",
            "return now + (long) (poll * (0.5 + random.next() + later));",
            "return now + (Long.MAX_VALUE >> 2);"));
    mutant(
        "X",
        "the waiter ignores the remaining time in refusals",
        protocol(
            "Wait",
            "boolean expiry = asksWhenFree && free - pollAt < 0;",
            "boolean expiry = asksWhenFree && free - pollAt < 0 && pollAt == 0;"));
    mutant(
        "X",
        "the client proposes a token that only one fast clock accepts",
        protocol("TokenChoice", "if (candidate > latest) {", "if (latest < 0) {"));
    mutant(
        "X",
        "a proposal that was far too high blocks the proposals after it",
        protocol(
            "TokenChoice",
            "if (highest > medianMicros(nowNanos) + LockRequest.Acquire.AHEAD_MICROS) {",
            "if (highest < 0) {"));

    // What costs too much, or leaves a lock free although a process waits.
    mutant(
        "I",
        "each process that is silent at its turn costs the others a patience",
        node("TurnScript", "silent * (entry == null ? MOST_WOKEN : SPREAD)", "1"));
    mutant(
        "I",
        "the release does not wake the last of a long queue",
        node("ReleaseScript", "if (!kept && isLong", "if (kept && isLong"));
    mutant(
        "I",
        "a newcomer waits for the patience of each process before it",
        protocol("Place", "Math.max(MAX_TURNS_NANOS, patience)", "Long.MAX_VALUE"));
    mutant(
        "I",
        "the pauses of a refused process do not grow",
        protocol(
            "Wait",
            "Math.min(MAX_PAUSE_NANOS, pauseNanos == 0 ? first : 2 * pauseNanos);",
            "Math.min(MAX_PAUSE_NANOS, first);"));
    mutant(
        "I",
        "a node that cannot queue is asked again at once",
        protocol(
            "Wait",
            "    pause(now, home.roundTripNanos(), true, queueFailed ? Whom.ALL : Whom.HOME);",
            "    Whom whom = queueFailed ? Whom.ALL : Whom.HOME;\n"
                + "    pauseNanos = 1;\n"
                + "    sleep(now + (long) (0.5 + random.next()), WakeUp.PAUSE, true, whom);"));
    mutant(
        "I",
        "a lease is extended twenty times as often",
        protocol(
            "LeaseExtender",
            "nextExtendNanos = r.sentNanos() + random.atMost(config.ttlNanos() / 3);",
            "nextExtendNanos = r.sentNanos() + config.ttlNanos() / 60;"));
    mutant(
        "I",
        "all leases are extended at once, as many as are due",
        protocol("ExtendQueue", "return limiter.underWay() < limiter.limit();", "return true;"));
    mutant(
        "I",
        "the lease that expires last is extended first",
        protocol(
            "ExtendSlot",
            "first = a.urgentNanos - b.urgentNanos;",
            "first = b.urgentNanos - a.urgentNanos;"));
    mutant(
        "I",
        "a lease that can no longer be extended in time keeps its place",
        protocol("ExtendSlot", "deadlineNanos - nowNanos <= margin;", "false;"));
    mutant(
        "I",
        "an extension waits no longer for replies than a node timeout",
        protocol("LockConfig", "Math.max(nodeTimeoutNanos, ", "Math.min(nodeTimeoutNanos, "));
    mutant(
        "I",
        "an extension that too few nodes got waits for late replies",
        protocol("ExtendRound", "waitNanos = mayWin ?", "waitNanos = mask >= 0 ?"));
    mutant(
        "I",
        "a check that is due waits for late replies",
        protocol("LeaseExtender", "      e.hurry();\n", ""));
    mutant(
        "I",
        "the releases of expired leases come before extensions",
        protocol(
            "ExtendSlot",
            "return a.order.compareTo(b.order);",
            "return b.order == Order.RELEASE ? 1 : a.order == Order.RELEASE ? -1 :"
                + " a.order.compareTo(b.order);"));
    mutant(
        "I",
        "the release of an expired lease does not wait for extensions",
        protocol(
            "PendingReleases", "      e.held = e.todo; // It waits behind all extensions.\n", ""));
    mutant(
        "I",
        "a lease that ends keeps its place among the extensions",
        protocol("LeaseExtender", "if (queued || round != null) {", "if (acks == null) {"));
    mutant(
        "I",
        "a lease that waits for its extension is not told that it may begin",
        protocol("ExtendSlot", "        effects.add(new Effect.Admit(other.keys));\n", ""));
    mutant(
        "I",
        "a waiting process polls four times less often",
        protocol(
            "Place",
            "long poll = Math.min(config.pollNanos(), config.ttlNanos() / 3);",
            "long poll = 4 * Math.min(config.pollNanos(), config.ttlNanos() / 3);"));
    mutant(
        "I",
        "after a round without a quorum the client asks again after 10 microseconds",
        protocol(
            "Wait",
            "pause(now, waiter().config.nodeTimeoutNanos() / 2, true, Whom.ALL);",
            "{\n        pauseNanos = 10_000;\n"
                + "        sleep(now + (long) (10_000 * (0.5 + random.next())), WakeUp.PAUSE, true,"
                + " Whom.ALL);\n      }"));
    mutant(
        "I",
        "majority first: the others are never asked",
        protocol("Acquirer", "    if (rest != 0) {", "    if (rest < 0) {"));
    mutant(
        "I",
        "majority first: the others are asked under another lease id",
        protocol(
            "Acquirer",
            "effects.add(new Effect.Send(r, r.request, rest));",
            "effects.add(new Effect.Send(r, LockRequest.Acquire.of(keys, random.leaseId(),"
                + " r.request.token(), r.request.ttlMillis()), rest));"));
    mutant(
        "I",
        "majority first: a lease that is held is not written to the others",
        protocol(
            "LeaseExtender",
            "boolean lacks = !votes.isOpen(i)",
            "boolean lacks = !votes.isOpen(i) && !votes.recipients.isKeptBack(i)"));
    mutant(
        "I",
        "majority first: a release waits for nodes that never had the lease",
        protocol("PendingRelease", "long confirmed = untouched |", "long confirmed ="));
    mutant(
        "I",
        "majority first: the release goes to those that were asked first only",
        protocol(
            "Recipients",
            "    askedLater = ask(keptBack);\n",
            "    long first = sent;\n    askedLater = ask(keptBack);\n    sent = first;\n"));
    mutant(
        "I",
        "a release that a node could not be sent is not sent later",
        protocol("PendingReleases", "        outbox(node).add(e, nowNanos);\n", ""));
    mutant(
        "I",
        "a release that a node has failed is not sent again",
        protocol("Outbox", "      send(1, nowNanos);\n", ""));
    mutant(
        "I",
        "the pause after failed releases does not double",
        protocol("Outbox", "Math.min(MAX_PAUSE_NANOS, 2 * pauseNanos);", "FIRST_PAUSE_NANOS;"));
    mutant(
        "I",
        "a failed extension is repeated without a pause",
        protocol(
            "LeaseExtender",
            "nextExtendNanos = nowNanos + Math.max(MIN_RETRY_NANOS, soon);",
            "nextExtendNanos = nowNanos + Math.min(MIN_RETRY_NANOS, soon / 100);"));
    mutant(
        "I",
        "a round whose token is refused takes a new one as often as it likes",
        protocol("Acquirer", "        next.followsStale = true;\n", ""));
    mutant(
        "I",
        "a waiter that is queued asks the home node again after each round trip",
        protocol(
            "Wait",
            "sleep(expiry ? free : pollAt, expiry ? WakeUp.EXPIRY : WakeUp.POLL, true, whom);",
            "sleep(now + home.roundTripNanos(), WakeUp.POLL, true, whom);"));
    mutant(
        "I",
        "the pause of a waiter doubles without a limit",
        protocol(
            "Wait",
            "Math.min(MAX_PAUSE_NANOS, pauseNanos == 0 ? first : 2 * pauseNanos);",
            "pauseNanos == 0 ? first : 2 * pauseNanos;"));
    mutant(
        "I",
        "the first of a queue listens to another node three times",
        protocol(
            "Acquirer",
            "      QueueRequest listen = new QueueRequest(nodes, node, now, now, null);\n",
            "      for (int i = 0; i < 2; i++) effects.add(new Effect.Send(new QueueRequest(nodes,"
                + " node, now, now, null), new LockRequest.Inspect(keys), 1L << node));\n"
                + "      QueueRequest listen = new QueueRequest(nodes, node, now, now, null);\n"));
    mutant(
        "I",
        "the newest caller of a process is served first",
        protocol(
            "Waiters",
            "return queue.isEmpty() ? null : queue.iterator().next();",
            "return queue.stream().reduce((a, b) -> b).orElse(null);"));
  }
}
