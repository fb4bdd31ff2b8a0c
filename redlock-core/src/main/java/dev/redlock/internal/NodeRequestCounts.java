package dev.redlock.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.RedlockListener.NodeRequests;
import dev.redlock.RedlockListener.Operation;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Counts the replies of the nodes by operation and result. An event for each would cost more than
 * the request, so the listeners receive the sums twice a second. Any thread counts; the heartbeat
 * and the close report.
 */
@SuppressWarnings("EnumOrdinal") // Only indexes of an array in this process.
final class NodeRequestCounts {
  private static final int OPERATIONS = Operation.values().length;
  private static final ReplyCode[] CODES = ReplyCode.values();
  private static final NodeError.Kind[] KINDS = NodeError.Kind.values();

  /** Each code, then FAILED by each kind of error. */
  private static final int RESULTS = CODES.length + KINDS.length;

  private final ClientContext context;

  /** At (node, operation, result); null until there is such a reply. */
  private final AtomicReferenceArray<@Nullable Cell> cells;

  /** The cells that exist, which are few: all that a report has to read. */
  private final List<Cell> used = new CopyOnWriteArrayList<>();

  /** What listeners were told last. Guarded by this. */
  private final int[] cleanups;

  private static final class Cell {
    final int index;
    final LongAdder count = new LongAdder();
    final LongAdder nanos = new LongAdder();
    final LongAccumulator longest = new LongAccumulator(Math::max, 0);

    Cell(int index) {
      this.index = index;
    }
  }

  NodeRequestCounts(ClientContext context) {
    this.context = context;
    int nodes = context.nodes.count();
    cells = new AtomicReferenceArray<>(nodes * OPERATIONS * RESULTS);
    cleanups = new int[nodes];
  }

  void add(LockRequest request, int node, NodeReply reply, long tookNanos) {
    NodeError error = reply.error();
    int result = error == null ? reply.code().ordinal() : CODES.length + error.kind().ordinal();
    Cell cell = cell((node * OPERATIONS + operation(request).ordinal()) * RESULTS + result);
    long nanos = Math.max(0, tookNanos);
    cell.nanos.add(nanos);
    cell.longest.accumulate(nanos);
    cell.count.increment();
  }

  private static Operation operation(LockRequest request) {
    if (request instanceof LockRequest.Acquire) {
      return Operation.ACQUIRE;
    } else if (request instanceof LockRequest.Extend) {
      return Operation.EXTEND;
    } else if (request instanceof LockRequest.Release) {
      return Operation.RELEASE;
    } else if (request instanceof LockRequest.Enqueue) {
      return Operation.ENQUEUE;
    } else if (request instanceof LockRequest.Break) {
      return Operation.BREAK;
    }
    return Operation.INSPECT;
  }

  private Cell cell(int index) {
    Cell known = cells.get(index);
    if (known == null) {
      Cell added = new Cell(index);
      used.add(added); // Before a thread can count in it.
      if (!cells.compareAndSet(index, null, added)) {
        used.remove(added); // Another thread was faster.
      }
      known = cells.get(index);
    }
    return requireNonNull(known);
  }

  /** Tells the listeners what has changed since the last call. */
  synchronized void report() {
    for (Cell cell : used) {
      long count = cell.count.sumThenReset();
      if (count > 0) {
        report(cell.index, count, cell.nanos.sumThenReset(), cell.longest.getThenReset());
      }
    }
    for (int i = 0; i < cleanups.length; i++) {
      int pending = context.cleanups.of(i);
      if (pending != cleanups[i]) {
        cleanups[i] = pending;
        context.events.pendingReleases(context.nodes.name(i), pending);
      }
    }
  }

  private void report(int index, long count, long totalNanos, long longestNanos) {
    int result = index % RESULTS;
    int operation = index / RESULTS % OPERATIONS;
    boolean failed = result >= CODES.length;
    context.events.nodeRequests(
        new NodeRequests(
            context.nodes.name(index / RESULTS / OPERATIONS),
            Operation.values()[operation],
            failed ? ReplyCode.FAILED : CODES[result],
            failed ? KINDS[result - CODES.length] : null,
            count,
            Duration.ofNanos(totalNanos),
            Duration.ofNanos(longestNanos)));
  }
}
