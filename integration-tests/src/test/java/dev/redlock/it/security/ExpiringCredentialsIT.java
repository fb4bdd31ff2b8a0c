package dev.redlock.it.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.it.VotingWatch;
import dev.redlock.lettuce.Credentials;
import dev.redlock.lettuce.CredentialsSource;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Sinks;

/**
 * Servers that end connections with old credentials, as managed services do. The password changes
 * every 2 s; the servers accept the newest two; a connection ends 5 s after its last login. {@code
 * -Dredlock.credentials.seconds=60} makes the runs longer than in the build.
 */
@RedisTest(nodes = 3)
@Tag("thorough")
class ExpiringCredentialsIT {
  private static final Duration RUN =
      Duration.ofSeconds(Integer.getInteger("redlock.credentials.seconds", 9));
  private static final Duration ROTATION = Duration.ofSeconds(2);
  private static final Duration LIFE = Duration.ofSeconds(5);
  private static final String SIGN = "rotated-";

  private final RedisNodes nodes;
  private final List<CuttingProxy> proxies = new ArrayList<>();
  private final VotingWatch watch = new VotingWatch();

  /** What {@link #watch} had noted when the last lease was released. */
  private List<String> left = List.of();

  private final Source source = new Source();
  private int generation;

  ExpiringCredentialsIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  /** Knows the newest password, and streams it. */
  private static final class Source implements CredentialsSource {
    final Sinks.Many<Credentials> stream = Sinks.many().replay().latest();
    volatile Credentials newest = new Credentials("app", new char[0]);

    void next(String password) {
      newest = new Credentials("app", password.toCharArray());
      stream.tryEmitNext(newest);
    }

    @Override
    public CompletionStage<Credentials> credentials() {
      return CompletableFuture.completedStage(newest);
    }

    @Override
    public Flow.Publisher<Credentials> updates() {
      return JdkFlowAdapter.publisherToFlowPublisher(stream.asFlux());
    }
  }

  @BeforeEach
  void start() throws IOException {
    nodes.forEach(
        node -> node.command("ACL", "SETUSER", "app", "reset", "on", "~*", "&*", "+@all"));
    rotate();
    for (int i = 0; i < nodes.size(); i++) {
      proxies.add(new CuttingProxy(nodes.get(i).directPort(), SIGN, LIFE));
    }
  }

  @AfterEach
  void stop() {
    proxies.forEach(CuttingProxy::close);
  }

  private void rotate() {
    generation++;
    nodes.forEach(node -> node.command("ACL", "SETUSER", "app", ">" + SIGN + generation));
    if (generation > 2) {
      nodes.forEach(node -> node.command("ACL", "SETUSER", "app", "<" + SIGN + (generation - 2)));
    }
    source.next(SIGN + generation);
  }

  private List<String> uris() {
    return proxies.stream().map(CuttingProxy::uri).toList();
  }

  private static LettuceOptions.Builder options(CredentialsSource source) {
    return LettuceOptions.builder().credentials(source);
  }

  private Redlock client(LettuceOptions options) {
    return Redlock.builder()
        .nodes(LettuceNodes.standalone(uris(), options).toArray(LockNode[]::new))
        .restartGuard(RestartGuard.OFF)
        .nodeTimeout(Duration.ofSeconds(1)) // The machine may be busy with other builds.
        .listener(watch)
        .build();
  }

  /** Holds a lease and takes others while the password changes. Returns the acquired ones. */
  private int holdAndAcquire(Redlock client) {
    assertThat(client.awaitReady(Duration.ofSeconds(10))).isTrue();
    watch.awaitVoting(nodes.size());
    DistributedLock held = client.lock("held");
    int acquired = 0;
    try (Lease lease = held.acquire(Duration.ofSeconds(5))) {
      long start = System.nanoTime();
      long rotated = start;
      long last = 0;
      while (System.nanoTime() - start < RUN.toNanos()) {
        if (System.nanoTime() - rotated > ROTATION.toNanos()) {
          rotated = System.nanoTime();
          rotate();
        }
        try (Lease other = client.lock("other").acquire(Duration.ofSeconds(5))) {
          assertThat(other.fencingToken().value()).isGreaterThan(last);
          last = other.fencingToken().value();
          acquired++;
        }
        lease.ensureValid();
      }
      left = watch.left();
      assertThat(lease.whenEnded().toCompletableFuture()).isNotDone();
    }
    return acquired;
  }

  private int sum(java.util.function.ToIntFunction<CuttingProxy> of) {
    return proxies.stream().mapToInt(of).sum();
  }

  @Test
  void streamedCredentials_areSentOnTheOpenConnections_andNoNodeStopsVoting() {
    int acquired;
    try (Redlock client = client(options(source).build())) {
      acquired = holdAndAcquire(client);
    }
    assertThat(left).isEmpty();
    assertThat(sum(CuttingProxy::connections)).isEqualTo(3);
    assertThat(sum(CuttingProxy::cut)).isZero();
    // At the connect and with each new password, on each node.
    assertThat(sum(CuttingProxy::logins)).isGreaterThanOrEqualTo(3 * generation);
    assertThat(acquired).isGreaterThan(10);
    System.out.printf(
        "credentials: %d s, %d passwords, %d logins on 3 connections, %d leases%n",
        RUN.toSeconds(), generation, sum(CuttingProxy::logins), acquired);
  }

  /** The control: the same servers end the connections of a client that does not log in again. */
  @Test
  void credentialsThatAreNotStreamed_theServersEndTheConnections() {
    try (Redlock client = client(options(() -> source.credentials()).build())) {
      int acquired = holdAndAcquire(client);
      assertThat(acquired).isGreaterThan(10);
    }
    assertThat(left).isNotEmpty();
    assertThat(sum(CuttingProxy::cut)).isGreaterThanOrEqualTo(3);
  }

  @Test
  void connectionsWithAMaximalAge_areReplacedBeforeTheServersEndThem_notTogether() {
    LettuceOptions.Builder asked = options(() -> source.credentials());
    try (Redlock client = client(asked.maxConnectionAge(Duration.ofSeconds(3)).build())) {
      assertThat(holdAndAcquire(client)).isGreaterThan(10);
    }
    assertThat(sum(CuttingProxy::cut)).isZero();
    assertThat(sum(CuttingProxy::connections)).isGreaterThan(3);
    assertThat(left).isNotEmpty().allMatch(node -> !node.contains("NOT_AUTHENTICATED"));
  }
}
