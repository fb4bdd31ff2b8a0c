package dev.redlock.cli.look;

import dev.redlock.cli.ExitCode;
import dev.redlock.cli.PresentSet;
import dev.redlock.internal.text.Printable;
import dev.redlock.operations.Diagnosis;
import dev.redlock.operations.Diagnosis.NodeFindings;
import dev.redlock.operations.Operations;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Command;

/** {@code redlock doctor}. */
@Command(
    name = "doctor",
    mixinStandardHelpOptions = true,
    description = {
      "Find what makes locks unsafe or unavailable.",
      "Exit code 0 if nothing was found, 1 if something was, 69 if fewer nodes than a majority"
          + " answered."
    },
    footer = {"", "Example: redlock doctor"})
public final class DoctorCommand extends Look {
  @Override
  protected int look(Operations operations, PrintWriter out) {
    Diagnosis diagnosis = answer(operations.doctor());
    if (json()) {
      diagnosis.nodes().forEach(node -> out.println(json(node)));
      diagnosis.complaints().forEach(text -> out.println(new Json().put("complaint", text)));
    } else {
      for (String line : diagnosis.toString().split("\n", -1)) {
        out.println(Printable.of(line));
      }
    }
    List<NodeFindings> nodes = diagnosis.nodes();
    PresentSet set = PresentSet.of(nodes.stream().map(NodeFindings::node).toList());
    long answered =
        nodes.stream()
            .filter(node -> node.server() != null && set.members().contains(node.node()))
            .count();
    if (answered < set.quorum()) {
      throw tooFew("%d of %d nodes answered".formatted(answered, set.size()));
    }
    return diagnosis.healthy() ? ExitCode.OK : ExitCode.NO;
  }

  private static Json json(NodeFindings found) {
    return new Json()
        .put("node", found.node().node())
        .put("state", found.node().state().name())
        .putMillis("remaining", found.node().remaining())
        .put("server", found.server())
        .put("role", found.role())
        .put("evictionPolicy", found.evictionPolicy())
        .putMillis("uptime", found.uptime())
        .put("appendOnly", found.appendOnly())
        .put("appendFsync", found.appendFsync())
        .put("evictedKeys", found.evictedKeys())
        .put("replicas", found.replicas())
        .putMillis("clockSkew", found.clockSkew())
        .putAll("complaints", found.complaints().stream().map(Json::quoted).toList());
  }
}
