package dev.redlock.it;

import dev.redlock.testkit.RedisNode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Counts the requests of clients: script calls, without the commands that scripts call. */
public final class Commands {
  private static final Pattern EVALSHA = Pattern.compile("cmdstat_evalsha:calls=(\\d+)");

  private Commands() {}

  public static long on(Iterable<RedisNode> nodes) {
    long calls = 0;
    for (RedisNode node : nodes) {
      calls += on(node);
    }
    return calls;
  }

  public static long on(RedisNode node) {
    Matcher found = EVALSHA.matcher(String.valueOf(node.command("INFO", "commandstats")));
    return found.find() ? Long.parseLong(found.group(1)) : 0;
  }
}
