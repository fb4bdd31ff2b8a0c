package dev.redlock.vertx.internal;

import static dev.redlock.vertx.internal.Log.log;

import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;

/**
 * The event bus, used from one event loop. The event loop belongs to no verticle: Vert.x would
 * unregister a consumer together with the verticle that registered it. After Vert.x has closed, all
 * methods do nothing.
 */
final class Bus {
  private static final long FIRST_RETRY_MILLIS = 500;
  private static final long LONGEST_RETRY_MILLIS = 30_000;

  private final Vertx vertx;
  private final Context context;
  private final String id = UUID.randomUUID().toString();

  /** By address. Changed by the thread that registers, and by close. */
  private final Map<String, MessageConsumer<Object>> consumers = new ConcurrentHashMap<>();

  /** Written once by close, read by any thread. */
  private volatile boolean closed;

  /** Called on a thread that may load classes, as the first message and consumer do. */
  Bus(Vertx vertx) {
    this.vertx = vertx;
    context = Inside.eventLoopContext(vertx);
    if (!Inside.isClosing(vertx)) {
      loadClasses();
    }
  }

  private void loadClasses() {
    JsonObject sample = new JsonObject().put("v", 1);
    if (vertx.isClustered()) { // Jackson, which is optional, encodes messages to other members.
      sample = new JsonObject(sample.toBuffer());
    }
    vertx.eventBus().publish(id + ".none", sample);
  }

  /** A random name of this client on the bus. */
  String id() {
    return id;
  }

  /** Runs the task on the event loop. Tasks run in the order of the calls. */
  void run(Runnable task) {
    try {
      context.runOnContext(nothing -> task.run());
    } catch (RejectedExecutionException e) {
      log.debug("Vert.x has closed, and with it the event bus");
    }
  }

  /** Runs the task on the event loop after the delay. Called on the event loop only. */
  void later(long delayMillis, Runnable task) {
    if (!Inside.isClosing(vertx)) {
      vertx.setTimer(delayMillis, id -> task.run());
    }
  }

  /** Sends to all members with a consumer at this address. Called on the event loop only. */
  void publish(String address, JsonObject body) {
    if (!Inside.isClosing(vertx)) {
      vertx.eventBus().publish(address, body);
    }
  }

  /** Sends to one consumer at this address. Called on the event loop only. */
  void send(String address, JsonObject body) {
    if (!Inside.isClosing(vertx)) {
      vertx.eventBus().send(address, body);
    }
  }

  /**
   * Registers a consumer, and tries again if the cluster does not accept it. The handler is called
   * on the event loop of this object. Not called on an event loop: a cluster manager may work on
   * the calling thread (Infinispan does, for 100 ms the first time).
   */
  void consume(String address, Handler<Message<Object>> handler) {
    consume(address, message -> run(() -> handler.handle(message)), FIRST_RETRY_MILLIS);
  }

  private void consume(String address, Handler<Message<Object>> handler, long retryMillis) {
    if (closed || Inside.isClosing(vertx)) {
      return;
    }
    MessageConsumer<Object> consumer = vertx.eventBus().consumer(address, handler);
    consumers.put(address, consumer);
    if (closed) {
      consumer.unregister();
    }
    consumer
        .completion()
        .onFailure(
            failure -> {
              if (!closed && !Inside.isClosing(vertx)) {
                log.warn(
                    "the event bus did not register a consumer at {}; the next try is in {} ms,"
                        + " and no release hint arrives there before",
                    address,
                    retryMillis,
                    failure);
                consumer.unregister();
                long next = Math.min(2 * retryMillis, LONGEST_RETRY_MILLIS);
                run(() -> later(retryMillis, () -> consume(address, handler, next)));
              }
            });
  }

  /** Unregisters all consumers. Not called on an event loop, for the same reason. */
  void close() {
    closed = true;
    if (!Inside.isClosing(vertx)) {
      consumers.values().forEach(MessageConsumer::unregister);
    }
    consumers.clear();
  }
}
