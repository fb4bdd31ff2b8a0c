package dev.redlock.examples.demo;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * The commands of the shop to this worker. Written by the thread that reads standard input, read by
 * the sellers.
 */
final class WorkerCommands {
  private final CountDownLatch open = new CountDownLatch(1);
  private final CountDownLatch thaw = new CountDownLatch(1);
  private final AtomicBoolean freezeNext = new AtomicBoolean();
  private volatile boolean closed;

  /** Executes a command line from the shop. */
  void follow(String line) {
    switch (line) {
      case "open" -> open.countDown();
      case "freeze" -> freezeNext.set(true);
      case "thaw" -> thaw.countDown();
      case "close" -> {
        closed = true;
        open.countDown();
      }
      default -> throw new IllegalArgumentException("unknown command: " + line);
    }
  }

  void awaitOpening() throws InterruptedException {
    open.await();
  }

  boolean closed() {
    return closed;
  }

  /**
   * If the shop told this worker to freeze, one seller reports it once and waits until the shop
   * tells it to continue.
   */
  void freezeIfTold(Worker.Out out, Supplier<Message> stuck) throws InterruptedException {
    if (freezeNext.compareAndSet(true, false)) {
      out.send(stuck.get());
      thaw.await();
    }
  }
}
