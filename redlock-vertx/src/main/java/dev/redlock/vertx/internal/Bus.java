package dev.redlock.vertx.internal;

import dev.redlock.vertx.RedlockOptions;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.JsonObject;
import java.util.UUID;

/**
 * One event loop's view of the event bus. It belongs to Vert.x and to no verticle: a consumer that
 * was registered by a verticle would go with it.
 */
final class Bus {
  private static final String ORIGIN = "redlock-origin";

  private final Vertx vertx;
  private final Context context;
  private final String origin = UUID.randomUUID().toString();
  private final DeliveryOptions delivery;
  private final boolean localOnly;

  Bus(Vertx vertx, RedlockOptions options) {
    this.vertx = vertx;
    context = Inside.eventLoopContext(vertx);
    Boolean given = options.getLocalOnly();
    localOnly = given != null ? given : !vertx.isClustered();
    delivery = new DeliveryOptions().setLocalOnly(localOnly).addHeader(ORIGIN, origin);
  }

  /** Runs the task on the event loop, in order. */
  void run(Runnable task) {
    context.runOnContext(nothing -> task.run());
  }

  /** Runs the task on the event loop later. Only from there. */
  void later(long delayMillis, Runnable task) {
    vertx.setTimer(delayMillis, id -> task.run());
  }

  /** To all who listen, and to nobody in particular. Only from the event loop. */
  void publish(String address, JsonObject body) {
    vertx.eventBus().publish(address, body, delivery);
  }

  /** Only from the event loop. */
  MessageConsumer<Object> consumer(String address, Handler<Message<Object>> handler) {
    return localOnly
        ? vertx.eventBus().localConsumer(address, handler)
        : vertx.eventBus().consumer(address, handler);
  }

  boolean isOwn(Message<?> message) {
    return origin.equals(message.headers().get(ORIGIN));
  }
}
