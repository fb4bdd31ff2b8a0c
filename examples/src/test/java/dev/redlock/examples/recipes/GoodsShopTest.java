package dev.redlock.examples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.examples.fencing.RedisStock;
import dev.redlock.examples.recipes.GoodsShop.Answer;
import dev.redlock.harness.RedisClusterNodes;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.sync.RedisClusterCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class GoodsShopTest {
  private static RedisClusterNodes cluster;
  private static RedisClusterClient client;
  private static RedisClusterCommands<String, String> redis;
  private static List<Redlock> clients;

  @BeforeAll
  static void start() {
    // Masters that were paused for a moment must not declare each other failed.
    cluster = RedisClusterNodes.builder().replicas(0).nodeTimeout(Duration.ofSeconds(15)).start();
    client = Recipes.clusterClient(cluster);
    redis = client.connect().sync();
    clients = List.of(connect(), connect());
  }

  private static Redlock connect() {
    return Clients.ready(
        Redlock.builder().nodes(ClusterLockNode.connect(cluster.uris().toArray(String[]::new))));
  }

  @AfterAll
  static void stop() {
    clients.forEach(Redlock::close);
    client.shutdown();
    cluster.close();
  }

  @Test
  void buy_ofManyAtTwoServers_sellsEachPieceOnceAndAllOfThem() throws Exception {
    int pieces = 5;
    List<String> articles = List.of("41", "42", "43");
    articles.forEach(article -> new RedisStock(redis, article).fill(pieces));
    List<Callable<Answer>> buyers = new ArrayList<>();
    for (int i = 0; i < 48; i++) {
      GoodsShop shop = new GoodsShop(clients.get(i % 2), redis, 100, Duration.ofSeconds(60));
      String article = articles.get(i % articles.size());
      String buyer = "buyer " + i;
      buyers.add(() -> shop.buy(article, buyer));
    }

    List<Answer> answers = Recipes.inParallel(buyers);

    assertThat(Collections.frequency(answers, Answer.SOLD)).isEqualTo(pieces * articles.size());
    assertThat(Collections.frequency(answers, Answer.BUSY)).isZero();
    for (String article : articles) {
      RedisStock stock = new RedisStock(redis, article);
      assertThat(stock.readUnchecked()).isZero();
      assertThat(stock.book()).hasSize(pieces).doesNotHaveDuplicates();
    }
  }

  @Test
  void buy_whenTheQueueIsFull_saysBusyAtOnce() throws Exception {
    new RedisStock(redis, "44").fill(10);
    int bound = 2;
    GoodsShop shop = new GoodsShop(clients.get(0), redis, bound, Duration.ofSeconds(60));
    Lease held = clients.get(1).lock("buy_{44}").acquire(Duration.ofSeconds(60));
    List<CompletableFuture<Answer>> buyers = new ArrayList<>();
    for (int i = 0; i < bound + 3; i++) {
      String buyer = "buyer " + i;
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      Thread thread = new Thread(() -> answer.complete(shop.buy("44", buyer)));
      thread.start();
      buyers.add(answer);
    }

    // All buyers that are not in the queue have their reply while the lock is still held.
    long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (buyers.stream().filter(CompletableFuture::isDone).count() < 3) {
      assertThat(System.nanoTime() - deadline).as("three of five get an answer").isNegative();
      Thread.sleep(5);
    }
    assertThat(held.isValid()).isTrue();
    held.close();
    List<Answer> answers = new ArrayList<>();
    for (CompletableFuture<Answer> buyer : buyers) {
      answers.add(buyer.get(60, TimeUnit.SECONDS));
    }
    assertThat(Collections.frequency(answers, Answer.BUSY)).isEqualTo(3);
    assertThat(Collections.frequency(answers, Answer.SOLD)).isEqualTo(bound);
  }

  @Test
  void nameAndStock_ofAnArticle_shareASlot() {
    assertThat(SlotHash.getSlot("buy_{42}"))
        .isEqualTo(SlotHash.getSlot("stock:{42}"))
        .isNotEqualTo(SlotHash.getSlot("buy_{43}"));
  }
}
