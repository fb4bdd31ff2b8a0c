package dev.redlock.simulation;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A thread of a simulated process that may block. It is a thread of the JVM, so code that depends
 * on the identity of a thread works as in production. It runs only while the thread that resumes it
 * waits. So one thread runs at a time, and the agenda decides which.
 */
final class SimThread extends Thread {
  /** Unwinds a thread whose process is gone. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1;

    Killed() {
      super("the process is gone", null, false, false);
    }
  }

  private static final long STUCK_NANOS = 30 * Scenario.SECOND;

  private final ShellClient client;
  private final Runnable task;
  private final Semaphore go = new Semaphore(0);
  private final Semaphore back = new Semaphore(0);

  // Confined to the thread that runs: the semaphores order the accesses.
  private BooleanSupplier done;
  private boolean waking;
  private boolean killed;

  /** The flag of the JVM cannot be read while the thread waits to be resumed. */
  private boolean interruptAsked;

  private boolean begun;
  private boolean over;
  private final int number;
  private int parks;

  SimThread(ShellClient client, Runnable task) {
    super(null, null, "simulated", 256 * 1024);
    this.client = client;
    this.task = task;
    number = client.world.threadNumber();
    setDaemon(true);
  }

  /**
   * Maps of threads are read in this order, because the order of identity hash codes differs in
   * each run.
   */
  @Override
  public int hashCode() {
    return number;
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  boolean isOver() {
    return over;
  }

  @Override
  public synchronized void start() {
    client.world.add(this);
    client.soon(this::resumeNow);
  }

  @Override
  public void interrupt() {
    super.interrupt();
    if (Thread.currentThread() != this) { // A semaphore restores the flag of its own thread.
      interruptAsked = true;
    }
  }

  @Override
  public void run() {
    go.acquireUninterruptibly();
    try {
      if (!killed) {
        task.run();
      }
    } catch (Killed e) {
      // Its process is gone.
    } catch (Throwable e) {
      client.world.failed(
          e instanceof RuntimeException || e instanceof AssertionError
              ? e
              : new IllegalStateException("in a simulated thread", e));
    } finally {
      over = true;
      back.release();
    }
  }

  private void resumeNow() {
    if (over) {
      return;
    }
    if (!begun) {
      begun = true;
      super.start();
    }
    waking = false;
    done = null;
    interruptAsked = false;
    go.release();
    if (!comesBack()) {
      over = true; // The thread cannot be ended. It delays only itself.
      throw new Violation("blocked", getName() + " waits for a monitor of a paused thread");
    }
    if (over) {
      awaitDeath();
    }
  }

  /** Whether it parks or ends. Only a deadlock of the JVM's own threads lasts that long. */
  private boolean comesBack() {
    boolean interrupted = false;
    try {
      for (long end = System.nanoTime() + STUCK_NANOS; ; ) {
        try {
          return back.tryAcquire(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** {@link Thread#isAlive} must be false from now on: the shell asks. */
  private void awaitDeath() {
    boolean interrupted = false;
    while (true) {
      try {
        join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Called on this thread. */
  void park(BooleanSupplier until, long nanos) {
    if (killed) {
      throw new Killed();
    }
    done = until;
    int number = ++parks;
    if (nanos != Long.MAX_VALUE) {
      client.atMono(
          client.mono() + nanos,
          () -> {
            if (done != null && parks == number && !waking) {
              resumeNow();
            }
          });
    }
    back.release();
    go.acquireUninterruptibly();
    if (killed) {
      throw new Killed();
    }
  }

  /** Called after every event: what a parked thread waits for may have happened. */
  void wakeIfDone() {
    if (done != null && !waking && (interruptAsked || done.getAsBoolean())) {
      waking = true;
      World world = client.world;
      world.at(
          world.now + world.rng.between(0, 20_000),
          () ->
              client.act(
                  () -> {
                    if (waking) {
                      resumeNow();
                    }
                  }));
    }
  }

  /** Unwinds this thread now; called by another one. */
  void kill() {
    if (!over && Thread.currentThread() != this) {
      killed = true;
      if (begun) {
        go.release();
        back.acquireUninterruptibly();
        awaitDeath();
      } else {
        over = true;
      }
    }
  }
}
