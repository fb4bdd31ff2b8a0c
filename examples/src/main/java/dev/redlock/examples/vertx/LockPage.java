package dev.redlock.examples.vertx;

import dev.redlock.harness.ForkedJvm;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.vertx.RedlockOptions;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.bridge.PermittedOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.handler.sockjs.SockJSBridgeOptions;
import io.vertx.ext.web.handler.sockjs.SockJSHandler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * A clustered application with a web page that shows live who holds which lock. Each member
 * publishes the life-cycle events of its leases on the event bus, and the bridge of Vert.x Web
 * brings them to the browser.
 */
public final class LockPage {
  static final List<String> NAMES = List.of("cellar", "till", "van");
  private static final int PORT = 8_090;
  private static final String PAGE = "dev/redlock/examples/vertx/locks.html";
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private LockPage() {}

  /** Starts three masters, two JVMs that work, and the page; runs until it is stopped. */
  public static void main(String[] args) throws InterruptedException {
    try (RedisNodes nodes = RedisNodes.start(3);
        ForkedJvm left = shop("left", nodes);
        ForkedJvm right = shop("right", nodes)) {
      left.awaitExit(Duration.ofDays(1));
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

  /** One of the two JVMs; the left one also serves the page. */
  static final class Shop {
    private Shop() {}

    public static void main(String[] args) throws InterruptedException {
      Loopback.clustered()
          .compose(
              vertx ->
                  work(vertx, args[0], List.of(args[1].split(",")))
                      .compose(
                          working ->
                              args[0].equals("left")
                                  ? serve(vertx, PORT).onSuccess(Shop::invite)
                                  : Future.succeededFuture()))
          .onFailure(
              failure -> {
                failure.printStackTrace();
                System.exit(1);
              });
      new CountDownLatch(1).await();
    }

    private static void invite(HttpServer server) {
      System.out.println(
          "open http://127.0.0.1:" + server.actualPort() + "/ and stop this with Ctrl-C");
    }
  }

  /** Serves the page on the loopback interface; 0 takes a free port. */
  static Future<HttpServer> serve(Vertx vertx, int port) {
    Router router = Router.router(vertx);
    // The page may receive the events, and may send nothing.
    SockJSBridgeOptions bridge =
        new SockJSBridgeOptions()
            .addOutboundPermitted(new PermittedOptions().setAddress(Dashboard.ADDRESS));
    router.route("/eventbus/*").subRouter(SockJSHandler.create(vertx).bridge(bridge));
    router
        .get("/")
        .handler(
            request ->
                request
                    .response()
                    .putHeader("Content-Type", "text/html; charset=utf-8")
                    .sendFile(PAGE));
    return vertx.createHttpServer().requestHandler(router).listen(port, "127.0.0.1");
  }

  /** Takes each lock again and again, for a second at a time. */
  static Future<VertxRedlock> work(Vertx vertx, String member, List<String> nodes) {
    RedlockOptions options =
        new RedlockOptions()
            .setNodes(nodes)
            // These masters are new and have forgotten nothing; keep the guard in production.
            .setRestartGuard("off")
            .setLeaseTimeMillis(3_000)
            .setEventAddress(Dashboard.ADDRESS)
            .setMemberName(member);
    return VertxRedlock.connect(vertx, options)
        .onSuccess(
            redlock -> {
              for (String name : NAMES) {
                turn(vertx, redlock, name);
              }
            });
  }

  private static void turn(Vertx vertx, VertxRedlock redlock, String name) {
    long millis = 600 + 300L * NAMES.indexOf(name);
    redlock
        .withLock(name, PATIENCE, lease -> vertx.timer(millis)) // Simulates work.
        .compose(worked -> vertx.timer(millis / 3))
        .onSuccess(rested -> turn(vertx, redlock, name));
  }
}
