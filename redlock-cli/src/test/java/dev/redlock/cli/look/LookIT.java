package dev.redlock.cli.look;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.cli.ExitCode;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The looking commands, against real servers. */
@RedisTest(nodes = 3)
@Timeout(120)
class LookIT {
  private static final Duration WAIT = Duration.ofSeconds(20);
  private static final String[] GUARD = {"--restart-guard", "OFF"};

  private RedisNodes nodes;
  private Redlock holder;

  @BeforeEach
  void connect(RedisNodes nodes) {
    this.nodes = nodes;
    holder =
        Redlock.builder()
            .nodes(nodes.uris().toArray(new String[0]))
            .label("orders/pod-3")
            .restartGuard(RestartGuard.OFF)
            .nodeTimeout(Duration.ofSeconds(1))
            .build();
    assertThat(holder.awaitReady(WAIT)).isTrue();
  }

  @AfterEach
  void close() {
    holder.close();
  }

  private Captured redlock(String... words) {
    List<String> args = new ArrayList<>(List.of(words));
    args.addAll(List.of(GUARD));
    return Captured.run(nodes.uris(), args.toArray(new String[0]));
  }

  /** With so long a lease time, all nodes are too young to vote, however slow the machine is. */
  private Captured guarded(String... words) {
    List<String> args = new ArrayList<>(List.of(words));
    args.addAll(List.of("--max-lease-time", "1h"));
    return Captured.run(nodes.uris(), args.toArray(new String[0]));
  }

  @Test
  void inspect_heldLock_showsHolderAndEachNode() {
    try (Lease lease = holder.lock("stock").acquire(WAIT)) {
      Captured seen = redlock("inspect", "stock");
      assertThat(seen.code()).isEqualTo(ExitCode.OK);
      assertThat(seen.out()).startsWith("'stock' is held by 'orders/pod-3' (lease ");
      assertThat(seen.out().lines()).hasSize(5);
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void inspect_freeLock_saysSoWithItsExitCode() {
    Captured seen = redlock("inspect", "nothing");
    assertThat(seen.code()).isEqualTo(ExitCode.NO);
    assertThat(seen.out()).startsWith("'nothing' is free");
  }

  @Test
  void inspect_twoOfThreeDown_saysWhichAndThatItDoesNotKnow() {
    nodes.get(0).kill();
    nodes.get(1).kill();
    Captured seen = redlock("inspect", "stock");
    assertThat(seen.code()).isEqualTo(ExitCode.TOO_FEW_NODES);
    assertThat(seen.out())
        .startsWith("'stock': unknown, 1 of 3 nodes replied and 2 are needed")
        .contains("DISCONNECTED: ");
  }

  @Test
  void nodesInQuarantine_canBeLookedAt() {
    try (Lease lease = holder.lock("stock").acquire(WAIT)) {
      Captured states = guarded("nodes");
      assertThat(states.code()).isEqualTo(ExitCode.TOO_FEW_NODES);
      assertThat(states.out()).contains("QUARANTINED");
      assertThat(states.err()).contains("0 of 3 nodes vote, 2 are needed");
      assertThat(guarded("inspect", "stock").out()).startsWith("'stock' is held by");
      assertThat(guarded("list").out()).contains("stock", "orders/pod-3");
      assertThat(guarded("doctor").code()).isEqualTo(ExitCode.NO);
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void list_heldLocks_areSortedAndPrintable() {
    Lease first = holder.lock("b\u001b[2J").acquire(WAIT);
    Lease second = holder.lock("a").acquire(WAIT);
    Captured seen = redlock("list");
    assertThat(seen.code()).isEqualTo(ExitCode.OK);
    List<String> lines = seen.out().lines().toList();
    assertThat(lines).hasSize(3);
    assertThat(lines.get(1)).startsWith("a ");
    assertThat(seen.out()).doesNotContain("\u001b");
    assertThat(redlock("list", "--json", "a").out().lines())
        .singleElement()
        .asString()
        .startsWith("{\"name\":\"a\",\"lease\":\"")
        .contains("\"label\":\"orders/pod-3\"");
    assertThat(redlock("list", "none-*").out()).isEmpty();
    first.close();
    second.close();
  }

  @Test
  void list_twoOfThreeDown_failsAndNamesThem() {
    nodes.get(0).kill();
    nodes.get(1).kill();
    Captured seen = redlock("list");
    assertThat(seen.code()).isEqualTo(ExitCode.TOO_FEW_NODES);
    assertThat(seen.err()).contains("1 of 3 nodes can be read, 2 are needed");
  }

  @Test
  void break_withoutATerminal_isRefusedUnlessYes() {
    Lease lease = holder.lock("stuck").acquire(WAIT);
    Captured refused = redlock("break", "stuck");
    assertThat(refused.code()).isEqualTo(ExitCode.USAGE);
    assertThat(refused.err()).contains("'orders/pod-3'", "--yes");
    assertThat(lease.isValid()).isTrue();
    Captured broken = redlock("break", "stuck", "--yes");
    assertThat(broken.code()).isEqualTo(ExitCode.OK);
    assertThat(broken.out()).startsWith("broken; before: 'stuck' is held by 'orders/pod-3'");
    lease.whenEnded().toCompletableFuture().join();
    assertThat(redlock("break", "stuck", "--yes").code()).isEqualTo(ExitCode.NO);
  }

  @Test
  void watch_untilFree_endsWhenItIs() {
    try (Lease lease = holder.lock("watched").acquire(WAIT)) {
      assertThat(redlock("watch", "watched", "--until", "HELD").out())
          .contains("held by 'orders/pod-3'");
      assertThat(lease.isValid()).isTrue();
    }
    assertThat(redlock("watch", "watched", "--until", "FREE", "--json").out())
        .contains("\"state\":\"FREE\"");
  }

  /** The user of docs/command.md. */
  @Test
  void userWhoMayOnlyLook_seesAll_andChangesNothing(@TempDir Path folder) throws IOException {
    String[] setUser = lineOfThePage("ACL SETUSER look ");
    nodes.forEach(node -> node.command(setUser));
    Path password = Files.writeString(folder.resolve("password"), "secret");
    String[] login = {"--user", "look", "--password-file", password.toString()};
    try (Lease lease = holder.lock("stock").acquire(WAIT)) {
      for (List<String> look :
          List.of(
              List.of("inspect", "stock"),
              List.of("inspect", "stock", "--queue"),
              List.of("list"),
              List.of("watch", "stock", "--until", "HELD"))) {
        Captured seen = redlock(with(look, login));
        assertThat(seen.code()).as("%s: %s", look, seen).isEqualTo(ExitCode.OK);
        assertThat(seen.out()).contains("orders/pod-3");
      }
      assertThat(redlock(with(List.of("nodes"), login)).code()).isEqualTo(ExitCode.OK);
      assertThat(redlock(with(List.of("doctor"), login)).out().lines())
          .hasSize(3)
          .allMatch(line -> line.contains("VOTING") && line.contains("noeviction"));
      Captured broken = redlock(with(List.of("break", "stock", "--yes"), login));
      assertThat(broken.code()).isEqualTo(ExitCode.TOO_FEW_NODES);
      assertThat(broken.err()).contains("NO_PERMISSION");
      assertThat(lease.isValid()).isTrue();
    } finally {
      nodes.forEach(node -> node.command("ACL", "DELUSER", "look"));
    }
  }

  private static String[] with(List<String> words, String... more) {
    List<String> all = new ArrayList<>(words);
    all.addAll(List.of(more));
    return all.toArray(new String[0]);
  }

  private static String[] lineOfThePage(String start) throws IOException {
    Path root = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(root.resolve("docs"))) {
      root = root.getParent();
    }
    return Files.readString(root.resolve("docs/command.md"))
        .lines()
        .filter(line -> line.startsWith(start))
        .findFirst()
        .orElseThrow()
        .split(" ", -1);
  }

  @Test
  void doctor_healthyNodes_hasNothingToSay() {
    Captured seen = redlock("doctor", "--json");
    assertThat(seen.out().lines()).hasSize(3).allMatch(line -> line.startsWith("{\"node\":\""));
  }
}
