package dev.redlock.examples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.examples.recipes.Recipes.RacyAccounts;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.vertx.RedlockOptions;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class AccountServerTest {
  private final HttpClient http = HttpClient.newHttpClient();
  private RedisNodes nodes;
  private Vertx vertx;

  @BeforeEach
  void start() {
    nodes = RedisNodes.start(3);
    vertx = Vertx.vertx();
  }

  @AfterEach
  void stop() throws Exception {
    get(vertx.close());
    nodes.close();
  }

  @Test
  void requests_forTwoUsersAtTwoServers_areAllAddedUp() throws Exception {
    RacyAccounts accounts = new RacyAccounts(vertx);
    List<Integer> ports = List.of(serve(accounts), serve(accounts));
    List<CompletableFuture<HttpResponse<String>>> replies = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      replies.add(add(ports.get(i % 2), "u" + i / 2 % 2, 1));
    }

    for (CompletableFuture<HttpResponse<String>> reply : replies) {
      assertThat(reply.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    }
    assertThat(accounts.points()).isEqualTo(Map.of("u0", 20, "u1", 20));
  }

  @Test
  void request_ofAnotherUser_isServedWhileTheFirstUserIsBusy() throws Exception {
    Map<String, Promise<Void>> open = new ConcurrentHashMap<>();
    open.put("slow", Promise.promise());
    AccountServer.Accounts accounts =
        new AccountServer.Accounts() {
          @Override
          public Future<Integer> read(String user, long token) {
            Promise<Void> gate = open.get(user);
            return gate == null ? Future.succeededFuture(0) : gate.future().map(opened -> 0);
          }

          @Override
          public Future<Void> write(String user, int points, long token) {
            return Future.succeededFuture();
          }
        };
    int port = serve(accounts);
    CompletableFuture<HttpResponse<String>> slow = add(port, "slow", 1);

    assertThat(add(port, "quick", 1).get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    assertThat(slow).isNotDone();
    open.get("slow").complete();
    assertThat(slow.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
  }

  private int serve(AccountServer.Accounts accounts) throws Exception {
    VertxRedlock redlock =
        get(
            VertxRedlock.connect(
                vertx, new RedlockOptions().setNodes(nodes.uris()).setRestartGuard("off")));
    return get(new AccountServer(vertx, redlock, accounts).listen(0)).actualPort();
  }

  private CompletableFuture<HttpResponse<String>> add(int port, String user, int points) {
    URI uri = URI.create("http://127.0.0.1:" + port + "/users/" + user + "/points?add=" + points);
    return http.sendAsync(
        HttpRequest.newBuilder(uri).POST(HttpRequest.BodyPublishers.noBody()).build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }
}
