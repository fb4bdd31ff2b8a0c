package dev.redlock.schedules;

import dev.redlock.schedules.Schedule.Worker;
import java.util.concurrent.locks.LockSupport;

/** What instrumented classes call. On threads that are not under control it changes nothing. */
public final class Points {
  private Points() {}

  /** Another thread may continue here. */
  public static void point(String label) {
    Worker here = Schedule.here();
    if (here != null) {
      here.schedule.point(here, label);
    }
  }

  /** The current thread continues until {@link #end}. */
  public static void begin(String label) {
    Worker here = Schedule.here();
    if (here != null) {
      here.schedule.point(here, label);
      here.atomic++;
    }
  }

  /** Ends the step that {@link #begin} began. */
  public static void end() {
    Worker here = Schedule.here();
    if (here != null) {
      here.atomic--;
    }
  }

  /** In place of entering a monitor. */
  public static void enter(Object object, String label) {
    Worker here = Schedule.here();
    if (here != null) {
      here.schedule.enter(here, object, label);
    }
  }

  /** In place of leaving a monitor. */
  public static void exit(Object object) {
    Worker here = Schedule.here();
    if (here != null) {
      here.schedule.exit(here, object);
    }
  }

  /** In place of {@link LockSupport#park(Object)}. */
  public static void park(Object blocker) {
    Worker here = Schedule.here();
    if (here == null) {
      LockSupport.park(blocker);
    } else {
      here.schedule.park(here, false, 0);
    }
  }

  /** In place of {@link LockSupport#parkNanos(Object, long)}. */
  public static void parkNanos(Object blocker, long nanos) {
    Worker here = Schedule.here();
    if (here == null) {
      LockSupport.parkNanos(blocker, nanos);
    } else if (nanos > 0) {
      here.schedule.park(here, true, nanos);
    }
  }

  /** In place of {@link LockSupport#unpark}. */
  public static void unpark(Thread thread) {
    Worker here = Schedule.here();
    if (here == null) {
      LockSupport.unpark(thread);
    } else if (thread != null) {
      here.schedule.unpark(thread);
    }
  }

  /** In place of {@link Thread#isAlive}. */
  public static boolean isAlive(Thread thread) {
    return thread instanceof Worker worker ? !worker.done : thread.isAlive();
  }

  /** In place of {@link Thread#start}. */
  public static void start(Thread thread) {
    Worker here = Schedule.here();
    if (here == null || thread instanceof Worker) {
      thread.start();
    } else {
      var unused = Schedule.spawn(thread.getName(), thread);
    }
  }
}
