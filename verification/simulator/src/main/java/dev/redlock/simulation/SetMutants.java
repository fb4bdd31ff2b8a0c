package dev.redlock.simulation;

import dev.redlock.harness.mutants.Mutant;
import java.util.ArrayList;
import java.util.List;

/**
 * Faults in the rules of a set of nodes that changes (source {@code R}), which seeds of {@link
 * Scenario.Setting#SHELL_SETS} must catch. The client has several rules for one danger, so some
 * mutants take away several of them, and these seeds do not catch the loss of each: {@code
 * SetOperatorTest}, {@code NodeRecordTest} and {@code Sets.tla} have promises, because operators
 * hold a lock here, {@code MembershipTest} and {@code Sets.tla} the word of another member, {@code
 * NodeRecordTest} votes of an earlier epoch, {@code MembershipTest} a client that alone knows the
 * set and reaches one empty node. That a majority shows a proposal at one moment needs three nodes
 * that are read, restarted and told in one order: {@code MembershipTest} and {@code Sets.tla} have
 * it. A member that is gone for good keeps no change open: no world here has one, {@code
 * SetOperatorTest} does.
 */
@SuppressWarnings("StringConcatToTextBlock") // Snippets keep their own indentation.
final class SetMutants {
  /** How many of them, the first, stand for worlds outside of the assumptions. */
  static final int CONTROLS = 4;

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

  private static Mutant.Edit sets(String type, String original, String replacement) {
    return ShellMutants.shell("sets/" + type, original, replacement);
  }

  private static Mutant.Edit states(String original, String replacement) {
    return new Mutant.Edit(
        "redlock-redis/src/main/java/dev/redlock/redis/internal/ConnectionStates.java",
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
            "return requireNonNull(nodes.get(node).status());",
            "NodeStatus s = nodes.get(node).status();\n"
                + "return names.get(0).hashCode() % 2 == 0 ? s.with(null) : s;"));
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
        "members forget at any time",
        new Mutant.Edit(
            "verification/simulator/src/main/java/dev/redlock/simulation/ChangingSet.java",
            "node.up && mayForget(node)",
            "node.up"));
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
        sets("Membership", "showing(shown, deciding) >= needed", "id.isEmpty()"));
    mutant(
        "an observer founds",
        sets("Membership", "    founds = !observes;", "    founds = true;"),
        sets("Membership", "    tells = !observes;", "    tells = true;"));
    mutant(
        "a proposal counts as a record",
        record("    return epoch > 0;", "    return epoch > 0 || isProposal();"));
    mutant(
        "a marker that cannot be read is a vote",
        states(
            "return keepsRecords ? record : null;",
            "return record.isUnreadable() ? null : record;"),
        states(
            "    if (keepsRecords && marker == null && !probe",
            "    if (!keepsRecords && marker == null && !probe"),
        states(
            "    if (keepsRecords && record.isUnreadable()) {\n      return UNREADABLE;\n    }\n",
            ""));
    mutant(
        "the vote of another deployment counts",
        sets("Members", "(record.id().equals(id)\n            && record", "(record"),
        sets(
            "Objections",
            "    if (node.says() && !record",
            "    if (current.id().isEmpty() && !record"));
    mutant(
        "a record is written over one of another deployment",
        new Mutant.Edit(
            "verification/harness/src/main/java/dev/redlock/harness/model/RecordScript.java",
            "(stored.exists() && !stored.id().equals(given.id()))",
            "stored.epoch() < 0"));
    mutant(
        "a loopback name may be a member beside others",
        sets(
            "Loopback",
            "return local > 0 && local < hosts.size();",
            "return local > hosts.size();"));
    mutant(
        "two names of one server are two members",
        sets("Founding", ": twice ?", ": names.isEmpty() ?"));
    mutant(
        "a set is sealed that the added member does not store",
        operator("    if (!first.isEmpty()) {", "    if (first.size() > 1) {"));
    mutant(
        "a client works with its list, not with the set that the nodes show",
        sets(
            "Membership",
            "      members = Members.of(current, nodes, aliases, maxLeaseMillis);\n",
            "      long mask = Members.all(seeds).mask();\n"
                + "      members = new Members(current.id(), current.epoch(), seeds(), mask,"
                + " maxLeaseMillis);\n"),
        record("(asked == members || members.equals(asked))", "!asked.isEmpty()"));
    mutant(
        "a change of the longest lease time counts when it begins",
        record("Math.min(maxLeaseMillis, maxLeaseBefore)", "maxLeaseMillis"),
        record("Math.max(maxLeaseMillis, maxLeaseBefore)", "maxLeaseMillis"));
    mutant(
        "a node stays out for the leases of the client, not of its record",
        new Mutant.Edit(
            "redlock-redis/src/main/java/dev/redlock/redis/internal/Quarantine.java",
            "record.longestValid() > longest.toMillis()",
            "record.longestValid() < 0"));
    mutant(
        "leases may be longer than the record of the node allows",
        sets("Members", "\n            && maxLeaseMillis <= record.longestGranted()", ""),
        sets("Objections", "maxLeaseMillis > record.longestGranted() ?", "maxLeaseMillis < 0 ?"));
    mutant(
        "an operator begins the next change before the last is sealed",
        operator("current.epoch() && current.isSealed()) {", "current.epoch()) {"),
        operator("(!marked.isEmpty()) {", "(!set.isSealed() || !marked.isEmpty()) {"),
        operator(
            "return count(marked, set.members()) <", "return count(marked, set.members()) < 0 *"));
    mutant(
        "a lease id does not depend on the connections of its process",
        ShellMutants.shell(
            "SecureRandomness",
            "part = Hashing.sha256()",
            "part = nodeMicros != 0 ? part : Hashing.sha256()"));
  }
}
