package dev.redlock.cli.look;

import dev.redlock.cli.Connecting;
import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import dev.redlock.cli.PresentSet;
import dev.redlock.internal.text.Printable;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.Operations;
import dev.redlock.spi.NodeRecord;
import java.io.PrintWriter;
import picocli.CommandLine.Command;

/** {@code redlock nodes}. */
@Command(
    name = "nodes",
    mixinStandardHelpOptions = true,
    subcommands = {
      AddNode.class,
      RemoveNode.class,
      ReplaceNode.class,
      MaxLeaseTime.class,
      ForgetNode.class
    },
    synopsisSubcommandLabel = "[COMMAND]",
    description = {
      "Show the state of each node, and the set of nodes that they have recorded.",
      "Exit code 0 if a majority votes, otherwise 69."
    },
    footer = {"", "Example: redlock nodes"})
public final class NodesCommand extends Look {
  @Override
  protected int look(Operations operations, PrintWriter out) {
    PresentSet set = PresentSet.of(operations.nodes());
    if (json()) {
      set.nodes().forEach(node -> out.println(json(node)));
    } else {
      print(set, out);
    }
    if (voting(set.nodes()) >= set.quorum()) {
      return ExitCode.OK;
    }
    throw tooFew(set);
  }

  static Failure tooFew(PresentSet set) {
    return tooFew(
        "this command sees %d of %d nodes vote, %d are needed: "
                .formatted(voting(set.nodes()), set.size(), set.quorum())
            + (set.isNew()
                ? "none has a record of the set, and the first program that uses them writes it"
                : set.nodes().stream().anyMatch(Connecting::isConnecting)
                    ? "some have not connected yet, try again"
                    : "no lock can be acquired now"));
  }

  private static void print(PresentSet set, PrintWriter out) {
    Table table = new Table("NODE", "STATE", "FOR", "CAUSE");
    for (NodeState node : set.nodes()) {
      table.row(
          node.node(),
          node.state(),
          node.remaining().isZero() ? null : node.remaining(),
          cause(node));
    }
    table.print(out);
    NodeRecord present = set.record();
    if (present == null) {
      return;
    }
    out.println(Printable.of(PresentSet.describe(present)));
    for (NodeState node : set.nodes()) {
      NodeRecord own = node.record();
      if (own != null && !(own.isOfSameSet(present) && own.floor() == present.floor())) {
        out.println(Printable.of(node.node() + " has " + PresentSet.describe(own)));
      }
    }
  }

  /** The state of a node. */
  public static Json json(NodeState node) {
    Json json =
        new Json()
            .put("node", node.node())
            .put("state", node.state().name())
            .putMillis("remaining", node.remaining())
            .put("cause", Failure.withoutJava(node.cause()));
    NodeRecord record = node.record();
    return record == null ? json : put(json, record);
  }

  /** Adds the set of nodes that the record names. */
  static Json put(Json json, NodeRecord record) {
    return json.put("deployment", record.id())
        .put("epoch", record.epoch())
        .put("floor", record.floor())
        .putAll("members", record.members().stream().map(Json::quoted).toList())
        .put("maxLeaseTimeMillis", record.longestGranted());
  }
}
