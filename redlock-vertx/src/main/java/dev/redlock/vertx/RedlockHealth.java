package dev.redlock.vertx;

import dev.redlock.Redlock;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.NodeRecord;
import dev.redlock.vertx.internal.DefaultVertxRedlock;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.healthchecks.Status;
import java.util.List;
import java.util.Optional;

/** A health check procedure for {@code vertx-health-check}, which must be on the class path. */
public final class RedlockHealth {
  private RedlockHealth() {}

  /**
   * Returns a procedure that reports OK while a quorum of the configured nodes votes, so that new
   * leases can be granted. The data contains the state of each node. The procedure sends nothing to
   * the nodes.
   */
  public static Handler<Promise<Status>> procedure(VertxRedlock redlock) {
    return promise -> {
      Optional<Redlock> client =
          redlock instanceof DefaultVertxRedlock own ? own.built() : Optional.of(redlock.redlock());
      promise.complete(
          client
              .map(built -> status(built.operations().nodes()))
              .orElseGet(
                  () -> Status.KO(new JsonObject().put("cause", "the client is not built"))));
    };
  }

  private static Status status(List<NodeState> nodes) {
    int quorum = NodeState.members(nodes).size() / 2 + 1;
    int voting = 0;
    JsonArray states = new JsonArray();
    for (NodeState node : nodes) {
      if (node.state() == NodeState.State.VOTING) {
        voting++;
      }
      states.add(
          new JsonObject()
              .put("node", node.node())
              .put("state", node.state().name())
              .put("remainingMillis", node.remaining().toMillis())
              .put("cause", node.cause())
              .put("pendingReleases", node.pendingReleases()));
    }
    JsonObject data =
        new JsonObject().put("voting", voting).put("quorum", quorum).put("nodes", states);
    NodeRecord record = NodeState.newestRecord(nodes);
    if (record != null) {
      data.put("epoch", record.epoch());
    }
    return voting >= quorum ? Status.OK(data) : Status.KO(data);
  }
}
