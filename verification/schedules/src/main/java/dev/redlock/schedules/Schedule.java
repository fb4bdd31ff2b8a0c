package dev.redlock.schedules;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * One execution of several threads of which exactly one runs at any time. At each point, which the
 * {@link Instrumentation} puts before every access to shared memory, the {@link Choice} says which
 * thread continues. The same choice gives the same execution.
 *
 * <p>Monitors, parked threads, timers and the clock are simulated. When no thread can run, the
 * clock moves to the next timer or to the end of the next timed wait. If there is none either, the
 * threads wait for ever, and the execution fails.
 *
 * <p>Points are sequentially consistent: this finds wrong orders, not missing memory barriers.
 */
public final class Schedule {
  /** An execution this long does not end. */
  private static final int MAX_STEPS = 60_000;

  private static final long MAX_SECONDS = 20;

  /** A thread under control. */
  static final class Worker extends Thread {
    final Schedule schedule;
    final int id;
    final Semaphore turn = new Semaphore(0);
    final Runnable task;
    boolean done;
    boolean permit;

    /** What it waits for: null, or a monitor, or {@link #PARKED}, or {@link #OTHERS}. */
    Object waitsFor;

    boolean timed;
    long wakeNanos;

    /**
     * While this is above zero, no other thread interrupts it: it runs inside an operation that
     * counts as atomic.
     */
    int atomic;

    String at = "its start";

    Worker(Schedule schedule, int id, String name, Runnable task) {
      super(name + "-" + id);
      this.schedule = schedule;
      this.id = id;
      this.task = task;
      setDaemon(true);
    }

    @Override
    public void run() {
      turn.acquireUninterruptibly();
      try {
        task.run();
      } catch (Throwable e) {
        schedule.fail(e);
      }
      done = true;
      schedule.leave(this);
    }
  }

  private static final Object PARKED = new Object();
  private static final Object OTHERS = new Object();

  private static final class Monitor {
    Worker owner;
    int count;
  }

  private record Timer(Runnable task, long atNanos, long number) {}

  private final Choice choice;
  private final List<Worker> workers = new ArrayList<>();
  private final List<Timer> timers = new ArrayList<>();
  private final IdentityHashMap<Object, Monitor> monitors = new IdentityHashMap<>();
  private final CountDownLatch over = new CountDownLatch(1);
  private final List<String> trace = new ArrayList<>();
  private long nanos = 1_000_000_000_000L;
  private long numbers;
  private int steps;
  private long digest = 17;
  private volatile Throwable failure;

  private Schedule(Choice choice) {
    this.choice = choice;
  }

  /** The result of one execution. */
  public record Result(Throwable failure, int steps, long digest, List<String> trace) {}

  /** Runs the body as the first thread. */
  static Result run(Choice choice, Runnable body) {
    Schedule schedule = new Schedule(choice);
    Worker first = schedule.add("main", body);
    first.start();
    first.turn.release();
    try {
      if (!schedule.over.await(MAX_SECONDS, TimeUnit.SECONDS)) {
        schedule.failure =
            new AssertionError("no point for " + MAX_SECONDS + " s, after " + schedule.where());
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    return new Result(schedule.failure, schedule.steps, schedule.digest, schedule.trace);
  }

  /** The schedule of the current thread; null if it is not under control. */
  static Worker here() {
    return Thread.currentThread() instanceof Worker worker ? worker : null;
  }

  private Worker add(String name, Runnable task) {
    Worker worker = new Worker(this, workers.size(), name, task);
    workers.add(worker);
    choice.onThread(worker.id);
    return worker;
  }

  // What a scenario calls.

  /** Starts a thread; it runs when it is chosen. */
  public static Thread spawn(String name, Runnable task) {
    Worker here = here();
    if (here == null) {
      return Uncontrolled.current.spawn(name, task);
    }
    Worker worker = here.schedule.add(name, task);
    worker.start();
    return worker;
  }

  /** Runs the task as one step, for example to prepare a scenario. */
  public static void atOnce(Runnable task) {
    Worker here = here();
    if (here == null) {
      task.run();
      return;
    }
    here.atomic++;
    try {
      task.run();
    } finally {
      here.atomic--;
    }
  }

  /** Waits until all other threads have ended. */
  public static void awaitOthers() {
    Worker here = here();
    if (here == null) {
      Uncontrolled.current.awaitOthers();
      return;
    }
    here.waitsFor = OTHERS;
    here.at = "awaitOthers";
    here.schedule.next(here, false);
  }

  /** The simulated clock. */
  public static long nanos() {
    Worker here = here();
    return here == null ? Uncontrolled.current.nanos() : here.schedule.nanos;
  }

  /** Sets a timer; its task runs on a thread of its own. Returns what cancels it. */
  public static Runnable timer(Runnable task, long delayNanos) {
    Worker here = here();
    if (here == null) {
      return Uncontrolled.current.timer(task, delayNanos);
    }
    Schedule schedule = here.schedule;
    Timer timer = new Timer(task, schedule.nanos + Math.max(0, delayNanos), ++schedule.numbers);
    schedule.timers.add(timer);
    return () -> schedule.timers.remove(timer);
  }

  /** Interrupts a thread under control. */
  public static void interrupt(Thread thread) {
    thread.interrupt();
    if (thread instanceof Worker worker && worker.waitsFor == PARKED) {
      worker.waitsFor = null;
    }
  }

  // What the points call.

  void point(Worker here, String label) {
    if (here.atomic > 0) {
      return;
    }
    here.at = label;
    next(here, true);
  }

  void enter(Worker here, Object object, String label) {
    point(here, label);
    Monitor monitor = monitors.computeIfAbsent(object, o -> new Monitor());
    while (monitor.owner != null && monitor.owner != here) {
      if (here.atomic > 0) {
        throw new IllegalStateException("would block inside an atomic step, at " + label);
      }
      here.waitsFor = object;
      next(here, false);
      monitor = monitors.computeIfAbsent(object, o -> new Monitor()); // The last exit removed it.
    }
    monitor.owner = here;
    monitor.count++;
  }

  void exit(Worker here, Object object) {
    Monitor monitor = monitors.get(object);
    if (--monitor.count == 0) {
      monitor.owner = null;
      monitors.remove(object);
      for (Worker worker : workers) {
        if (worker.waitsFor == object) {
          worker.waitsFor = null;
        }
      }
    }
  }

  void park(Worker here, boolean timed, long delayNanos) {
    here.at = "park";
    if (!here.permit && !here.isInterrupted()) {
      here.waitsFor = PARKED;
      here.timed = timed;
      here.wakeNanos = nanos + delayNanos;
      next(here, false);
    }
    here.permit = false;
  }

  void unpark(Thread thread) {
    if (thread instanceof Worker worker) {
      worker.permit = true;
      if (worker.waitsFor == PARKED) {
        worker.waitsFor = null;
      }
    }
  }

  // The choice.

  private void leave(Worker here) {
    next(here, false);
  }

  private void next(Worker here, boolean mayStay) {
    if (failure != null) {
      return; // Reported already; the rest of this execution is not observed.
    }
    if (++steps > MAX_STEPS) {
      fail(new AssertionError("does not end: " + where()));
      return;
    }
    Worker chosen = choose(here, mayStay);
    if (chosen == null || chosen == here) {
      return;
    }
    trace.add(
        chosen.getName()
            + " continues after "
            + chosen.at
            + " ("
            + here.getName()
            + " at "
            + here.at
            + ")");
    chosen.turn.release();
    if (!here.done) {
      here.turn.acquireUninterruptibly();
    }
  }

  private Worker choose(Worker here, boolean mayStay) {
    while (true) {
      List<Worker> ready = new ArrayList<>();
      for (Worker worker : workers) {
        if (!worker.done && worker.waitsFor == null) {
          ready.add(worker);
        }
      }
      if (!ready.isEmpty()) {
        Worker chosen =
            ready.size() == 1 ? ready.get(0) : choice.choose(ready, mayStay ? here : null, steps);
        digest = 31 * digest + 7L * chosen.id + chosen.at.hashCode();
        return chosen;
      }
      if (workers.stream().allMatch(w -> w.done)) {
        over.countDown();
        return null;
      }
      if (!wakeWaiterForOthers() && !passTime()) {
        fail(new AssertionError("threads wait for ever: " + where()));
        return null;
      }
    }
  }

  private boolean wakeWaiterForOthers() {
    Worker waiter = null;
    for (Worker worker : workers) {
      if (!worker.done && worker.waitsFor != OTHERS) {
        return false;
      }
      waiter = worker.done ? waiter : worker;
    }
    if (waiter != null) {
      waiter.waitsFor = null;
    }
    return waiter != null;
  }

  /** Moves the clock to what is due next; false if nothing is. */
  private boolean passTime() {
    Worker first = null;
    for (Worker worker : workers) {
      if (!worker.done
          && worker.waitsFor == PARKED
          && worker.timed
          && (first == null || worker.wakeNanos < first.wakeNanos)) {
        first = worker;
      }
    }
    Timer due = null;
    for (Timer timer : timers) {
      if (due == null || timer.atNanos < due.atNanos) {
        due = timer;
      }
    }
    if (due != null && (first == null || due.atNanos <= first.wakeNanos)) {
      timers.remove(due);
      nanos = Math.max(nanos, due.atNanos);
      Worker worker = add("timer", due.task);
      worker.start();
      return true;
    }
    if (first != null) {
      nanos = Math.max(nanos, first.wakeNanos);
      first.waitsFor = null;
      return true;
    }
    return false;
  }

  private String where() {
    StringBuilder text = new StringBuilder();
    for (Worker worker : workers) {
      if (!worker.done) {
        text.append(worker.getName()).append(" at ").append(worker.at).append("; ");
      }
    }
    return text.toString();
  }

  /** Ends the execution with this failure. Its threads are left where they are. */
  void fail(Throwable e) {
    if (failure == null) {
      failure = e;
      over.countDown();
    }
  }
}
