package dev.redlock.vertx;

import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryContext;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.json.JsonObject;
import java.util.concurrent.atomic.LongAdder;

/** What is wrong with the event bus. */
enum BusFault {
  NONE {
    @Override
    void on(Vertx vertx) {}
  },
  /** Nothing arrives. */
  DROPS {
    @Override
    void on(Vertx vertx) {
      vertx.eventBus().addOutboundInterceptor((DeliveryContext<Object> delivery) -> {});
    }
  },
  /** Everything arrives twice. */
  DOUBLES {
    @Override
    void on(Vertx vertx) {
      vertx
          .eventBus()
          .<JsonObject>consumer(
              ADDRESS,
              m -> {
                if (!m.headers().contains("doubled")) {
                  DeliveryOptions again = new DeliveryOptions().addHeader("doubled", "yes");
                  vertx.eventBus().publish(ADDRESS, m.body(), again);
                }
              });
    }
  },
  /** Ten thousand messages a second that nobody of ours has sent. */
  FLOODS {
    @Override
    void on(Vertx vertx) {
      vertx.setPeriodic(
          10,
          id -> {
            for (int i = 0; i < 100; i++) {
              vertx.eventBus().publish(ADDRESS, forged(i));
            }
            FORGED.add(100);
          });
    }
  };

  /** How many forged ones were sent in all. */
  static final LongAdder FORGED = new LongAdder();

  static final String ADDRESS = "redlock.released";

  abstract void on(Vertx vertx);

  /** Nonsense, names nobody waits for, and names that somebody does wait for. */
  static Object forged(int i) {
    return switch (i % 5) {
      case 0 -> "nonsense";
      case 1 -> new JsonObject().put("v", "1").put("name", 7);
      case 2 -> notice("other" + i);
      case 3 -> notice("job");
      default -> notice("a");
    };
  }

  private static JsonObject notice(String name) {
    return new JsonObject()
        .put("v", 1)
        .put("type", "released")
        .put("name", name)
        .put("mode", "quorum")
        .put("token", 1L)
        .put("at", 1L);
  }
}
