package dev.redlock.vertx;

import dev.redlock.Redlock;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.healthchecks.Status;
import java.util.List;

/** A procedure for {@code vertx-health-check}, which must be on the class path. */
public final class RedlockHealth {
  private RedlockHealth() {}

  /**
   * OK while a quorum of the configured nodes votes, so that new leases can be had. The data tells
   * the state of each node. Sends nothing.
   */
  public static Handler<Promise<Status>> procedure(VertxRedlock redlock) {
    return promise -> promise.complete(status(redlock.redlock().nodes()));
  }

  private static Status status(List<Redlock.NodeState> nodes) {
    int quorum = nodes.size() / 2 + 1;
    int voting = 0;
    JsonArray states = new JsonArray();
    for (Redlock.NodeState node : nodes) {
      if (node.state().equals("VOTING")) {
        voting++;
      }
      states.add(
          new JsonObject()
              .put("node", node.node())
              .put("state", node.state())
              .put("remainingMillis", node.remaining().toMillis())
              .put("cause", node.cause())
              .put("pendingCleanups", node.pendingCleanups()));
    }
    JsonObject data =
        new JsonObject().put("voting", voting).put("quorum", quorum).put("nodes", states);
    return voting >= quorum ? Status.OK(data) : Status.KO(data);
  }
}
