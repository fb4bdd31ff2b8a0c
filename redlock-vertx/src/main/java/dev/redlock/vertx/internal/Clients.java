package dev.redlock.vertx.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.vertx.RedlockOptions;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.function.Consumer;

/** Puts clients together. */
public final class Clients {
  private Clients() {}

  /** A client of its own. */
  public static VertxRedlock create(
      Vertx vertx, RedlockOptions options, Consumer<RedlockBuilder> customizer) {
    requireNonNull(vertx, "vertx");
    RedlockOptions o = new RedlockOptions(options);
    LoopTime time = new LoopTime();
    try {
      RedlockBuilder builder =
          Redlock.builder()
              .defaults(o.lockOptions())
              .keyPrefix(o.getKeyPrefix())
              .restartGuard(o.guard())
              .time(time)
              .callbackExecutor(time);
      Long maxLeaseTime = o.getMaxLeaseTimeMillis();
      if (maxLeaseTime != null) {
        builder.maxLeaseTime(Duration.ofMillis(maxLeaseTime));
      }
      if (o.getReleaseAddress() != null) {
        builder.hints(new BusHints(vertx, o));
      }
      if (o.getEventAddress() != null) {
        builder.listener(new BusEvents(vertx, o));
      }
      LettuceNodes.standalone(o.getNodes()).forEach(builder::node);
      customizer.accept(builder);
      DefaultVertxRedlock client = new DefaultVertxRedlock(vertx, builder.build(), time);
      client.closeWithVertx();
      return client;
    } catch (RuntimeException e) {
      time.close();
      throw e;
    }
  }

  /** Another's client. */
  public static VertxRedlock wrap(Vertx vertx, Redlock redlock) {
    DefaultVertxRedlock client =
        new DefaultVertxRedlock(
            requireNonNull(vertx, "vertx"), requireNonNull(redlock, "redlock"), null);
    client.closeWithVertx();
    return client;
  }
}
