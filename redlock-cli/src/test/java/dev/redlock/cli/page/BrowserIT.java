package dev.redlock.cli.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.redlock.cli.look.Json;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.remote.RemoteWebDriver;

/** The page in a real browser, without a window. */
@Timeout(300)
class BrowserIT {
  @TempDir private static Path folder;
  private static Path program;
  private static ChromeDriverService driver;

  private final Board board = new Board();
  private PageServer server;
  private RemoteWebDriver page;

  @BeforeAll
  static void startDriver() throws IOException {
    program = find("chromium", "chromium-browser", "google-chrome");
    driver =
        new ChromeDriverService.Builder()
            .usingDriverExecutable(find("chromedriver").toFile())
            .withEnvironment(Map.of("TMPDIR", folder.toString()))
            .build();
    driver.start();
  }

  @AfterAll
  static void stopDriver() {
    if (driver != null) {
      driver.stop();
    }
  }

  private static Path find(String... names) {
    Optional<Path> found =
        Stream.of(System.getenv("PATH").split(File.pathSeparator))
            .flatMap(place -> Stream.of(names).map(name -> Path.of(place, name)))
            .filter(Files::isExecutable)
            .findFirst();
    assumeTrue(
        found.isPresent(), "no " + names[0] + " on the PATH: the page is not tested in a browser");
    return found.get();
  }

  @BeforeEach
  void serve() throws IOException {
    server =
        new PageServer(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            Set.of("127.0.0.1"),
            board,
            Duration.ofMinutes(1));
  }

  @AfterEach
  void stop() {
    if (page != null) {
      page.quit();
    }
    server.close();
  }

  private void open(String path) {
    ChromeOptions options =
        new ChromeOptions()
            .setBinary(program.toFile())
            .addArguments("--headless=new", "--disable-gpu", "--disable-dev-shm-usage");
    if (System.getProperty("user.name").equals("root")) {
      options.addArguments("--no-sandbox");
    }
    page = new RemoteWebDriver(driver.getUrl(), options);
    page.get("http://127.0.0.1:" + server.port() + path);
  }

  private Object evaluate(String expression) {
    return page.executeScript("return " + expression);
  }

  /** Waits until the text is on the page. */
  private void awaitText(String text) {
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(20))
        .untilAsserted(
            () -> assertThat(evaluate("document.body.innerText").toString()).contains(text));
  }

  private static String lock(String name, String label) {
    long now = System.currentTimeMillis();
    return new Json()
        .put("name", name)
        .put("label", label)
        .put("lease", "0a1b2c3d")
        .put("since", now)
        .put("until", now + 30_000)
        .put("waiting", 2)
        .toString();
  }

  private static String state(int voting, String problem, List<String> locks) {
    List<String> nodes = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      nodes.add(
          new Json()
              .put("node", "redis" + i + ":6379")
              .put("state", i < voting ? "VOTING" : "CONNECTING")
              .putMillis("remaining", Duration.ZERO)
              .put("cause", i < voting ? "" : "DISCONNECTED: Connection refused")
              .put("strip", i < voting ? "VVVV" : "VVCC")
              .put("deployment", i < voting ? "5c0ffee" : null)
              .toString());
    }
    return new Json()
        .put("now", System.currentTimeMillis())
        .putMillis("every", Duration.ofSeconds(60))
        .put("problem", problem)
        .put("voting", voting)
        .put("members", 3)
        .put("needed", 2)
        .putAll("nodes", nodes)
        .putAll("locks", locks)
        .toString();
  }

  @Test
  void locks_withHostileNames_areText() {
    String name = "<script>document.title='x'</script>";
    board.show(state(3, null, List.of(lock(name, "<b>pod</b>"))));
    open("/");
    awaitText("1 held, 2 waiting, 3 of 3 nodes vote");
    awaitText("Nodes of deployment 5c0ffee");
    awaitText(name);
    awaitText("<b>pod</b>");
    assertThat(evaluate("document.title === 'Redlock'")).isEqualTo(true);
  }

  @Test
  void newState_replacesTheOld_withoutAReload() {
    board.show(state(1, null, List.of()));
    open("/");
    awaitText("Too few nodes: 1 of 3 vote, 2 are needed.");
    awaitText("no lock is held");
    board.show(state(1, "locks not listed: too few nodes", List.of()));
    awaitText("locks not listed: too few nodes");
    assertThat(evaluate("document.body.innerText.includes('no lock is held')"))
        .as("unknown is not none")
        .isEqualTo(false);
    board.show(state(3, null, List.of(lock("back", null))));
    awaitText("back");
    assertThat(evaluate("document.body.innerText.includes('locks not listed')")).isEqualTo(false);
  }

  /** A part of the address that cannot be decoded must not stop the page. */
  @Test
  void addressThatNobodyWrote_showsThePage() {
    board.show(state(3, null, List.of(lock("a", null))));
    open("/#%");
    awaitText("1 held");
  }

  @Test
  void pageWithoutItsServer_saysThatItIsOld() {
    board.show(state(3, null, List.of(lock("a", null))));
    open("/");
    awaitText("1 held");
    server.close();
    awaitText("Disconnected from redlock serve since");
  }

  @Test
  void tenThousandLocks_staySearchable() {
    List<String> locks = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      locks.add(lock("order-" + i, "pod-" + i % 7));
    }
    board.show(state(3, null, locks));
    open("/");
    awaitText("the first 200 of 10000");
    Object millis =
        evaluate(
            "(() => { const box = document.getElementById('search'); let most = 0;"
                + " for (const word of ['o', 'or', 'order-12', 'pod-3', '']) {"
                + " const began = performance.now(); box.value = word;"
                + " box.dispatchEvent(new Event('input')); document.body.offsetHeight;"
                + " most = Math.max(most, performance.now() - began); } return most; })()");
    System.out.println("10,000 locks: the slowest of five searches took " + millis + " ms");
    assertThat(((Number) millis).doubleValue()).as("100 ms on a quiet machine").isLessThan(2_000);
    evaluate(
        "(() => { const box = document.getElementById('search'); box.value = 'order-12';"
            + " box.dispatchEvent(new Event('input')); return true; })()");
    awaitText("111 of 10000");
  }
}
