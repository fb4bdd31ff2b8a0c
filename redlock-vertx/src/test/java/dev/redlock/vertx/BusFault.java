package dev.redlock.vertx;

import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryContext;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.json.JsonObject;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** The faults of the event bus. */
enum BusFault {
  NONE {
    @Override
    void on(Vertx vertx) {}
  },
  /** No message arrives. */
  DROPS {
    @Override
    void on(Vertx vertx) {
      vertx.eventBus().addOutboundInterceptor((DeliveryContext<Object> delivery) -> {});
    }
  },
  /** Every message arrives twice. */
  DOUBLES {
    @Override
    void on(Vertx vertx) {
      DeliveryOptions again = new DeliveryOptions().addHeader("doubled", "yes");
      vertx
          .eventBus()
          .addOutboundInterceptor(
              (DeliveryContext<Object> delivery) -> {
                Message<Object> message = delivery.message();
                if (message.address().startsWith(ADDRESS)
                    && !message.headers().contains("doubled")) {
                  DOUBLED.increment();
                  vertx.eventBus().publish(message.address(), message.body(), again);
                }
                delivery.next();
              });
    }
  },
  /** 10,000 forged messages per second. */
  FLOODS {
    @Override
    void on(Vertx vertx) {
      learn(vertx);
      flood(vertx);
    }
  };

  /** The number of messages that were sent a second time. */
  static final LongAdder DOUBLED = new LongAdder();

  /** The number of forged messages. */
  static final LongAdder FORGED = new LongAdder();

  static final String ADDRESS = "redlock.released";

  abstract void on(Vertx vertx);

  /** Sends 10,000 forged messages per second. */
  private static void flood(Vertx vertx) {
    vertx.setPeriodic(
        10,
        id -> {
          for (int i = 0; i < 100; i++) {
            forge(vertx, i);
          }
          FORGED.add(100);
        });
  }

  /** Sends the forged release hints to the clients that said that they wait. */
  private static final Set<String> WAITING = ConcurrentHashMap.newKeySet();

  private static void learn(Vertx vertx) {
    vertx
        .eventBus()
        .<Object>localConsumer(ADDRESS)
        .handler(
            message -> {
              if (message.body() instanceof JsonObject json && json.getString("to") != null) {
                WAITING.add(json.getString("to"));
              }
            });
  }

  /** Invalid bodies, names without waiters, and names with waiters. */
  private static void forge(Vertx vertx, int i) {
    switch (i % 6) {
      case 0 -> vertx.eventBus().publish(ADDRESS, "nonsense");
      case 1 -> vertx.eventBus().publish(ADDRESS, new JsonObject().put("v", "2").put("name", 7));
      case 2 -> vertx.eventBus().publish(ADDRESS, waiting("other" + i, ADDRESS + ".none" + i));
      case 3 -> vertx.eventBus().publish(ADDRESS, waiting("a", "another.address"));
      case 4 -> WAITING.forEach(to -> vertx.eventBus().send(to, released("job")));
      default -> WAITING.forEach(to -> vertx.eventBus().send(to, released("a")));
    }
  }

  private static JsonObject waiting(String name, String to) {
    return new JsonObject()
        .put("v", 2)
        .put("type", "waiting")
        .put("name", name)
        .put("to", to)
        .put("at", 1L);
  }

  private static JsonObject released(String name) {
    return new JsonObject()
        .put("v", 2)
        .put("type", "released")
        .put("name", name)
        .put("token", 1L)
        .put("at", 1L);
  }
}
