package dev.redlock.internal;

import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.internal.ScriptedWorld.Node;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spi.Time;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** A client for many states at once. Its node replies at once, and it has no timers. */
final class SharedClient {
  private static final AtomicLong NAMES = new AtomicLong();
  private static final Client CLIENT =
      (Client)
          Redlock.builder()
              .nodes(new SafeNode())
              .restartGuard(RestartGuard.OFF)
              .time(new NoTimers())
              .callbackExecutor(Runnable::run)
              .build();

  private SharedClient() {}

  private static final class SafeNode extends Node {
    SafeNode() {
      super("a", true);
    }

    @Override
    synchronized NodeReply execute(LockRequest request) {
      return super.execute(request);
    }
  }

  private record NoTimers() implements Time {
    @Override
    public long nanos() {
      return System.nanoTime();
    }

    @Override
    public long wallMillis() {
      return System.currentTimeMillis();
    }

    @Override
    public Cancellable schedule(Runnable task, long delayNanos) {
      return () -> {};
    }
  }

  private static String name() {
    return "lock-" + NAMES.incrementAndGet();
  }

  /** The events of a listener, delivered by the threads that add them. */
  static ListenerQueue events() {
    ClientContext context = CLIENT.context();
    RedlockListener listener = new RedlockListener() {};
    var queue = new ListenerQueue(listener, Runnable::run, context.time, context.failures, 100);
    queue.close(); // No pause between two deliveries: it would need a timer.
    return queue;
  }

  static LockActor actor() {
    return new LockActor(CLIENT.context(), LockKeys.of("redlock", List.of(name())));
  }

  static LeaseCore lease() {
    return ((DefaultLease) CLIENT.lock(name()).tryAcquire().orElseThrow()).core();
  }
}
