package dev.redlock.operations.internal;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireReport.NodeVote;
import dev.redlock.AcquireReport.Vote;
import dev.redlock.AcquireVerdict;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.internal.operations.OperatorClient;
import dev.redlock.internal.sets.Members;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** How requests of operators fail. */
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
