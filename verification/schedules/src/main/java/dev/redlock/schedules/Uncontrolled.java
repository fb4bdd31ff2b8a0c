package dev.redlock.schedules;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The threads and the clock of a scenario that no {@link Schedule} controls, but another tool. Each
 * timer is a thread that sleeps, and the clock moves to it. The tool lets it run when no other
 * thread can.
 */
final class Uncontrolled {
  /** That of the scenario that runs: one at a time. */
  static volatile Uncontrolled current = new Uncontrolled();

  /** What the names of timers begin with; their time follows. */
  static final String TIMER = "timer-";

  private static final long SECOND = 1_000_000_000L;
  private static final long START = 1_000 * SECOND;

  /** After this time threads that wait are left to the tool, which finds that they cannot go on. */
  private static final long END = START + 40 * SECOND;

  private final Thread main = Thread.currentThread();
  private final List<Thread> threads = new ArrayList<>();
  private final AtomicLong nanos = new AtomicLong(START);
  private volatile Throwable failure;
  private volatile boolean over;

  static void run(Runnable scenario) {
    Uncontrolled run = new Uncontrolled();
    current = run;
    run.tick();
    try {
      scenario.run();
      run.awaitOthers();
    } finally {
      run.over = true;
    }
    if (run.failure != null) {
      throw new AssertionError("in a thread of the scenario", run.failure);
    }
  }

  /** Lets time pass while threads wait for nothing else. */
  private void tick() {
    var unused = timer(this::tick, SECOND);
  }

  Thread spawn(String name, Runnable task) {
    Thread thread = start(name, task);
    synchronized (threads) {
      threads.add(thread);
    }
    return thread;
  }

  private Thread start(String name, Runnable task) {
    Thread thread =
        new Thread(
            () -> {
              try {
                task.run();
              } catch (Throwable e) {
                failure = e;
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  long nanos() {
    return nanos.get();
  }

  Runnable timer(Runnable task, long delayNanos) {
    AtomicBoolean open = new AtomicBoolean(true);
    long at = nanos() + Math.max(0, delayNanos);
    var unused = start(TIMER + at, () -> fire(task, at, open));
    return () -> open.set(false);
  }

  private void fire(Runnable task, long at, AtomicBoolean open) {
    try {
      Thread.sleep(1);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    Thread.currentThread().setName("fired");
    if (open.getAndSet(false) && !over && at < END) {
      nanos.accumulateAndGet(at, Math::max);
      task.run();
      // One may wait for this time. A park may return at any.
      others().forEach(LockSupport::unpark);
      LockSupport.unpark(main);
    }
  }

  /** Waits for those of the scenario, begun meanwhile too; then until threads of pools wait. */
  void awaitOthers() {
    CountDownLatch idle = new CountDownLatch(1);
    try {
      for (int i = 0; i < others().size(); i++) {
        others().get(i).join();
      }
      var unused = timer(idle::countDown, 0);
      idle.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private List<Thread> others() {
    synchronized (threads) {
      return threads.stream().filter(thread -> thread != Thread.currentThread()).toList();
    }
  }
}
