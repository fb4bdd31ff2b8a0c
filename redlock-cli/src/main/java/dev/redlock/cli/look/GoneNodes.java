package dev.redlock.cli.look;

import static java.util.stream.Collectors.toSet;

import dev.redlock.cli.Failure;
import dev.redlock.cli.PresentSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Option;

/** Members for which a change does not wait. */
final class GoneNodes {
  @Option(
      names = "--gone",
      paramLabel = "NAME",
      description =
          "Another member that is gone for good, with its data: the change does not wait for it. May"
              + " be repeated. Do not name a master that may come back with its data: two processes"
              + " could then hold one lock.")
  private List<String> names = List.of();

  /** Their names in the set. */
  Set<String> of(PresentSet set) {
    Set<String> members = names.stream().map(name -> NodeChange.named(name, set)).collect(toSet());
    for (String member : members) {
      if (!NodeChange.isOrWas(member, set)) {
        throw Failure.usage("--gone '" + member + "' is no member of the set: " + set.record());
      }
    }
    return members;
  }
}
