package dev.redlock.examples.recipes;

import dev.redlock.LockQueueFullException;
import dev.redlock.LockTimeoutException;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;

/**
 * A web handler that works on one request per user at a time, on as many hosts as you like: {@code
 * POST /users/{id}/points?add=5} replies the new sum. Requests of different users run at the same
 * time. The account is behind two calls, one that reads and one that writes, like a service that
 * has no transactions.
 */
final class AccountServer {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** A service without transactions that checks tokens. */
  interface Accounts {
    Future<Integer> read(String user, long token);

    Future<Void> write(String user, int points, long token);
  }

  private final Vertx vertx;
  private final VertxRedlock redlock;
  private final Accounts accounts;

  AccountServer(Vertx vertx, VertxRedlock redlock, Accounts accounts) {
    this.vertx = vertx;
    this.redlock = redlock;
    this.accounts = accounts;
  }

  Future<HttpServer> listen(int port) {
    Router router = Router.router(vertx);
    router.post("/users/:id/points").handler(this::add);
    return vertx.createHttpServer().requestHandler(router).listen(port, "127.0.0.1");
  }

  private void add(RoutingContext request) {
    String user = request.pathParam("id");
    int added = Integer.parseInt(request.queryParam("add").get(0));
    redlock
        .withLock(
            "user:" + user,
            PATIENCE,
            lease -> {
              long token = lease.fencingToken().value();
              return accounts
                  .read(user, token)
                  .compose(
                      points ->
                          accounts
                              .write(user, points + added, token)
                              .map(written -> points + added));
            })
        .onSuccess(points -> request.response().end(String.valueOf(points)))
        .onFailure(failure -> refuse(request, failure));
  }

  private static void refuse(RoutingContext request, Throwable failure) {
    boolean busy =
        failure instanceof LockTimeoutException || failure instanceof LockQueueFullException;
    // 429: this user sends too much. 503: no quorum, or the lease ended before the write.
    request.response().setStatusCode(busy ? 429 : 503).putHeader("Retry-After", "1").end();
  }
}
