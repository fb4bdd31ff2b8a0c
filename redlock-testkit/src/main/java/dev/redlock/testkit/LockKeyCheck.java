package dev.redlock.testkit;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Looks for what locks must not leave on their nodes. */
record LockKeyCheck(RedisNodes nodes, String prefix) {

  /** For what a client cleans up after the call that the test waited for. */
  private static final Duration CLEAN_UP_PATIENCE = Duration.ofSeconds(2);

  /** Where a node keeps since when it is one; the one key that stays for ever. */
  private static final String MARKER = "%node";

  /**
   * Fails if a key has no time to live or, unless that is allowed, a lock is left. Of a lock's keys
   * only the lock itself is a string; fences and lines may stay until they expire.
   */
  void verify(boolean locksMayRemain) {
    List<String> eternal = find(key -> key.ttl().isEmpty());
    if (!eternal.isEmpty()) {
      throw new AssertionError("Keys without a time to live: " + eternal);
    }
    Predicate<RedisKey> isLock = key -> key.type().equals("string");
    if (!locksMayRemain && !Waiting.reached(CLEAN_UP_PATIENCE, () -> find(isLock).isEmpty())) {
      throw new AssertionError("Locks left after the test: " + find(isLock));
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
