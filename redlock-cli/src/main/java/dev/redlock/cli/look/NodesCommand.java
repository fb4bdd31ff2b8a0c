package dev.redlock.cli.look;

import dev.redlock.cli.ExitCode;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.Operations;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Command;

/** {@code redlock nodes}. */
@Command(
    name = "nodes",
    mixinStandardHelpOptions = true,
    description = {
      "Show the state of each node.",
      "Exit code 0 if a majority votes, otherwise 69."
    },
    footer = {"", "Example: redlock nodes"})
public final class NodesCommand extends Look {
  @Override
  protected int look(Operations operations, PrintWriter out) {
    List<NodeState> states = operations.nodes();
    if (json()) {
      for (NodeState node : states) {
        out.println(json(node));
      }
    } else {
      Table table = new Table("NODE", "STATE", "FOR", "CAUSE");
      for (NodeState node : states) {
        table.row(
            node.node(),
            node.state(),
            node.remaining().isZero() ? null : node.remaining(),
            cause(node));
      }
      table.print(out);
    }
    long voting = voting(states);
    if (voting >= quorum(states)) {
      return ExitCode.OK;
    }
    throw tooFew(
        "%d of %d nodes vote, %d are needed: no lock can be acquired now"
            .formatted(voting, states.size(), quorum(states)));
  }

  /** The state of a node. */
  public static Json json(NodeState node) {
    return new Json()
        .put("node", node.node())
        .put("state", node.state().name())
        .putMillis("remaining", node.remaining())
        .put("cause", node.cause());
  }
}
