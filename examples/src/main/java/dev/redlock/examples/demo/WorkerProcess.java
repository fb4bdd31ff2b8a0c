package dev.redlock.examples.demo;

import dev.redlock.harness.ForkedJvm;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** One worker as seen by the shop: a process that receives commands and sends reports. */
final class WorkerProcess implements AutoCloseable {
  private static final long LOOK_MILLIS = 50;

  private final int number;
  private final long startedNanos = System.nanoTime();
  private final CountDownLatch ready = new CountDownLatch(1);
  private final CountDownLatch done = new CountDownLatch(1);
  private final ForkedJvm jvm;
  // Set by the shop before the start of the sales, read by the thread that reads the reports.
  private volatile Consumer<Message> reports = message -> {};
  // Written by that thread before the worker is ready.
  private volatile long readyNanos;

  WorkerProcess(int number, String settings) {
    this.number = number;
    jvm =
        ForkedJvm.of(Worker.class)
            .name("worker " + number)
            .jvmArgs("-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
            .args(settings)
            .onLine(this::take)
            .start();
  }

  int number() {
    return number;
  }

  boolean alive() {
    return jvm.isAlive();
  }

  /** Sets the consumer of the worker's reports. */
  void reportTo(Consumer<Message> reports) {
    this.reports = reports;
  }

  /**
   * Returns when the worker is connected.
   *
   * @throws IllegalStateException if it ends before that, takes too long, or does not share this
   *     process's clock
   */
  void awaitReady(Duration patience) throws InterruptedException {
    await(ready, "is not ready", patience);
    RunClock.requireShared(startedNanos, readyNanos);
  }

  /**
   * Returns when the worker has sold its last coupon.
   *
   * @throws IllegalStateException if it ends before that, or takes too long
   */
  void awaitDone(Duration patience) throws InterruptedException {
    await(done, "has not closed", patience);
  }

  private void await(CountDownLatch latch, String complaint, Duration patience)
      throws InterruptedException {
    long deadlineNanos = System.nanoTime() + patience.toNanos();
    while (!latch.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
      // The last output of a dead worker may not have arrived yet, so wait for it before failing.
      boolean ended = !alive() && !latch.await(1, TimeUnit.SECONDS);
      if (ended || System.nanoTime() > deadlineNanos) {
        throw new IllegalStateException(complaint + ": " + jvm.describe());
      }
    }
  }

  /** Sends a command. It is lost if the worker is dead. */
  void command(String command) {
    try {
      jvm.send(command);
    } catch (UncheckedIOException e) {
      if (alive()) {
        throw e;
      }
    }
  }

  void kill() {
    jvm.kill();
  }

  void pause() {
    jvm.pause();
  }

  void resume() {
    jvm.resume();
  }

  private void take(String line) {
    Message.parse(line)
        .ifPresentOrElse(this::take, () -> System.err.println("worker " + number + ": " + line));
  }

  private void take(Message message) {
    switch (message.type()) {
      case "ready" -> {
        readyNanos = message.number("nanos");
        ready.countDown();
      }
      case "done" -> done.countDown();
      default -> reports.accept(message);
    }
  }

  @Override
  public void close() {
    jvm.close();
  }
}
