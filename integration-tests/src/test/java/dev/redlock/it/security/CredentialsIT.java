package dev.redlock.it.security;

import static java.util.concurrent.CompletableFuture.completedStage;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.harness.CapturedLog;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.lettuce.Credentials;
import dev.redlock.lettuce.CredentialsSource;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Passwords that change while clients run, and passwords that must not be seen. */
@RedisTest(nodes = 3)
class CredentialsIT {
  private static final String SECRET = "s3cr3t-of-the-test";

  private final RedisNodes nodes;

  CredentialsIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  private void setPassword(RedisNode node, String password) {
    node.command(
        "ACL", "SETUSER", "app", "reset", "on", ">" + password, "~*", "resetchannels", "+@all");
  }

  private static Credentials app(String password) {
    return new Credentials("app", password.toCharArray());
  }

  private Redlock client(CredentialsSource source) {
    return Redlock.builder()
        .nodes(
            LettuceNodes.standalone(
                    nodes.uris(), LettuceOptions.builder().credentials(source).build())
                .toArray(LockNode[]::new))
        .restartGuard(RestartGuard.OFF)
        .build();
  }

  @Test
  void passwordRotated_nodesComeBackWithTheNewOne_withoutARestart_andALeaseOutlivesIt() {
    nodes.forEach(node -> setPassword(node, "old"));
    AtomicReference<String> password = new AtomicReference<>("old");
    CredentialsSource source = () -> completedStage(app(password.get()));
    try (Redlock client = client(source)) {
      Eventually.holds(() -> Clients.votes(client) == 3, nodes);
      try (Lease lease = client.lock("held").acquire(Duration.ofSeconds(2))) {
        // The server keeps connections that have logged in; only the next one needs the new
        // password.
        nodes.forEach(node -> setPassword(node, "new"));
        assertThat(Clients.votes(client)).isEqualTo(3);
        nodes.forEach(node -> node.command("CLIENT", "KILL", "USER", "app"));
        Eventually.holds(
            () ->
                client.operations().nodes().stream()
                    .allMatch(node -> node.cause().startsWith("NOT_AUTHENTICATED: WRONGPASS")),
            nodes);
        Eventually.refused(
            () -> client.lock("other").tryAcquire(),
            "NOT_AUTHENTICATED",
            Duration.ofSeconds(5),
            nodes::describe);

        password.set("new");

        Eventually.holds(() -> Clients.votes(client) == 3, nodes);
        client.lock("other").acquire(Duration.ofSeconds(5)).close();
        assertThat(lease.isValid()).isTrue();
        lease.extendAsync().toCompletableFuture().orTimeout(5, TimeUnit.SECONDS).join();
      }
    }
  }

  @Test
  void supplierThatFails_keepsTheNodeOut_withTheCause_untilItSucceeds() {
    nodes.forEach(node -> setPassword(node, "old"));
    AtomicReference<String> password = new AtomicReference<>();
    CredentialsSource source =
        () -> {
          if (password.get() == null) {
            throw new IllegalStateException("the vault is sealed");
          }
          return completedStage(app(password.get()));
        };
    try (Redlock client = client(source)) {
      Eventually.holds(
          () ->
              client.operations().nodes().stream()
                  .allMatch(node -> node.cause().contains("the vault is sealed")),
          nodes);
      password.set("old");
      Eventually.holds(() -> Clients.votes(client) == 3, nodes);
    }
  }

  /**
   * Everything that a client of this library prints, logs at the lowest level, throws or passes to
   * a listener.
   */
  @Test
  void passwordOfAUri_appearsNowhere() throws Exception {
    nodes.forEach(node -> setPassword(node, SECRET));
    setPassword(nodes.get(2), "another"); // This node rejects the password with an error.
    String[] uris =
        nodes.uris().stream()
            .map(uri -> uri.replace("redis://", "redis://app:" + SECRET + "@"))
            .toArray(String[]::new);
    CapturedLog log = new CapturedLog(Level.TRACE, false);
    Queue<String> told = new ConcurrentLinkedQueue<>();
    try (log) {
      List<LockNode> made = LettuceNodes.standalone(List.of(uris));
      told.add(made.toString());
      try (Redlock client =
          Redlock.builder()
              .nodes(made.toArray(LockNode[]::new))
              .restartGuard(RestartGuard.OFF)
              .listener(
                  new RedlockListener() {
                    @Override
                    public void onNode(NodeState node) {
                      told.add(node.toString());
                    }
                  })
              .build()) {
        Eventually.holds(
            () ->
                Clients.votes(client) == 2
                    && client.operations().nodes().get(2).cause().contains("NOT_AUTHENTICATED"),
            nodes);
        try (Lease lease = client.lock("seen").acquire(Duration.ofSeconds(2))) {
          told.add(lease + " " + client.lock("seen"));
        }
        nodes.get(1).command("CLIENT", "KILL", "USER", "app");
        setPassword(nodes.get(1), "another");
        nodes.get(1).command("CLIENT", "KILL", "USER", "app");
        Eventually.holds(() -> Clients.votes(client) == 1, nodes);
        assertThatThrownBy(() -> client.lock("seen").tryAcquire())
            .satisfies(refused -> told.add(refused + " " + trace(refused)));
        told.add(client + " " + client.operations().nodes());
        told.add(
            String.valueOf(
                client.operations().doctor().toCompletableFuture().get(5, TimeUnit.SECONDS)));
        told.add(String.valueOf(Clients.done(client.operations().inspect("seen"))));
      }
      for (String unreadable :
          List.of(
              "http://app:" + SECRET + "@127.0.0.1",
              "redis://app:" + SECRET + "@",
              "redis-sentinel://app:" + SECRET + "@127.0.0.1:1/0#x",
              "app:" + SECRET + "@127.0.0.1",
              "redis://app:" + SECRET + "@host:notaport")) {
        assertThatThrownBy(() -> Redlock.builder().nodes(unreadable).build())
            .isInstanceOf(IllegalArgumentException.class)
            .satisfies(refused -> told.add(refused + " " + trace(refused)));
      }
      assertThatThrownBy(() -> Redlock.builder().nodes(uris[0], uris[0]).build())
          .satisfies(refused -> told.add(refused + " " + trace(refused)));
    }
    assertThat(told).hasSizeGreaterThan(10).noneMatch(text -> text.contains(SECRET));
    assertThat(printed(log.events().toList()))
        .isNotEmpty()
        .noneMatch(line -> line.contains(SECRET));
  }

  private static String trace(Throwable failure) {
    StringBuilder all = new StringBuilder();
    for (Throwable at = failure; at != null; at = at.getCause()) {
      all.append(at).append('\n');
      for (Throwable suppressed : at.getSuppressed()) {
        all.append(suppressed).append('\n');
      }
    }
    return all.toString();
  }

  private static Collection<String> printed(List<ILoggingEvent> events) {
    List<String> lines = new ArrayList<>();
    for (ILoggingEvent event : events) {
      IThrowableProxy thrown = event.getThrowableProxy();
      lines.add(
          event.getFormattedMessage()
              + (thrown == null ? "" : "\n" + ThrowableProxyUtil.asString(thrown)));
    }
    return lines;
  }
}
