package dev.redlock.examples.vertx;

import dev.redlock.harness.ForkedJvm;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.vertx.RedlockOptions;
import dev.redlock.vertx.VertxLease;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;

/**
 * Two JVMs with a clustered event bus take turns under one lock. When one releases the lock, the
 * other receives the release hint on the bus.
 */
public final class TwoJvms {
  private static final int TURNS = 10;
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private TwoJvms() {}

  /** Starts three masters and the two JVMs, and ends when they have ended. */
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
        .args(String.join(",", nodes.uris()))
        .onLine(line -> System.out.println(name + ": " + line))
        .start();
  }

  /** One of the two JVMs. */
  static final class Shop {
    private Shop() {}

    public static void main(String[] args) {
      Vertx vertx = Loopback.clustered().await();
      run(vertx, List.of(args[0].split(","))).await();
      // Awaited here, because a future of Vert.x has no thread left to complete on after the close.
      vertx.close().await();
      System.exit(0);
    }

    private static Future<Void> run(Vertx vertx, List<String> nodes) {
      RedlockOptions options =
          new RedlockOptions()
              .setNodes(nodes)
              .setRestartGuard("off"); // New masters have forgotten nothing; else keep the guard.
      return turn(vertx, VertxRedlock.create(vertx, options), TURNS);
    }

    private static Future<Void> turn(Vertx vertx, VertxRedlock redlock, int left) {
      if (left == 0) {
        return Future.succeededFuture();
      }
      return redlock
          .withLock("till", PATIENCE, lease -> count(vertx, lease))
          .compose(counted -> vertx.timer(200)) // Simulates other work.
          .compose(rested -> turn(vertx, redlock, left - 1));
    }

    private static Future<Void> count(Vertx vertx, VertxLease lease) {
      System.out.println("counts the till with token " + lease.fencingToken());
      return vertx.timer(100).mapEmpty();
    }
  }
}
