package dev.redlock.examples.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.examples.fencing.SqlStock;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.vertx.RedlockOptions;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two servers sell the same item; like two processes, they share only the nodes and the table. */
class StockServerTest {
  private static final int AMOUNT = 20;
  private static final int REQUESTS = 40;

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  @Test
  @Timeout(120)
  void take_fromTwoServersAtOnce_sellsEachPieceOnce() throws Exception {
    JdbcDataSource database = new JdbcDataSource();
    database.setURL("jdbc:h2:mem:stock-server;DB_CLOSE_DELAY=-1");
    SqlStock stock = new SqlStock(database);
    stock.add("coupon", AMOUNT);
    List<Vertx> all = new ArrayList<>();
    try (RedisNodes nodes = RedisNodes.start(3)) {
      List<Integer> ports = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        Vertx vertx = Vertx.vertx();
        all.add(vertx);
        VertxRedlock redlock =
            get(
                VertxRedlock.connect(
                    vertx, new RedlockOptions().setNodes(nodes.uris()).setRestartGuard("off")));
        ports.add(get(new StockServer(vertx, redlock, stock).listen(0)).actualPort());
      }
      HttpClient http = HttpClient.newHttpClient();
      List<CompletableFuture<HttpResponse<String>>> replies = new ArrayList<>();
      for (int i = 0; i < REQUESTS; i++) {
        URI take = URI.create("http://127.0.0.1:" + ports.get(i % 2) + "/take/coupon");
        replies.add(
            http.sendAsync(
                HttpRequest.newBuilder(take).POST(HttpRequest.BodyPublishers.noBody()).build(),
                HttpResponse.BodyHandlers.ofString()));
      }
      List<String> sold = new ArrayList<>();
      for (CompletableFuture<HttpResponse<String>> reply : replies) {
        HttpResponse<String> response = reply.get(60, TimeUnit.SECONDS);
        if (response.statusCode() == 200) {
          sold.add(response.body());
        }
      }
      assertThat(sold).as("what was left after each sale").doesNotHaveDuplicates();
      assertThat(sold).hasSizeLessThanOrEqualTo(AMOUNT).isNotEmpty();
      assertThat(stock.read("coupon", Long.MAX_VALUE)).isEqualTo(AMOUNT - sold.size());
    } finally {
      for (Vertx vertx : all) {
        get(vertx.close());
      }
    }
  }
}
