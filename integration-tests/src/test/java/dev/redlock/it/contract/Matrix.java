package dev.redlock.it.contract;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.redlock.testkit.RedisNodes;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs the contract, as anybody and as the least privileged user, on the one server that {@code
 * -Dredlock.redis} leads to. The last line of the output is a row of {@code ./matrix}.
 */
final class Matrix {
  private static final Pattern VALKEY = Pattern.compile("valkey_version:(\\S+)");
  private static final Pattern REDIS = Pattern.compile("redis_version:(\\S+)");

  private Matrix() {}

  public static void main(String[] args) {
    String server;
    try (RedisNodes nodes = RedisNodes.start(1)) {
      server = version(String.valueOf(nodes.get(0).command("INFO", "server")));
    }
    LauncherDiscoveryRequest contract =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(
                selectClass(StandaloneNodeContractIT.class), selectClass(LeastUserContractIT.class))
            .build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    Launcher launcher = LauncherFactory.create();
    long start = System.nanoTime();
    launcher.execute(contract, listener);
    Duration took = Duration.ofNanos(System.nanoTime() - start);

    TestExecutionSummary summary = listener.getSummary();
    if (summary.getTotalFailureCount() > 0) {
      PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
      summary.printFailuresTo(out, 20);
    }
    System.out.printf(
        "row %s %d %d %d %.1f%n",
        server.replace(' ', '-'),
        summary.getTestsSucceededCount(),
        summary.getTotalFailureCount(),
        summary.getTestsSkippedCount() + summary.getTestsAbortedCount(),
        took.toMillis() / 1000.0);
    boolean passed = summary.getTotalFailureCount() == 0 && summary.getTestsSucceededCount() > 0;
    System.exit(passed ? 0 : 1);
  }

  private static String version(String info) {
    Matcher valkey = VALKEY.matcher(info); // Also says what Redis it is like.
    if (valkey.find()) {
      return "Valkey " + valkey.group(1);
    }
    Matcher redis = REDIS.matcher(info);
    return redis.find() ? "Redis " + redis.group(1) : "unknown";
  }
}
