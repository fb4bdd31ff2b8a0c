package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The user of the operations page can use locks, and nothing else. The contract and the main tests
 * run as that user in {@link LeastUserIT} and {@code LeastUserContractIT}.
 */
@LeastUser.Masters
class LeastPrivilegeIT {
  /** The most obvious commands; all others come from the server's own list. */
  private static final List<String> DANGEROUS =
      List.of(
          "FLUSHALL",
          "FLUSHDB",
          "CONFIG GET dir",
          "CONFIG SET dir /tmp",
          "CONFIG REWRITE",
          "KEYS *",
          "SCAN 0",
          "SCRIPT FLUSH",
          "SCRIPT KILL",
          "FUNCTION FLUSH",
          "CLIENT PAUSE 10",
          "CLIENT KILL TYPE normal",
          "CLIENT LIST",
          "DEBUG SLEEP 0",
          "SHUTDOWN NOSAVE",
          "PUBLISH redlock x",
          "SUBSCRIBE redlock",
          "MONITOR",
          "SAVE",
          "BGREWRITEAOF",
          "MODULE LOAD /tmp/x.so",
          "REPLICAOF NO ONE",
          "SLAVEOF NO ONE",
          "FAILOVER",
          "CLUSTER NODES",
          "MIGRATE 127.0.0.1 1 others 0 100",
          "SWAPDB 0 1",
          "ACL LIST",
          "ACL SETUSER app +@all",
          "RENAME redlock:{a} redlock:{b}",
          "PERSIST redlock:{a}");

  private static final List<String> FOREIGN =
      List.of(
          "GET others",
          "SET others x",
          "DEL others",
          "PTTL others",
          "PEXPIRE others 1",
          "MGET others",
          "EXISTS others",
          "HSET others f v",
          "HMGET others f",
          "ZADD others 1 m",
          "ZRANGE others 0 0",
          "ZREM others m",
          "ZRANK others m",
          "ZCARD others",
          "DEL redlock:{mine} others");

  /** Every user may execute these, whatever the permissions are. */
  private static final Set<String> OF_THE_CONNECTION = Set.of("auth", "hello", "quit", "reset");

  private static final Pattern REFUSED =
      Pattern.compile("-(NOPERM|EXECABORT .*NOPERM|ERR (DEBUG|MODULE) command not allowed).*");

  /** The error inside a script differs, and some commands are not allowed in scripts at all. */
  private static final Pattern REFUSED_IN_SCRIPT =
      Pattern.compile(
          "-.*(NOPERM|can't run this command|can't access|[Nn]o permissions|not allowed from"
              + " script).*");

  private final RedisNodes nodes;

  LeastPrivilegeIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @Test
  void mastersOfTheTests_knowTheVeryUserOfTheOperationsPage() {
    RedisTest annotation = LeastUser.Masters.class.getAnnotation(RedisTest.class);
    assertThat(annotation.serverArgs()).containsExactly(LeastUser.serverArgs());
  }

  @Test
  void user_ofTheOperationsPage_canDoAllThatALockNeeds() throws Exception {
    try (Redlock one = Clients.patient(nodes);
        Redlock two = Clients.patient(nodes)) {
      Lease lease = one.lock("least").acquire(Duration.ofSeconds(5));
      lease.extendAsync().toCompletableFuture().get(5, TimeUnit.SECONDS);
      Clients.everywhere(nodes, "least");
      assertThat(two.lock("least").tryAcquire()).isEmpty();
      assertThat(Clients.done(two.operations().inspect("least")).nodes())
          .allSatisfy(node -> assertThat(node.holder()).isNotNull());
      var waiting = two.lock("least").acquireAsync(Duration.ofSeconds(10));
      lease.close();
      try (Lease next = waiting.get(10, TimeUnit.SECONDS)) {
        assertThat(next.fencingToken().value()).isGreaterThan(lease.fencingToken().value());
      }
      two.operations().breakLock("least").toCompletableFuture().get(5, TimeUnit.SECONDS);
      assertThat(two.operations().doctor().toCompletableFuture().get(5, TimeUnit.SECONDS).nodes())
          .allSatisfy(
              node -> {
                assertThat(node.server()).isNotNull();
                assertThat(node.appendFsync()).isNull(); // CONFIG GET is not for this user.
              });
      one.lock(List.of("a", "b")).acquire(Duration.ofSeconds(5)).close();
    }
    Clients.gone(nodes, "least");
  }

  /** Without a permission for it. The default user of the server sees the list. */
  @Test
  void clientList_showsTheLabel() {
    try (Redlock redlock =
        Clients.voting(Clients.on(nodes).label("orders 7/Zürich").build(), nodes.size())) {
      assertThat(nodes)
          .allSatisfy(
              node -> assertThat(clients(node)).contains(" name=orders_7/Z_rich ", " user=app "));
    }
  }

  @Test
  void clientList_whereTheAddressNamesTheClient_showsThatName() {
    String uri = LeastUser.uri(nodes.get(0)) + "?clientName=mine";
    try (Redlock redlock =
        Clients.voting(
            Redlock.builder().nodes(uri).restartGuard(RestartGuard.OFF).label("orders").build(),
            1)) {
      assertThat(clients(nodes.get(0))).contains(" name=mine ").doesNotContain("name=orders ");
    }
  }

  private static String clients(RedisNode node) {
    return String.valueOf(node.command("CLIENT", "LIST"));
  }

  @Test
  void user_isRefusedEveryDangerousCommand_alsoFromAScript() throws IOException {
    seed();
    List<String> passed = new ArrayList<>();
    try (RawUser user = login()) {
      for (String line : DANGEROUS) {
        probe(user, passed, line.split(" ", -1));
      }
    }
    assertThat(passed).isEmpty();
    assertSeedUntouched();
  }

  @Test
  void user_isRefusedKeysOutsideThePrefix_alsoFromAScriptThatDoesNotDeclareThem()
      throws IOException {
    seed();
    List<String> passed = new ArrayList<>();
    try (RawUser user = login()) {
      for (String line : FOREIGN) {
        String[] words = line.split(" ", -1);
        probe(user, passed, words);
        String declared =
            user.ask(
                join(
                    new String[] {"EVAL", "return redis.call(unpack(ARGV))", "1", "others"},
                    words));
        if (!REFUSED_IN_SCRIPT.matcher(declared).matches()) {
          passed.add("in a script that declares the key: " + line + " -> " + declared);
        }
      }
    }
    assertThat(passed).isEmpty();
    assertSeedUntouched();
  }

  /** All commands of this server that the page does not grant, not a hand-written list. */
  @Test
  void user_isRefusedEveryOtherCommandThatTheServerKnows_alsoFromAScript() throws IOException {
    Set<String> granted = new TreeSet<>(OF_THE_CONNECTION);
    for (String word : LeastUser.serverArgs()) {
      if (word.startsWith("+")) {
        granted.add(word.substring(1));
      }
    }
    List<String[]> others = new ArrayList<>();
    for (Object command : (List<?>) nodes.get(0).command("COMMAND")) {
      collect((List<?>) command, granted, others);
    }
    assertThat(others.size()).as("commands of the server").isGreaterThan(150);
    seed();
    List<String> passed = new ArrayList<>();
    try (RawUser user = login()) {
      for (String[] words : others) {
        probe(user, passed, words);
      }
    }
    assertThat(passed).isEmpty();
    assertSeedUntouched();
  }

  /** The command, or from Redis 7.0 on its subcommands, with the required number of arguments. */
  private static void collect(List<?> command, Set<String> granted, List<String[]> into) {
    String name = String.valueOf(command.get(0));
    List<?> subcommands =
        command.size() > 9 && command.get(9) instanceof List<?> list ? list : List.of();
    for (Object subcommand : subcommands) {
      collect((List<?>) subcommand, granted, into);
    }
    if (!subcommands.isEmpty() || granted.contains(name.toLowerCase(Locale.ROOT))) {
      return;
    }
    String[] named = name.split("\\|", -1);
    String[] words = Arrays.copyOf(named, Math.max(named.length, Math.abs(arity(command))));
    Arrays.fill(words, named.length, words.length, "1");
    into.add(words);
  }

  private static int arity(List<?> command) {
    return Math.toIntExact((Long) command.get(1));
  }

  private static void probe(RawUser user, List<String> passed, String... words) throws IOException {
    String direct = user.ask(words);
    boolean unknown = direct.startsWith("-ERR unknown command"); // Not on this version.
    if (!unknown && !REFUSED.matcher(direct).matches()) {
      passed.add(String.join(" ", words) + " -> " + direct);
    }
    String scripted =
        user.ask(join(new String[] {"EVAL", "return redis.call(unpack(ARGV))", "0"}, words));
    if (!unknown && !REFUSED_IN_SCRIPT.matcher(scripted).matches()) {
      passed.add("in a script: " + String.join(" ", words) + " -> " + scripted);
    }
  }

  private static String[] join(String[] first, String[] second) {
    String[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }

  private RawUser login() throws IOException {
    return RawUser.login(nodes.get(0).directPort(), "app", "secret");
  }

  private void seed() {
    RedisNode node = nodes.get(0);
    node.command("SET", "others", "kept");
    node.command("SET", "redlock:{a}", "kept", "PX", "60000");
  }

  private void assertSeedUntouched() {
    RedisNode node = nodes.get(0);
    assertThat(node.command("GET", "others")).isEqualTo("kept");
    assertThat(node.command("GET", "redlock:{a}")).isEqualTo("kept");
    assertThat((Long) node.command("PTTL", "redlock:{a}")).isPositive();
    node.command("DEL", "others", "redlock:{a}");
  }
}
