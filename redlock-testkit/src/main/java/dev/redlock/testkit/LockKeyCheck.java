package dev.redlock.testkit;

import dev.redlock.testkit.internal.Waiting;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks that no forbidden keys remain on the nodes after a test. */
record LockKeyCheck(RedisNodes nodes, String prefix) {

  /** How long a client may still clean up after the last call of the test. */
  private static final Duration CLEAN_UP_PATIENCE = Duration.ofSeconds(2);

  /** The marker of a node, the only key that never expires. */
  private static final String MARKER = "%node";

  /**
   * The suffix of a fence key. A colon in a lock's name is encoded, so no lock key ends with it.
   */
  private static final String FENCE = ":fence";

  /** In the keys that tell a process of its turn; such a key expires soon. */
  private static final Pattern TURN = Pattern.compile("}:\\d+:(wake|watch):");

  /**
   * Fails if a key has no time to live or, unless allowed, a lock key remains. A lock key is a
   * string. The fence and the keys of the queue may remain until they expire.
   */
  void verify(boolean locksMayRemain) {
    List<String> eternal = find(key -> key.ttl().isEmpty());
    if (!eternal.isEmpty()) {
      throw new AssertionError("Keys without a time to live: " + eternal);
    }
    Predicate<RedisKey> isLock =
        key ->
            key.type().equals("string")
                && !key.name().endsWith(FENCE)
                && !TURN.matcher(key.name()).find();
    if (!locksMayRemain && !Waiting.reached(CLEAN_UP_PATIENCE, () -> find(isLock).isEmpty())) {
      throw new AssertionError("Lock keys remain after the test: " + find(isLock));
    }
  }

  private List<String> find(Predicate<RedisKey> wanted) {
    return nodes.stream()
        .flatMap(node -> keys(node).filter(wanted).map(key -> "node " + node.index() + " " + key))
        .collect(Collectors.toList());
  }

  private Stream<RedisKey> keys(RedisNode node) {
    return node.keys().stream()
        .filter(key -> key.name().startsWith(prefix) && !key.name().equals(prefix + MARKER));
  }
}
