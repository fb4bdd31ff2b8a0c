package dev.redlock.cli.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.redlock.cli.look.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page in a real browser, without a window. */
@Timeout(300)
class BrowserIT {
  private static Path program;

  @TempDir private Path folder;
  private final Board board = new Board();
  private PageServer server;

  @BeforeAll
  static void findBrowser() {
    Optional<Path> found = Browser.find();
    assumeTrue(found.isPresent(), "no chromium on the PATH: the page is not tested in a browser");
    program = found.get();
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
    server.close();
  }

  private Browser open() throws Exception {
    return new Browser(program, folder, "http://127.0.0.1:" + server.port() + "/");
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
  void locks_withHostileNames_areText() throws Exception {
    String name = "<script>document.title='x'</script>";
    board.show(state(3, null, List.of(lock(name, "<b>pod</b>"))));
    try (Browser page = open()) {
      page.awaitText("1 held, 2 waiting, 3 of 3 nodes vote");
      page.awaitText("Nodes of deployment 5c0ffee");
      page.awaitText(name);
      page.awaitText("<b>pod</b>");
      assertThat(page.evaluate("document.title === 'Redlock'")).isEqualTo("true");
    }
  }

  @Test
  void newState_replacesTheOld_withoutAReload() throws Exception {
    board.show(state(1, null, List.of()));
    try (Browser page = open()) {
      page.awaitText("Too few nodes: 1 of 3 vote, 2 are needed.");
      page.awaitText("no lock is held");
      board.show(state(1, "locks not listed: too few nodes", List.of()));
      page.awaitText("locks not listed: too few nodes");
      assertThat(page.evaluate("document.body.innerText.includes('no lock is held')"))
          .as("unknown is not none")
          .isEqualTo("false");
      board.show(state(3, null, List.of(lock("back", null))));
      page.awaitText("back");
      assertThat(page.evaluate("document.body.innerText.includes('locks not listed')"))
          .isEqualTo("false");
    }
  }

  /** A part of the address that cannot be decoded must not stop the page. */
  @Test
  void addressThatNobodyWrote_showsThePage() throws Exception {
    board.show(state(3, null, List.of(lock("a", null))));
    try (Browser page = new Browser(program, folder, "http://127.0.0.1:" + server.port() + "/#%")) {
      page.awaitText("1 held");
    }
  }

  @Test
  void pageWithoutItsServer_saysThatItIsOld() throws Exception {
    board.show(state(3, null, List.of(lock("a", null))));
    try (Browser page = open()) {
      page.awaitText("1 held");
      server.close();
      page.awaitText("Disconnected from redlock serve since");
    }
  }

  @Test
  void tenThousandLocks_staySearchable() throws Exception {
    List<String> locks = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      locks.add(lock("order-" + i, "pod-" + i % 7));
    }
    board.show(state(3, null, locks));
    try (Browser page = open()) {
      page.awaitText("the first 200 of 10000");
      String millis =
          page.evaluate(
              "(() => { const box = document.getElementById('search'); let most = 0;"
                  + " for (const word of ['o', 'or', 'order-12', 'pod-3', '']) {"
                  + " const began = performance.now(); box.value = word;"
                  + " box.dispatchEvent(new Event('input')); document.body.offsetHeight;"
                  + " most = Math.max(most, performance.now() - began); } return most; })()");
      System.out.println("10,000 locks: the slowest of five searches took " + millis + " ms");
      assertThat(Double.parseDouble(millis)).as("100 ms on a quiet machine").isLessThan(2_000);
      page.evaluate(
          "(() => { const box = document.getElementById('search'); box.value = 'order-12';"
              + " box.dispatchEvent(new Event('input')); return true; })()");
      page.awaitText("111 of 10000");
    }
  }
}
