package dev.redlock.it.contract;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.redlock.Redlock;
import dev.redlock.it.Clients;
import dev.redlock.testkit.RedisNodes;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.platform.engine.discovery.ClassSelector;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs the contract on the server that {@code -Dredlock.redis} names, as the default user and as
 * the user with the least permissions; with the argument {@code main} the main tests too. The last
 * line of the output is a row of {@code bin/matrix} and of {@code bin/lanes}. {@code
 * -Dredlock.transport=epoll} requires this transport.
 */
final class Matrix {
  private static final Pattern VALKEY = Pattern.compile("valkey_version:(\\S+)");
  private static final Pattern REDIS = Pattern.compile("redis_version:(\\S+)");

  private static final List<Class<?>> CONTRACT =
      List.of(StandaloneNodeContractIT.class, LeastUserContractIT.class);

  /**
   * The tests that use most of Lettuce, and those of the promises of the README. They are in
   * separate packages.
   */
  private static final List<String> MAIN =
      List.of(
          "contract.ClusterNodeContractIT",
          "contract.StandaloneNodeIT",
          "LeaseIT",
          "QuorumIT",
          "WaitingIT",
          "FairIT",
          "HintsIT",
          "ReportIT",
          "RestartGuardIT",
          "LostReplyIT",
          "LifeCycleIT",
          "NodesIT",
          "ManagedServersIT",
          "cluster.ClusterLockIT",
          "security.CredentialsIT",
          "security.ExpiringCredentialsIT",
          "security.TlsIT");

  private Matrix() {}

  public static void main(String[] args) {
    String server;
    try (RedisNodes nodes = RedisNodes.start(1)) {
      server = version(String.valueOf(nodes.get(0).command("INFO", "server")));
      requireTransport(nodes);
    }
    List<ClassSelector> selected = new ArrayList<>();
    CONTRACT.forEach(test -> selected.add(selectClass(test)));
    if (args.length > 0 && args[0].equals("main")) {
      MAIN.forEach(test -> selected.add(selectClass("dev.redlock.it." + test)));
    }
    LauncherDiscoveryRequest tests =
        LauncherDiscoveryRequestBuilder.request().selectors(selected).build();
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    Launcher launcher = LauncherFactory.create();
    long start = System.nanoTime();
    launcher.execute(tests, listener);
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

  /**
   * Lettuce selects a native transport by itself if one is available, and names its threads after
   * it.
   */
  private static void requireTransport(RedisNodes nodes) {
    String wanted = System.getProperty("redlock.transport", "");
    try (Redlock redlock = Clients.start(nodes)) {
      List<String> threads =
          Thread.getAllStackTraces().keySet().stream()
              .map(Thread::getName)
              .filter(name -> name.contains("EventLoop"))
              .toList();
      if (threads.stream().noneMatch(name -> name.contains(wanted))) {
        throw new IllegalStateException("no thread of the transport " + wanted + ": " + threads);
      }
    }
  }

  private static String version(String info) {
    // The reply also contains the version of Redis that the server is compatible with.
    Matcher valkey = VALKEY.matcher(info);
    if (valkey.find()) {
      return "Valkey " + valkey.group(1);
    }
    Matcher redis = REDIS.matcher(info);
    return redis.find() ? "Redis " + redis.group(1) : "unknown";
  }
}
