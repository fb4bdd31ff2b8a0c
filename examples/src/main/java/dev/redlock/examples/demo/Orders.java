package dev.redlock.examples.demo;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/** What the shop told this worker to do. Written by the thread that listens, read by sellers. */
final class Orders {
  private final CountDownLatch open = new CountDownLatch(1);
  private final CountDownLatch thaw = new CountDownLatch(1);
  private final AtomicBoolean freezeNext = new AtomicBoolean();
  private volatile boolean closed;

  /** Carries out a line from the shop. */
  void follow(String line) {
    switch (line) {
      case "open" -> open.countDown();
      case "freeze" -> freezeNext.set(true);
      case "thaw" -> thaw.countDown();
      case "close" -> {
        closed = true;
        open.countDown();
      }
      default -> throw new IllegalArgumentException("no such order: " + line);
    }
  }

  void awaitOpening() throws InterruptedException {
    open.await();
  }

  boolean closed() {
    return closed;
  }

  /** If told to freeze: says so, and stays until told to go on. One seller does, once. */
  void freezeIfTold(Worker.Out out, Supplier<Message> stuck) throws InterruptedException {
    if (freezeNext.compareAndSet(true, false)) {
      out.send(stuck.get());
      thaw.await();
    }
  }
}
