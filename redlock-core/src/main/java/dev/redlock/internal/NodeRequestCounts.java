package dev.redlock.internal;

import dev.redlock.RedlockListener.NodeRequests;
import dev.redlock.internal.sets.Members;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counts the replies of the nodes by operation and result. An event for each would cost more than
 * the request, so the listeners receive the sums twice a second. Any thread counts; the heartbeat
 * and the close report.
 */
final class NodeRequestCounts {
  private final ClientContext context;
  private final Map<Kind, Counts> counts = new ConcurrentHashMap<>();

  /** By node: the pending releases that listeners were told last. Guarded by this. */
  private final int[] toldPending;

  /** The replies that are counted together. */
  private record Kind(
      int node, LockRequest.Operation operation, Code code, NodeError.@Nullable Kind error) {}

  private static final class Counts {
    final LongAdder count = new LongAdder();
    final LongAdder nanos = new LongAdder();
    final LongAccumulator longest = new LongAccumulator(Math::max, 0);
  }

  NodeRequestCounts(ClientContext context) {
    this.context = context;
    toldPending = new int[Members.MAX];
  }

  void add(LockRequest request, int node, NodeReply reply, long tookNanos) {
    NodeError error = reply.error();
    Kind kind =
        error == null
            ? new Kind(node, request.operation(), reply.code(), null)
            : new Kind(node, request.operation(), Code.FAILED, error.kind());
    Counts sums = counts.computeIfAbsent(kind, added -> new Counts());
    long nanos = Math.max(0, tookNanos);
    sums.nanos.add(nanos);
    sums.longest.accumulate(nanos);
    sums.count.increment();
  }

  /** Tells the listeners what has changed since the last call. */
  synchronized void report() {
    counts.forEach(this::report);
    for (int i = 0; i < toldPending.length; i++) {
      int pending = context.nodes.releasesPending(i);
      if (pending != toldPending[i]) {
        toldPending[i] = pending;
        String node = context.nodes.name(i);
        context.events.tell(l -> l.onPendingReleases(node, pending));
      }
    }
  }

  private void report(Kind kind, Counts sums) {
    long count = sums.count.sumThenReset();
    if (count > 0) {
      NodeRequests requests =
          new NodeRequests(
              context.nodes.name(kind.node()),
              kind.operation(),
              kind.code(),
              kind.error(),
              count,
              Duration.ofNanos(sums.nanos.sumThenReset()),
              Duration.ofNanos(sums.longest.getThenReset()));
      context.events.tell(l -> l.onNodeRequests(requests));
    }
  }
}
