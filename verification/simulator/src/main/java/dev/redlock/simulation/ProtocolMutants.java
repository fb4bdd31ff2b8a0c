package dev.redlock.simulation;

import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.Mutant.Edit;
import java.util.ArrayList;
import java.util.List;

/**
 * Faults of the protocol, its model of a node and the restart guard. Their sources: {@code M…} is
 * the project's list of hazards, {@code I} the plan of the simulator, {@code X} a defect that this
 * project had or that a review found. Of the latter two there are those that {@code NecessityTest}
 * names, some of time and tokens, and what no fast directed test catches.
 */
@SuppressWarnings("StringConcatToTextBlock") // Snippets keep their own indentation.
final class ProtocolMutants {
  private static final String PROTOCOL =
      "redlock-core/src/main/java/dev/redlock/internal/protocol/";
  private static final String MODEL =
      "verification/harness/src/main/java/dev/redlock/harness/model/";
  private static final String SIMULATION =
      "verification/simulator/src/main/java/dev/redlock/simulation/";

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
                + " + 99, w.options.leaseTime().toNanos(), w.options.drift().toNanos()));"));
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
            "keys, random.leaseId(), token",
            "keys, wait.roundFor(w) == null ? random.leaseId() :"
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
            "redlock-redis/src/main/java/dev/redlock/redis/internal/ConnectionStates.java",
            "boolean held = quarantine.onTick(now) || refusal != null;",
            "boolean held = refusal != null;"));
    mutant(
        "M18",
        "the client ignores a reported flush",
        new Edit(
            "redlock-redis/src/main/java/dev/redlock/redis/internal/ConnectionStates.java",
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
        "votes never become too old",
        protocol(
            "AcquireRound",
            "boolean tooOld = validity.elapsed(nowNanos, nowWallMillis) > timeoutNanos;",
            "boolean tooOld = false;"));
    mutant(
        "X",
        "a node grants tokens outside the window of its clock",
        node(
            "AcquireScript",
            "        r.token() >= now - NodeModel.SLACK",
            "        true || r.token() >= now - NodeModel.SLACK"));
    mutant(
        "X",
        "the release that becomes a hand-off never completes",
        protocol(
            "LockMachine",
            "effects.add(new Effect.Settle(ack, Effect.Result.DONE));\n      waiters.handOff",
            "waiters.handOff"));
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
                + " grant.validity().startWallMillis(), grant.options.leaseTime().toNanos(),"
                + " grant.options.drift().toNanos()));"));
    mutant(
        "X",
        "there is no fallback poll",
        protocol(
            "Place",
            "return now + (long) (poll * (0.5 + random.next() + later));",
            "return now + (Long.MAX_VALUE >> 2);"));

    // What costs too much, or leaves a lock free although a process waits.
    mutant(
        "I",
        "all leases are extended at once, as many as are due",
        protocol("ExtendQueue", "        && limiter.underWay() < limiter.limit()\n", ""));
    mutant(
        "I",
        "the last deadline first",
        protocol(
            "ExtendSlot",
            "first = a.urgentNanos - b.urgentNanos;",
            "first = b.urgentNanos - a.urgentNanos;"));
    mutant(
        "I",
        "a late lease keeps its place",
        protocol("ExtendSlot", "deadlineNanos - nowNanos <= margin;", "false;"));
    mutant(
        "I",
        "releases before extensions",
        protocol(
            "ExtendSlot",
            "return a.order.compareTo(b.order);",
            "return b.order == Order.RELEASE ? 1 : a.order == Order.RELEASE ? -1 :"
                + " a.order.compareTo(b.order);"));
    mutant(
        "I",
        "an extension that too few nodes got waits for late replies",
        protocol("ExtendRound", "waitNanos = mayWin ?", "waitNanos = mask >= 0 ?"));
    mutant(
        "I",
        "the pause after failed releases does not double",
        protocol("Outbox", "Math.min(MAX_PAUSE_NANOS, 2 * pauseNanos);", "FIRST_PAUSE_NANOS;"));
    mutant(
        "I",
        "the pause of a waiter doubles without a limit",
        protocol(
            "Wait",
            "Math.min(MAX_PAUSE_NANOS, pauseNanos == 0 ? first : 2 * pauseNanos);",
            "pauseNanos == 0 ? first : 2 * pauseNanos;"));
  }
}
