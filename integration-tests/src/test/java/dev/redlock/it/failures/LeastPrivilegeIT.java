package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The user that the operations page names can lock, and can do nothing else. */
@RedisTest(nodes = 3)
class LeastPrivilegeIT {
  private static final List<String> DANGEROUS =
      List.of(
          "FLUSHALL",
          "FLUSHDB",
          "CONFIG GET dir",
          "KEYS *",
          "SCAN 0",
          "SCRIPT FLUSH",
          "CLIENT PAUSE 10",
          "CLIENT LIST",
          "DEBUG SLEEP 0",
          "SHUTDOWN NOSAVE",
          "PUBLISH redlock x",
          "REPLICAOF NO ONE",
          "ACL LIST",
          "GET others",
          "SET others x",
          "DEL others");

  private final RedisNodes nodes;

  LeastPrivilegeIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  /** The very line of the page, so that what is documented is what is tested. */
  private static String[] user() throws IOException {
    Path root = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(root.resolve("docs"))) {
      root = root.getParent();
    }
    return Files.readString(root.resolve("docs/operations.md"), StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.startsWith("ACL SETUSER app "))
        .findFirst()
        .orElseThrow()
        .split(" ", -1);
  }

  @BeforeEach
  void makeUser() throws IOException {
    String[] user = user();
    nodes.forEach(node -> node.command(user));
  }

  private String[] uris() {
    return nodes.uris().stream()
        .map(uri -> uri.replace("redis://", "redis://app:secret@"))
        .toArray(String[]::new);
  }

  private Redlock client() {
    return Clients.voting(
        Redlock.builder().nodes(uris()).restartGuard(RestartGuard.off()).build(), 3);
  }

  @Test
  void user_ofTheOperationsPage_canDoAllThatALockNeeds() throws Exception {
    try (Redlock one = client();
        Redlock two = client()) {
      Lease lease = one.lock("least").acquire(Duration.ofSeconds(5));
      lease.extendAsync().toCompletableFuture().get(5, TimeUnit.SECONDS);
      assertThat(two.lock("least").tryAcquire()).isEmpty();
      assertThat(two.inspect("least").toCompletableFuture().get(5, TimeUnit.SECONDS).nodes())
          .allSatisfy(node -> assertThat(node.holder()).isNotNull());
      var waiting = two.lock("least").acquireAsync(Duration.ofSeconds(10));
      lease.close();
      try (Lease next = waiting.get(10, TimeUnit.SECONDS)) {
        assertThat(next.fencingToken().value()).isGreaterThan(lease.fencingToken().value());
      }
      two.breakLock("least").toCompletableFuture().get(5, TimeUnit.SECONDS);
      assertThat(two.doctor().toCompletableFuture().get(5, TimeUnit.SECONDS).nodes())
          .allSatisfy(node -> assertThat(node.server()).isNotNull());
      one.lock(List.of("a", "b")).acquire(Duration.ofSeconds(5)).close();
    }
    Eventually.holds(
        () -> nodes.stream().noneMatch(node -> Clients.holdsKey(node, "least")), nodes);
  }

  @Test
  void user_ofTheOperationsPage_isRefusedEveryDangerousCommand() {
    try (RedisClient client = RedisClient.create(uris()[0])) {
      var redis = client.connect().sync();
      for (String line : DANGEROUS) {
        String[] words = line.split(" ", -1);
        CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8);
        for (int i = 1; i < words.length; i++) {
          args.add(words[i]);
        }
        assertThatThrownBy(
                () ->
                    redis.dispatch(new Named(words[0]), new StatusOutput<>(StringCodec.UTF8), args))
            .as(line)
            .isInstanceOf(RedisCommandExecutionException.class)
            .hasMessageMatching("(?s).*(NOPERM|DEBUG command not allowed).*");
      }
      assertThatThrownBy(
              () ->
                  redis.eval(
                      "return redis.call('SET', KEYS[1], 'x')",
                      io.lettuce.core.ScriptOutputType.STATUS,
                      "others"))
          .hasMessageContaining("NOPERM");
    }
  }

  private record Named(String word) implements io.lettuce.core.protocol.ProtocolKeyword {
    @Override
    public byte[] getBytes() {
      return word.toUpperCase(Locale.ROOT).getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public String toString() {
      return word;
    }
  }
}
