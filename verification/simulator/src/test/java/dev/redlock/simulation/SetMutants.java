package dev.redlock.simulation;

import dev.redlock.harness.mutants.Mutant;
import java.util.ArrayList;
import java.util.List;

/**
 * Faults in the rules of a set of nodes that changes (source {@code R}), which seeds of {@link
 * Scenario.Setting#SHELL_SETS} must catch. The client has several rules for one danger, so these
 * seeds do not catch the loss of each: {@code SetWorldControlsTest} has controls for promises, for
 * the word of another member and for a removed master, {@code NodeRecordTest} for the record of
 * another deployment and for votes of an earlier epoch, {@code MembershipTest} for the vote of
 * another deployment and for a client that alone knows the set and reaches one empty node, {@code
 * ConnectionStatesTest} for a marker that cannot be read.
 */
@SuppressWarnings("StringConcatToTextBlock") // Snippets keep their own indentation.
final class SetMutants {
  /** How many of them, the first, stand for worlds outside of the assumptions. */
  static final int CONTROLS = 3;

  /** The last mutant: worlds in which a process is forked catch it. */
  static final int FORKS = 1;

  private static final List<Mutant> ALL = new ArrayList<>();

  private SetMutants() {}

  static List<Mutant> all() {
    return List.copyOf(ALL);
  }

  private static void mutant(String name, Mutant.Edit... edits) {
    ALL.add(new Mutant("R", name, Scenario.Setting.SHELL_SETS.name(), List.of(edits)));
  }

  private static Mutant.Edit operator(String original, String replacement) {
    return new Mutant.Edit(
        "redlock-operations/src/main/java/dev/redlock/operations/internal/SetOperator.java",
        original,
        replacement);
  }

  private static Mutant.Edit record(String original, String replacement) {
    return new Mutant.Edit(
        "redlock-core/src/main/java/dev/redlock/spi/NodeRecord.java", original, replacement);
  }

  static {
    mutant(
        "some clients ignore the records of the nodes",
        ShellMutants.shell(
            "NodeSet",
            "return Failpoint.changed(status);",
            "return names.get(0).hashCode() % 2 == 0 ? status.with(null) : status;"));
    mutant(
        "an operator does not wait",
        operator(
            "Duration.ofMillis(set.longestValid())).toNanos();",
            "Duration.ofMillis(set.longestValid())).toNanos() * 0;"));
    mutant(
        "two members change at once",
        operator(
            "        members.add(add);\n",
            "        if (members.add(add)) {\n          members.remove(current.members().get(0));\n"
                + "        }\n"));
    mutant(
        "votes count whatever the record of the node says",
        ProtocolMutants.members(
            "    return record == null\n", "    return true || record == null\n"));
    mutant(
        "an operator begins the next change before the last is complete",
        operator(
            "    if (!marked.isEmpty()) {\n      return count(marked, set.members()) <",
            "    if (!marked.isEmpty() || !set.members().isEmpty()) {\n"
                + "      return count(marked, set.members()) < 0 *"));
    mutant(
        "one node decides with which deployment a client works",
        ProtocolMutants.protocol(
            "Membership", "showing(shown, deciding) >= needed", "id.isEmpty()"));
    mutant(
        "an observer founds",
        ProtocolMutants.protocol("Membership", "    founds = !observes;", "    founds = true;"),
        ProtocolMutants.protocol("Membership", "    tells = !observes;", "    tells = true;"));
    mutant(
        "a proposal counts as a record",
        record("    return epoch > 0;", "    return epoch > 0 || isProposal();"));
    mutant(
        "a lease id does not depend on the connections of its process",
        ShellMutants.shell(
            "SecureRandomness",
            "    MessageDigest hash = sha256();\n    hash.update(part);",
            "    if (nodeMicros != 0) {\n      return;\n    }\n"
                + "    MessageDigest hash = sha256();\n    hash.update(part);"));
  }
}
