package dev.redlock.vertx.internal;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.RedlockListener;
import dev.redlock.vertx.RedlockOptions;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the life-cycle events of leases, for dashboards and other verticles. Never publishes a
 * lease id.
 */
public final class BusEvents implements RedlockListener {
  private final Bus bus;
  private final String address;
  private final String member;

  public BusEvents(Vertx vertx, RedlockOptions options) {
    bus = new Bus(vertx, options);
    String given = options.getEventAddress();
    if (given == null) {
      throw new IllegalArgumentException("eventAddress must not be null: events need an address");
    }
    address = given;
    String name = options.getMemberName();
    member = name != null ? name : bus.id();
  }

  @Override
  public void onAcquired(Lease lease, Duration waited) {
    publish(event("acquired", lease).put("waitedMillis", waited.toMillis()));
  }

  @Override
  public void onExtended(Lease lease, int repaired) {
    publish(event("extended", lease).put("repaired", repaired));
  }

  @Override
  public void onExtendFailed(Lease lease, Duration remainingValidity) {
    publish(event("extendFailed", lease).put("remainingMillis", remainingValidity.toMillis()));
  }

  @Override
  public void onEnded(Lease lease, LeaseEnd end, Duration held, Duration validityLeft) {
    publish(event(end.byHolder() ? "released" : "lost", lease).put("end", end.name()));
  }

  @Override
  public void onWaiterLeft(
      Caller caller, AcquireVerdict verdict, Duration waited, @Nullable AcquireReport report) {
    if (report != null) {
      publish(
          event("refused", report.names())
              .put("verdict", report.verdict().name())
              .put("report", report.sentence()));
    }
  }

  private JsonObject event(String type, Lease lease) {
    return event(type, lease.names()).put("token", lease.fencingToken().value());
  }

  private JsonObject event(String type, List<String> names) {
    return new JsonObject()
        .put("v", 1)
        .put("type", type)
        .put("member", member)
        .put("names", new JsonArray(names))
        .put("at", System.currentTimeMillis());
  }

  private void publish(JsonObject event) {
    bus.run(() -> bus.publish(address, event));
  }
}
