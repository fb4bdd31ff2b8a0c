package dev.redlock.examples.vertx;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.json.JsonObject;

/** Prints the life-cycle events of all leases in the Vert.x cluster. */
final class Dashboard extends VerticleBase {
  static final String ADDRESS = "redlock.events";

  @Override
  public Future<?> start() {
    return vertx
        .eventBus()
        .<JsonObject>consumer(ADDRESS, message -> show(message.body()))
        .completion();
  }

  private static void show(JsonObject event) {
    String more =
        switch (event.getString("type", "")) {
          case "acquired" -> "after " + event.getLong("waitedMillis") + " ms";
          case "extended" -> event.getInteger("repaired") + " nodes repaired";
          case "extendFailed" -> event.getLong("remainingMillis") + " ms of validity left";
          case "released", "lost" -> event.getString("end");
          case "refused" -> event.getString("report");
          default -> "";
        };
    System.out.printf(
        "dashboard: %s %s token %s %s%n",
        event.getJsonArray("names"), event.getString("type"), event.getLong("token"), more);
  }
}
