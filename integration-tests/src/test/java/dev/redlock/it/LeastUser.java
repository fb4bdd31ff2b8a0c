package dev.redlock.it;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import dev.redlock.testkit.ServerState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * The user of the operations page, read from the page, so that the tests use the documented
 * permissions.
 */
public final class LeastUser {
  private static final Map<RedisNodes, Boolean> KNOWN = new WeakHashMap<>();

  private LeastUser() {}

  /**
   * Five masters that have the user from their start on, also after restarts; {@link Clients} then
   * logs in as that user. An annotation cannot read the page: {@link LeastPrivilegeIT} compares.
   */
  @Inherited
  @Retention(RetentionPolicy.RUNTIME)
  @RedisTest(
      nodes = 5,
      serverArgs = {
        "--user",
        "app",
        "reset",
        "on",
        ">secret",
        "~redlock:*",
        "resetchannels",
        "-@all",
        "+evalsha",
        "+eval",
        "+get",
        "+set",
        "+del",
        "+time",
        "+pttl",
        "+pexpire",
        "+mget",
        "+exists",
        "+hmget",
        "+hset",
        "+zadd",
        "+zrange",
        "+zrem",
        "+zrank",
        "+zcard",
        "+info",
        "+client|tracking",
        "+client|caching"
      })
  @interface Masters {}

  /** {@code ACL SETUSER app …}, the line of the page. */
  public static String[] command() {
    Path root = Path.of("").toAbsolutePath();
    while (!Files.isDirectory(root.resolve("docs"))) {
      root = root.getParent();
    }
    try {
      return Files.readString(root.resolve("docs/operations.md"), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> line.startsWith("ACL SETUSER app "))
          .findFirst()
          .orElseThrow()
          .split(" ", -1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Server options that create the user at the start. */
  public static String[] serverArgs() {
    String[] words = command();
    String[] args = Arrays.copyOfRange(words, 1, words.length);
    args[0] = "--user";
    return args;
  }

  /** The same for Redis 6.0, which has no channel permissions. */
  public static String[] serverArgsOfRedis6() {
    return Arrays.stream(serverArgs())
        .filter(word -> !word.equals("resetchannels"))
        .toArray(String[]::new);
  }

  /** The URI with the login of that user. */
  public static String uri(RedisNode node) {
    return uri(node.uri());
  }

  private static String uri(String uri) {
    return uri.replace("redis://", "redis://app:secret@");
  }

  /** The URIs of the nodes, with the login of the least user if the nodes have it. */
  static List<String> uris(RedisNodes nodes) {
    boolean least;
    synchronized (KNOWN) {
      least = KNOWN.computeIfAbsent(nodes, LeastUser::isKnown);
    }
    return least ? nodes.uris().stream().map(LeastUser::uri).toList() : nodes.uris();
  }

  private static boolean isKnown(RedisNodes nodes) {
    return nodes.stream()
        .filter(node -> node.state() == ServerState.RUNNING)
        .anyMatch(node -> node.command("ACL", "GETUSER", "app") != null);
  }
}
