package dev.redlock.internal;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The threads of one client and of its nodes, at the end of its close. A container closes the class
 * loader of an application when the close has returned. A thread that still runs then fails, and
 * keeps the class loader reachable.
 */
record OwnThreads(ClientContext context) {
  private static final long CHECK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  /**
   * The longest wait is 1 s. User code may block a callback, or a callback may wait for the thread
   * that closes the client. Counted in checks: while the process is paused, its threads cannot end.
   */
  private static final int MAX_CHECKS = 1_000;

  /** Whether the current thread is one of the client's pools. */
  boolean areHere() {
    return living().anyMatch(Thread.currentThread()::equals);
  }

  /**
   * Returns when all of them have ended, except the current one, or after {@link #MAX_CHECKS} with
   * a line in the log.
   */
  void awaitEnd() {
    boolean interrupted = false;
    for (int checks = 0; !haveEnded(); checks++) {
      if (checks == MAX_CHECKS) {
        context.log.warn(
            "the client is closed, but after 1 s not all of its threads have ended; a callback that"
                + " blocks keeps its thread: {}; nodes: {}",
            others().map(Thread::getName).limit(8).toList(),
            unendedNodes());
        break;
      }
      context.blocking.pause(CHECK_NANOS);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean haveEnded() {
    return others().findAny().isEmpty() && unendedNodes().isEmpty() && context.hints.areEnded();
  }

  private List<String> unendedNodes() {
    return IntStream.range(0, context.nodes.count())
        .filter(i -> !context.nodes.node(i).isEnded())
        .mapToObj(context.nodes::name)
        .toList();
  }

  private Stream<Thread> others() {
    return living().filter(thread -> thread != Thread.currentThread());
  }

  private Stream<Thread> living() {
    return Stream.of(
            context.locks.livingThreads(),
            context.systemTime.livingThreads(),
            context.callbackThreads.livingThreads())
        .flatMap(List::stream);
  }
}
