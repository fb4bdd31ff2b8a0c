package dev.redlock.cli.page;

import dev.redlock.cli.Failure;
import dev.redlock.cli.PresentSet;
import dev.redlock.cli.look.Json;
import dev.redlock.cli.look.Locks;
import dev.redlock.cli.look.Look;
import dev.redlock.cli.look.NodesCommand;
import dev.redlock.operations.LockListing;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.Operations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Looks at locks and nodes at an interval, once for all viewers, so that the number of viewers
 * costs the masters nothing. Confined to one thread.
 */
final class Observer {
  /** With a look every 2 s: five minutes. */
  private static final int STRIP = 150;

  private final Operations operations;
  private final String pattern;

  /** When a lease was first seen, by its name and hash, in milliseconds of the wall clock. */
  private Map<String, Long> since = new HashMap<>();

  /** The last states of each node, one letter each, the newest last. */
  private final Map<String, StringBuilder> strips = new HashMap<>();

  Observer(Operations operations, String pattern) {
    this.operations = operations;
    this.pattern = pattern;
  }

  /** Looks, and returns the state as JSON. */
  String look(long nowMillis, Duration every) {
    String problem = null;
    List<String> locks = List.of();
    try {
      locks = locks(Locks.all(operations, pattern), nowMillis);
    } catch (Failure e) {
      problem = e.getMessage(); // Since when locks are held is remembered.
    }
    PresentSet set = PresentSet.of(operations.nodes());
    // And those that a wrong address in the list, for example of a database, leads to.
    List<NodeState> states = new ArrayList<>(set.nodes());
    states.removeIf(
        node -> !set.members().contains(node) && !node.cause().startsWith("belongs to another"));
    return new Json()
        .put("now", nowMillis)
        .putMillis("every", every)
        .put("problem", problem)
        .put("voting", Look.voting(states))
        .put("members", set.size())
        .put("needed", set.quorum())
        .putAll("nodes", nodes(states))
        .putAll("locks", locks)
        .toString();
  }

  private List<String> nodes(List<NodeState> states) {
    List<String> json = new ArrayList<>();
    for (NodeState node : states) {
      StringBuilder strip = strips.computeIfAbsent(node.node(), n -> new StringBuilder());
      strip.append(node.state().name().charAt(0));
      if (strip.length() > STRIP) {
        strip.deleteCharAt(0);
      }
      json.add(NodesCommand.json(node).put("strip", strip.toString()).toString());
    }
    return json;
  }

  private List<String> locks(List<LockListing.Entry> locks, long nowMillis) {
    Map<String, Long> seen = new HashMap<>();
    List<String> json = new ArrayList<>();
    for (LockListing.Entry lock : locks) {
      String key = lock.holder() + " " + lock.name();
      long first = since.getOrDefault(key, nowMillis);
      seen.put(key, first);
      json.add(
          new Json()
              .put("name", lock.name())
              .put("label", lock.holderLabel())
              .put("lease", lock.holder())
              .put("since", first)
              .put("until", nowMillis + lock.remaining().toMillis())
              .put("waiting", Locks.waiting(lock))
              .toString());
    }
    since = seen; // Leases that ended are forgotten.
    return json;
  }
}
