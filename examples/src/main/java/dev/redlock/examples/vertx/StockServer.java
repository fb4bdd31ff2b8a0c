package dev.redlock.examples.vertx;

import dev.redlock.examples.fencing.SqlStock;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;

/**
 * A web handler that takes one lock per item, and passes the fencing token to the database: {@code
 * POST /take/{item}} replies what is left. Run it on as many hosts as you like.
 */
final class StockServer {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Vertx vertx;
  private final VertxRedlock redlock;
  private final SqlStock stock;

  StockServer(Vertx vertx, VertxRedlock redlock, SqlStock stock) {
    this.vertx = vertx;
    this.redlock = redlock;
    this.stock = stock;
  }

  Future<HttpServer> listen(int port) {
    Router router = Router.router(vertx);
    router.post("/take/:item").handler(this::take);
    return vertx.createHttpServer().requestHandler(router).listen(port, "127.0.0.1");
  }

  private void take(RoutingContext request) {
    String item = request.pathParam("item");
    redlock
        .withLock(
            "stock:" + item,
            PATIENCE,
            lease ->
                // JDBC blocks, so this runs on a worker thread.
                vertx.executeBlocking(() -> takeOne(item, lease.fencingToken().value())))
        .onSuccess(left -> request.response().setStatusCode(left < 0 ? 409 : 200).end("" + left))
        // The lock could not be acquired, or the lease ended before the work: nothing is promised.
        .onFailure(failure -> request.response().setStatusCode(503).end());
  }

  private int takeOne(String item, long token) throws Exception {
    int amount = stock.read(item, token);
    if (amount > 0) {
      stock.write(item, amount - 1, token);
    }
    return amount - 1;
  }
}
