package dev.redlock.bench.system;

import dev.redlock.cluster.ReleaseNotices;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Who is measured. The names are those of the ratio lines. */
public enum Peer {
  REDLOCK,
  REDLOCK_FAIR,
  FLOOR,
  REDISSON_REDLOCK,
  REDISSON_MULTILOCK,
  REDISSON_RLOCK,
  SPRING_LOCKREGISTRY,
  NODE_REDLOCK;

  /** As it is printed. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The one with this label. */
  public static Peer labelled(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT).replace('-', '_'));
  }

  /** How many of the nodes it uses. */
  public int nodesOf(int count) {
    return this == REDISSON_RLOCK || this == SPRING_LOCKREGISTRY ? 1 : count;
  }

  /** Whether what it uses of this JVM is all that it uses. */
  public boolean runsHere() {
    return this != NODE_REDLOCK;
  }

  /** Why it cannot be measured here, or empty. */
  public Optional<String> whyAbsent() {
    return this == NODE_REDLOCK ? NodeContender.whyAbsent() : Optional.empty();
  }

  /** Connects it to these nodes; when this returns it can lock. */
  public Contender open(List<String> uris) {
    return this == NODE_REDLOCK ? NodeContender.start(uris) : new JvmContender(connect(uris));
  }

  /** Connects it in this JVM. */
  public LockClient connect(List<String> uris) {
    return switch (this) {
      case REDLOCK -> RedlockClient.connect(uris, false);
      case REDLOCK_FAIR -> RedlockClient.connect(uris, true);
      case FLOOR -> FloorClient.connect(uris);
      case REDISSON_REDLOCK, REDISSON_MULTILOCK, REDISSON_RLOCK ->
          RedissonLocks.connect(this, uris);
      case SPRING_LOCKREGISTRY -> SpringLocks.connect(uris.get(0));
      case NODE_REDLOCK -> throw new IllegalArgumentException("not a Java system");
    };
  }

  /** Connects it in this JVM to the cluster that these servers are part of. */
  public LockClient connectToCluster(List<String> uris) {
    return switch (this) {
      case REDLOCK -> RedlockClient.connectToCluster(uris, ReleaseNotices.SHARDED_PUBSUB);
      case REDISSON_RLOCK -> RedissonLocks.connectToCluster(uris);
      case SPRING_LOCKREGISTRY -> SpringLocks.connectToCluster(uris);
      default -> throw new IllegalArgumentException(label() + " takes no cluster");
    };
  }
}
