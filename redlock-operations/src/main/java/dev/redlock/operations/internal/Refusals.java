package dev.redlock.operations.internal;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.AcquireReport.Vote;
import dev.redlock.AcquireVerdict;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.internal.operations.OperatorClient;
import dev.redlock.internal.sets.Members;
import dev.redlock.internal.sets.Seen;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** How requests of operators fail, and whose replies do not count. */
final class Refusals {
  private static final StackTraceElement[] NO_TRACE = {};

  private Refusals() {}

  /** The trace would be that of a thread of the client, and say nothing of the call. */
  static <E extends RuntimeException> E untraced(E failure) {
    failure.setStackTrace(NO_TRACE);
    return failure;
  }

  static IllegalStateException because(String why) {
    return untraced(new IllegalStateException(why));
  }

  /**
   * By node: why a lock may be held although this node stores no lease; null if the node counts, or
   * is not connected. If this client has found no deployment, and its nodes do not show the same
   * one, any of them may be in the list by mistake, also an empty one.
   */
  static IntFunction<@Nullable String> objections(OperatorClient client) {
    List<Seen> seen = client.set().seen();
    String id = client.set().current().id();
    boolean mixed = id.isEmpty() && shown(seen).count() > 1;
    return node -> {
      Seen asked = seen.get(node);
      boolean foreign = !id.isEmpty() && asked.says() && !asked.record().id().equals(id);
      return foreign || (mixed && asked.status().usable())
          ? "DEPLOYMENT: " + client.state(node).cause()
          : null;
    };
  }

  /** The deployments that the connected nodes show; an empty text for none. */
  private static Stream<String> shown(List<Seen> seen) {
    return seen.stream()
        .filter(node -> node.status().usable())
        .map(node -> node.says() ? node.record().id() : "")
        .distinct();
  }

  /**
   * What was not done for these names.
   *
   * @param error why a node failed; null if it did not, and its vote is the given one
   */
  static QuorumUnavailableException unavailable(
      OperatorClient client,
      String what,
      List<String> of,
      Vote otherwise,
      IntFunction<@Nullable String> error) {
    List<NodeVote> votes = new ArrayList<>();
    Members members = client.members();
    for (int i : members.indexes().toArray()) {
      String why = error.apply(i);
      Vote vote = why == null ? otherwise : Vote.SILENT;
      String name = client.state(i).node();
      votes.add(new NodeVote(name, vote, Duration.ZERO, why, null, null, null));
    }
    var verdict = AcquireVerdict.UNAVAILABLE;
    return untraced(
        new QuorumUnavailableException(
            what,
            new AcquireReport(
                of, verdict, members.quorum(), votes, Duration.ZERO, 1, Duration.ZERO, 0, null)));
  }
}
