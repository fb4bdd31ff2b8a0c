package dev.redlock.it;

import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Counts what clients asked of the nodes: script calls, without what scripts call themselves. */
final class Commands {
  private static final Pattern EVALSHA = Pattern.compile("cmdstat_evalsha:calls=(\\d+)");

  private Commands() {}

  static long on(RedisNodes nodes) {
    long calls = 0;
    for (RedisNode node : nodes) {
      Matcher found = EVALSHA.matcher(String.valueOf(node.command("INFO", "commandstats")));
      calls += found.find() ? Long.parseLong(found.group(1)) : 0;
    }
    return calls;
  }
}
