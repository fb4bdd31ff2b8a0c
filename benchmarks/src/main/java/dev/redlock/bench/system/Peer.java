package dev.redlock.bench.system;

import dev.redlock.LockOptions;
import dev.redlock.cluster.ClusterReleaseHints;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The measured systems. The names are those of the ratio lines. */
public enum Peer {
  REDLOCK,
  REDLOCK_FAIR,
  REDLOCK_METERED,
  /** Asks a majority of the nodes first. */
  REDLOCK_MAJORITY,
  FLOOR,
  /** Asks a majority of the nodes only. */
  FLOOR_MAJORITY,
  BARE,
  REDISSON_REDLOCK,
  REDISSON_MULTILOCK,
  REDISSON_RLOCK,
  SPRING_LOCKREGISTRY,
  NODE_REDLOCK;

  /** The printed name. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The system with this label. */
  public static Peer labelled(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  /** Whether it is this library. */
  public boolean isOurs() {
    return switch (this) {
      case REDLOCK, REDLOCK_FAIR, REDLOCK_METERED, REDLOCK_MAJORITY -> true;
      default -> false;
    };
  }

  /** Whether its callers wait for a lock that another client holds. */
  public boolean waits() {
    return this != FLOOR && this != FLOOR_MAJORITY && this != BARE;
  }

  /** The number of nodes that it uses. */
  public int nodesOf(int count) {
    return this == REDISSON_RLOCK || this == SPRING_LOCKREGISTRY ? 1 : count;
  }

  /** Whether it runs in this JVM only. */
  public boolean runsHere() {
    return this != NODE_REDLOCK;
  }

  /** Why it cannot be measured on this machine; empty if it can. */
  public Optional<String> whyAbsent() {
    return this == NODE_REDLOCK ? NodeProcess.whyAbsent() : Optional.empty();
  }

  /** Connects it to these nodes. When this returns, it is ready to lock. */
  public Contender open(List<String> uris) {
    return this == NODE_REDLOCK ? NodeContender.start(uris) : new JvmContender(connect(uris));
  }

  /** The options of this library in this mode. */
  public LockOptions.Builder options() {
    return LockOptions.builder().fair(this == REDLOCK_FAIR).majorityFirst(this == REDLOCK_MAJORITY);
  }

  /** Connects it in this JVM. */
  public LockClient connect(List<String> uris) {
    return switch (this) {
      case REDLOCK, REDLOCK_FAIR, REDLOCK_MAJORITY ->
          RedlockClient.connect(uris, options().build());
      case REDLOCK_METERED -> RedlockClient.metered(uris);
      case FLOOR -> FloorClient.connect(uris, FloorClient.Step.OUR_SCRIPTS);
      case FLOOR_MAJORITY -> FloorClient.connectToMajority(uris, FloorClient.Step.OUR_SCRIPTS);
      case BARE -> FloorClient.connect(uris, FloorClient.Step.BARE);
      case REDISSON_REDLOCK, REDISSON_MULTILOCK, REDISSON_RLOCK ->
          RedissonLocks.connect(this, uris);
      case SPRING_LOCKREGISTRY -> SpringLocks.connect(uris.get(0));
      case NODE_REDLOCK -> throw new IllegalArgumentException("not a Java system");
    };
  }

  /** Connects this number of clients, each with connections of its own. */
  public Crowd crowd(List<String> uris, int count) {
    return switch (this) {
      case REDLOCK, REDLOCK_FAIR, REDLOCK_MAJORITY ->
          RedlockClient.crowd(uris, options().build(), count);
      case REDISSON_REDLOCK, REDISSON_MULTILOCK, REDISSON_RLOCK ->
          RedissonLocks.crowd(this, uris, count);
      case NODE_REDLOCK -> NodeCrowd.start(uris, count);
      case REDLOCK_METERED, FLOOR, FLOOR_MAJORITY, BARE, SPRING_LOCKREGISTRY ->
          JvmCrowd.of(count, () -> connect(uris), null, () -> {});
    };
  }

}
