package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.ForkedJvm;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The first calls of a new JVM, all of them on one event loop. */
@RedisTest(nodes = 3)
class ColdStartIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Test
  void everyCall_onAnEventLoopOfANewJvm_blocksItForLessThanFiftyMillis(RedisNodes nodes) {
    try (ForkedJvm jvm = ForkedJvm.start(Cold.class, String.join(",", nodes.uris()))) {
      String longest = jvm.awaitLine(line -> line.startsWith("longest "), PATIENCE);
      System.out.println("cold start: " + longest);
      assertThat(jvm.awaitExit(PATIENCE)).as(longest).isZero();
    }
  }

  @Test
  void main_returnsAfterConnect_theProcessLivesAndDeploys(RedisNodes nodes) {
    try (ForkedJvm jvm = ForkedJvm.start(BriefMain.class, String.join(",", nodes.uris()))) {
      jvm.awaitLine(line -> line.equals("deployed"), PATIENCE);
      assertThat(jvm.isAlive()).isTrue();
    }
  }

  /** Its main method returns before the client has connected, as the programs of users do. */
  static final class BriefMain {
    private BriefMain() {}

    public static void main(String[] args) {
      Vertx vertx = Vertx.vertx();
      RedlockOptions options =
          new RedlockOptions().setNodes(List.of(args[0].split(","))).setRestartGuard("off");
      VertxRedlock.connect(vertx, options)
          .compose(redlock -> vertx.deployVerticle(new VerticleBase() {}))
          .onSuccess(id -> System.out.println("deployed"));
    }
  }

  /** Measures each call: the CPU time of the event loop, which a busy machine does not lengthen. */
  static final class Cold {
    private static final java.lang.management.ThreadMXBean THREADS =
        java.lang.management.ManagementFactory.getThreadMXBean();

    private Cold() {}

    private static long longest;
    private static String longestCall = "";

    private interface Call<T> {
      T run();
    }

    private static <T> T timed(String what, Call<T> call) {
      long start = THREADS.getCurrentThreadCpuTime();
      T result = call.run();
      long took = THREADS.getCurrentThreadCpuTime() - start;
      if (took > longest) {
        longest = took;
        longestCall = what;
      }
      return result;
    }

    public static void main(String[] args) throws Exception {
      List<String> uris = List.of(args[0].split(","));
      Vertx vertx = Vertx.vertx(CheckedVertx.options());
      Promise<Void> done = Promise.promise();
      vertx.runOnContext(nothing -> calls(vertx, uris).onComplete(done));
      try {
        done.future().toCompletionStage().toCompletableFuture().get(50, TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        System.out.println("longest unknown: " + e);
        System.exit(2);
      }
      System.out.println("longest " + longest / 1_000 + " µs in " + longestCall);
      System.exit(longest < 50_000_000 ? 0 : 1);
    }

    private static Future<Void> calls(Vertx vertx, List<String> uris) {
      RedlockOptions options =
          timed(
              "options",
              () ->
                  new RedlockOptions()
                      .setNodes(uris)
                      .setRestartGuard("off")
                      .setNodeTimeoutMillis(1_000)
                      .setReleaseHints("always"));
      VertxRedlock redlock = timed("create", () -> VertxRedlock.create(vertx, options));
      Future<Void> early =
          timed("early withLock", () -> redlock.withLock("a", PATIENCE, lease -> lease.extend()));
      return early
          .compose(done -> timed("acquire", () -> redlock.acquire("b", PATIENCE)))
          .compose(lease -> timed("release", lease::release))
          .compose(
              released ->
                  timed(
                      "deploy",
                      () ->
                          vertx.deployVerticle(
                              LockedVerticle.builder(redlock, "job", () -> new VerticleBase() {})
                                  .build())))
          .compose(deployed -> vertx.timer(200).map(deployed))
          .compose(id -> timed("undeploy", () -> vertx.undeploy(id)))
          .compose(undeployed -> timed("close", redlock::close));
    }
  }
}
