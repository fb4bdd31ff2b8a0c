package dev.redlock.internal;

import dev.redlock.internal.operations.OperatorClient.Clock;
import dev.redlock.internal.protocol.NodeKnowledge;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** How far the clock of each node is off. Warns once when it is, and again after it was right. */
final class ClockLog {
  /** The skew that is reported. Tokens tolerate 4 s between the nodes of a quorum. */
  private static final Duration REPORTED_SKEW = Duration.ofSeconds(1);

  private final ClientContext context;

  /** The nodes whose clocks were reported since they were last right. */
  private final Set<Integer> warned = ConcurrentHashMap.newKeySet();

  ClockLog(ClientContext context) {
    this.context = context;
  }

  /** A clock was read. */
  void read(int node) {
    Clock clock = clock(node);
    if (clock.complaint() != null && warned.add(node)) {
      context.log.warn("node {}: {}", context.nodes.name(node), clock.complaint());
    } else if (clock.complaint() == null && clock.skew() != null) {
      warned.remove(node);
    }
  }

  Clock clock(int node) {
    NodeKnowledge own = context.nodes.knowledge(node);
    Duration skew = own.clockKnown() ? skew(node, own) : null;
    return new Clock(own.clockKnown(), skew, skew == null ? null : complaint(skew));
  }

  /** Null while no other clock than its own is known. */
  private @Nullable Duration skew(int node, NodeKnowledge own) {
    long[] clocks = context.nodes.clocksMicros(0);
    if (clocks.length < (context.nodes.members().contains(node) ? 2 : 1)) {
      return null;
    }
    long median = clocks[(clocks.length - 1) / 2];
    return Duration.ofNanos((own.estimateMicros(0) - median) * 1000);
  }

  private static @Nullable String complaint(Duration skew) {
    return skew.abs().compareTo(REPORTED_SKEW) < 0
        ? null
        : "its clock is %s ms %s the other nodes' median; from 2 s on it refuses tokens"
            .formatted(skew.abs().toMillis(), skew.isNegative() ? "behind" : "ahead of");
  }
}
