package dev.redlock.examples.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.Redlock;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

@Timeout(120)
class ShopApplicationTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  private final PrintStream console = System.out;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

  @BeforeEach
  void capture() {
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
  }

  @AfterEach
  void print() {
    System.setOut(console);
    System.out.print(printed.toString(StandardCharsets.UTF_8));
  }

  @Test
  void shop_withMoreBuyersThanCoupons_sellsEachCouponOnceAndRestocks() {
    SpringApplication application = new SpringApplication(ShopApplication.class);
    application.setRegisterShutdownHook(false);
    try (ConfigurableApplicationContext context =
        application.run(
            "--server.port=0",
            "--logging.level.root=warn",
            "--spring.main.banner-mode=off",
            "--shop.stock=30",
            "--shop.restock-every=1h",
            "--redlock.locked.wait-time=60s")) {
      assertThat(context.getBean(Redlock.class).awaitReady(DEADLINE)).isTrue();
      String shop = "http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port");
      assertThat(printed.toString(StandardCharsets.UTF_8))
          .contains("curl -X POST " + shop + "/coupons/spring\n")
          .contains("curl " + shop + "/actuator/redlock\n");
      context.getBean(Restocking.class).restock();
      assertThat(send("GET", shop + "/coupons/spring").join().body()).isEqualTo("30\n");

      List<CompletableFuture<HttpResponse<String>>> buyers = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        buyers.add(send("POST", shop + "/coupons/spring"));
      }
      List<String> answers = buyers.stream().map(buyer -> buyer.join().body()).toList();
      assertThat(answers).filteredOn(answer -> answer.startsWith("sold, ")).hasSize(30);
      assertThat(answers).filteredOn("sold out\n"::equals).hasSize(10);
      assertThat(answers).filteredOn(answer -> answer.startsWith("sold, ")).doesNotHaveDuplicates();
      assertThat(send("GET", shop + "/coupons/none").join().statusCode()).isEqualTo(404);
      await()
          .atMost(DEADLINE)
          .until(() -> send("GET", shop + "/actuator/health").join().body().contains("VOTING"));
    }
  }

  private static CompletableFuture<HttpResponse<String>> send(String method, String uri) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(uri))
            .method(method, HttpRequest.BodyPublishers.noBody())
            .timeout(DEADLINE)
            .build();
    return HttpClient.newHttpClient().sendAsync(request, HttpResponse.BodyHandlers.ofString());
  }
}
