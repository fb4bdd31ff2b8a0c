package dev.redlock.simulation;

import java.util.ArrayList;
import java.util.List;

/**
 * Faults in the rules of a set of nodes that changes, which seeds of {@link
 * Scenario.Setting#SHELL_SETS} must catch.
 */
@SuppressWarnings("StringConcatToTextBlock") // Snippets keep their own indentation.
final class SetMutants {
  /** The source of these mutants in the table. */
  static final String SOURCE = "R";

  /** How many of them, the first, stand for worlds outside of the assumptions. */
  static final int CONTROLS = 4;

  private static final List<Mutant> ALL = new ArrayList<>();

  private SetMutants() {}

  static List<Mutant> all() {
    return List.copyOf(ALL);
  }

  private static void mutant(String name, Mutant.Edit... edits) {
    ALL.add(new Mutant(name, SOURCE, List.of(edits)));
  }

  static {
    mutant(
        "clients ignore the records of the nodes",
        ShellMutants.shell(
            "NodeSet", "return Failpoint.recordsAreIgnored() ?", "return status != null ?"));
    mutant(
        "votes count whatever the record of the node says",
        Mutant.protocol(
            "Members", "return record == null || record.admits(epoch, names);", "return true;"));
    mutant(
        "an operator does not wait",
        Mutant.protocol(
            "SetOperator",
            "Duration.ofMillis(set.maxLeaseMillis())).toNanos();",
            "Duration.ofMillis(set.maxLeaseMillis())).toNanos() * 0;"));
    mutant(
        "two members change at once",
        Mutant.protocol(
            "SetOperator",
            "      members.add(add);\n",
            "      if (members.add(add)) {\n        members.remove(current.members().get(0));\n"
                + "      }\n"));
    mutant(
        "votes of the set before count although the floor is raised",
        Mutant.record(
            "return floor <= round && round < epoch && (before.isEmpty()",
            "return round < epoch && (before.isEmpty()"));
    mutant(
        "an operator begins the next change before the last is complete",
        Mutant.protocol(
            "SetOperator",
            "    if (!marked.isEmpty()) {\n      return count(marked, set.members()) <",
            "    if (!marked.isEmpty() || !set.members().isEmpty()) {\n"
                + "      return count(marked, set.members()) < 0 *"));
    mutant(
        "a client writes its own knowledge into a node without a record",
        Mutant.protocol(
            "Membership",
            "NodeRecord word = wordFor(aliases.get(i), nodes);",
            "NodeRecord word = current.exists() ? current : null;"));
    mutant(
        "operators need no promise",
        Mutant.protocol(
            "SetOperator",
            "    if (promised.size() < majority(writing.before())) {",
            "    if (promised.size() < 0) {"),
        Mutant.record(
            "return stored.promised <= given.ballot && (next || again)", "return (next || again)"));
    mutant(
        "the floor of a node falls", Mutant.record("Math.max(over.floor, atLeast);", "atLeast;"));
    mutant(
        "a node opens a set of an operator that it has promised to refuse",
        Mutant.record(
            "return stored.promised <= given.ballot && (next || again)", "return (next || again)"));
    mutant(
        "the members of one epoch are not compared",
        Mutant.record(
            "return floor <= round && (asked == members || members.equals(asked));",
            "return floor <= round;"));
    mutant(
        "replies from before a change of the record count with the new record",
        new Mutant.Edit(
            "redlock-lettuce/src/main/java/dev/redlock/lettuce/internal/ConnectionStates.java",
            "      if (isUsable() && !countVotesAlike(record, stored)) {\n        connection++;\n      }\n",
            ""),
        new Mutant.Edit(
            "redlock-lettuce/src/main/java/dev/redlock/lettuce/internal/ConnectionStates.java",
            "      return;\n    }\n    connection++;\n    if (guard",
            "      return;\n    }\n    if (guard"));
    mutant(
        "a client writes its list into one empty node that it reaches",
        Mutant.protocol(
            "Membership",
            "    if (reached.size() >= (fresh ? names.size() / 2 + 1 : names.size())) {",
            "    if (!reached.isEmpty()) {"));
    mutant(
        "an operator does not tell a removed member",
        Mutant.protocol(
            "SetOperator",
            "      if (removed && node.status().usable() && isBehind(node.record(), set)) {",
            "      if (removed && node.name().isEmpty()) {"));
    mutant(
        "an operator waits for a majority of the members only",
        Mutant.protocol(
            "SetOperator",
            "    missing.removeAll(now.keySet());\n",
            "    missing.removeAll(now.keySet());\n"
                + "    if (now.size() >= majority(set.members())) {\n      missing.clear();\n    }\n"));
    mutant(
        "a node in quarantine gives a promise",
        Mutant.protocol(
            "SetOperator",
            "!writing.before().contains(record.name()) || young) {",
            "!writing.before().contains(record.name()) || young && record == null) {"));
    mutant(
        "a node that has restarted accepts every ballot",
        Mutant.record(
            "    return stored.exists() || joins ? Math.max(stored.promised, given.ballot) : now;",
            "    return Math.max(stored.promised, given.ballot);"));
    mutant(
        "a client tells a node of an open set that it has promised to refuse",
        Mutant.record("!given.isSealed() && given.ballot < stored.promised;", "given.epoch < 0;"));
  }
}
