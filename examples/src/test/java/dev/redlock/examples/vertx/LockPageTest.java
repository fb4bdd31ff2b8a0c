package dev.redlock.examples.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.redlock.testkit.RedisNodes;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page in a real browser, and two members on a clustered bus. */
class LockPageTest {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
  }

  private interface Condition {
    boolean holds() throws Exception;
  }

  private static void eventually(Browser page, Condition condition) throws Exception {
    long start = System.nanoTime();
    while (!condition.holds()) {
      assertThat(System.nanoTime() - start)
          .as("the page shows:%n%s", page.evaluate("document.body.innerText"))
          .isLessThan(PATIENCE_NANOS);
      TimeUnit.MILLISECONDS.sleep(50);
    }
  }

  private static String shown(Browser page, String lock, int column) throws Exception {
    return ""
        + page.evaluate(
            "document.querySelector('[data-lock="
                + lock
                + "]')?.children["
                + column
                + "].innerText");
  }

  @Test
  @Timeout(300)
  void page_inARealBrowser_showsWhoHoldsWhichLock() throws Exception {
    Optional<Path> executable = Browser.find();
    assumeTrue(
        executable.isPresent(),
        "no browser: install chromium so that this test can open the page of LockPage");
    System.setProperty(
        "redlock.example.port", "" + (30_000 + ProcessHandle.current().pid() % 5_000));
    try (RedisNodes nodes = RedisNodes.start(3)) {
      Vertx left = get(Loopback.clustered());
      Vertx right = get(Loopback.clustered());
      try {
        int port = get(LockPage.serve(left, 0)).actualPort();
        get(LockPage.work(left, "left", nodes.uris()));
        get(LockPage.work(right, "right", nodes.uris()));
        try (Browser page = new Browser(executable.get(), "http://127.0.0.1:" + port + "/")) {
          for (String lock : LockPage.NAMES) {
            for (String member : new String[] {"left", "right"}) {
              eventually(page, () -> shown(page, lock, 1).equals(member));
            }
            String token = shown(page, lock, 2);
            eventually(page, () -> Long.parseLong(shown(page, lock, 2)) > Long.parseLong(token));
          }
          assertThat(page.evaluate("document.getElementById('state').className")).isEqualTo("live");
          // Counts what came from elsewhere than this server.
          assertThat(
                  page.evaluate(
                      "performance.getEntriesByType('resource')"
                          + ".filter(r => !r.name.startsWith(location.origin)"
                          + " && !r.name.startsWith('data:')).length"))
              .isEqualTo(0);
          page.screenshot(Path.of("target", "lock-page.png"));
          get(right.close());
          for (String lock : LockPage.NAMES) {
            eventually(page, () -> shown(page, lock, 1).equals("left"));
          }
        }
      } finally {
        get(left.close());
        get(right.close());
      }
    }
  }
}
