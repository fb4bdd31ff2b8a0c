package dev.redlock.vertx.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.vertx.RedlockOptions;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Creates clients. */
public final class Clients {
  private Clients() {}

  /** A client of the core, and its threads if it is not the user's. */
  record Built(Redlock redlock, @Nullable LoopTime time) {}

  /** Creates a client that the returned object owns and closes. */
  public static VertxRedlock create(
      Vertx vertx, RedlockOptions options, Consumer<RedlockBuilder> customizer) {
    return start(vertx, options, customizer);
  }

  /** The same, when its first quorum of nodes votes. Never throws. */
  public static Future<VertxRedlock> connect(
      Vertx vertx, RedlockOptions options, Consumer<RedlockBuilder> customizer) {
    try {
      DefaultVertxRedlock client = start(vertx, options, customizer);
      return client
          .ready()
          .map((VertxRedlock) client)
          .onFailure(failure -> client.close()); // The caller has no object to close.
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  private static DefaultVertxRedlock start(
      Vertx vertx, RedlockOptions options, Consumer<RedlockBuilder> customizer) {
    requireNonNull(vertx, "vertx");
    requireNonNull(customizer, "customizer");
    RedlockOptions o = new RedlockOptions(requireNonNull(options, "options"));
    o.lockOptions();
    o.guard();
    ColdThread cold = new ColdThread();
    DefaultVertxRedlock client =
        new DefaultVertxRedlock(
            vertx,
            CompletableFuture.supplyAsync(() -> build(vertx, o, customizer), cold),
            cold,
            o.getCloseGraceMillis());
    client.joinVertx();
    return client;
  }

  private static Built build(Vertx vertx, RedlockOptions o, Consumer<RedlockBuilder> customizer) {
    LoopTime time = new LoopTime();
    try {
      RedlockBuilder builder =
          Redlock.builder()
              .defaults(o.lockOptions())
              .keyPrefix(o.getKeyPrefix())
              .restartGuard(o.guard())
              .time(time)
              .callbackExecutor(time);
      if (!o.getLabel().isEmpty()) {
        builder.label(o.getLabel());
      }
      Long maxLeaseTime = o.getMaxLeaseTimeMillis();
      if (maxLeaseTime != null) {
        builder.maxLeaseTime(Duration.ofMillis(maxLeaseTime));
      }
      if (!o.getReleaseHints().equals("never")) {
        builder.hints(new BusHints(vertx, o));
      }
      ConfiguredNodes.of(o).forEach(builder::nodes);
      customizer.accept(builder);
      return new Built(builder.build(), time);
    } catch (RuntimeException | Error e) {
      time.close();
      throw e;
    }
  }

  /** Wraps a client that the caller owns and closes. */
  public static VertxRedlock wrap(Vertx vertx, Redlock redlock) {
    DefaultVertxRedlock client =
        new DefaultVertxRedlock(
            requireNonNull(vertx, "vertx"),
            CompletableFuture.completedFuture(new Built(requireNonNull(redlock, "redlock"), null)),
            new ColdThread(),
            new RedlockOptions().getCloseGraceMillis());
    client.joinVertx();
    return client;
  }
}
