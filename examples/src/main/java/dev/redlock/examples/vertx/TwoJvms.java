package dev.redlock.examples.vertx;

import dev.redlock.testkit.ForkedJvm;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.vertx.RedlockOptions;
import dev.redlock.vertx.VertxLease;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Two JVMs with a clustered event bus take turns under one lock: what one releases, the other hears
 * of on the bus.
 */
public final class TwoJvms {
  private static final int TURNS = 10;
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private TwoJvms() {}

  /** Starts three masters and the two JVMs, and ends with them. */
  public static void main(String[] args) {
    try (RedisNodes nodes = RedisNodes.start(3);
        ForkedJvm left = shop("left", nodes);
        ForkedJvm right = shop("right", nodes)) {
      left.awaitExit(PATIENCE);
      right.awaitExit(PATIENCE);
    }
  }

  private static ForkedJvm shop(String name, RedisNodes nodes) {
    return ForkedJvm.of(Shop.class)
        .name(name)
        .args(name, String.join(",", nodes.uris()))
        .onLine(line -> System.out.println(name + ": " + line))
        .start();
  }

  /** One of the two. */
  static final class Shop {
    private Shop() {}

    public static void main(String[] args) throws InterruptedException {
      CountDownLatch done = new CountDownLatch(1);
      Loopback.clustered()
          .compose(vertx -> run(vertx, args[0], List.of(args[1].split(","))))
          .onFailure(Throwable::printStackTrace)
          .onComplete(result -> done.countDown());
      done.await();
      System.exit(0);
    }

    private static Future<Void> run(Vertx vertx, String name, List<String> nodes) {
      RedlockOptions options =
          new RedlockOptions()
              .setNodes(nodes)
              .setRestartGuard("off") // These masters are new; real ones keep the guard.
              .setEventAddress(Dashboard.ADDRESS);
      VertxRedlock redlock = VertxRedlock.create(vertx, options);
      Future<?> dashboard =
          name.equals("left")
              ? vertx.deployVerticle(new Dashboard())
              : Future.succeededFuture("only one");
      return dashboard
          .compose(deployed -> turn(vertx, redlock, TURNS))
          .compose(over -> vertx.close());
    }

    private static Future<Void> turn(Vertx vertx, VertxRedlock redlock, int left) {
      if (left == 0) {
        return Future.succeededFuture();
      }
      return redlock
          .withLock("till", PATIENCE, lease -> count(vertx, lease))
          .compose(counted -> vertx.timer(200)) // Something else to do.
          .compose(rested -> turn(vertx, redlock, left - 1));
    }

    private static Future<Void> count(Vertx vertx, VertxLease lease) {
      System.out.println("counts the till with token " + lease.fencingToken());
      return vertx.timer(100).mapEmpty();
    }
  }
}
