package dev.redlock.schedules;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import org.pastalab.fray.core.ThreadContext;
import org.pastalab.fray.core.randomness.Randomness;
import org.pastalab.fray.core.scheduler.Scheduler;

/** Chooses as another scheduler does, and a timer, the earliest, only if no other thread can run. */
final class IdleTimeScheduler extends Scheduler {
  private final Scheduler chosen;

  IdleTimeScheduler(Scheduler chosen) {
    super(chosen.getRand());
    this.chosen = chosen;
  }

  private static boolean isTimer(ThreadContext thread) {
    return thread.getThread().getName().startsWith(Uncontrolled.TIMER);
  }

  private static long at(ThreadContext timer) {
    return Long.parseLong(timer.getThread().getName().substring(Uncontrolled.TIMER.length()));
  }

  @Override
  public ThreadContext scheduleNextOperation(
      List<ThreadContext> ready, Collection<ThreadContext> all) {
    List<ThreadContext> others = ready.stream().filter(thread -> !isTimer(thread)).toList();
    return others.isEmpty()
        ? ready.stream().min(Comparator.comparingLong(IdleTimeScheduler::at)).orElseThrow()
        : chosen.scheduleNextOperation(others, all);
  }

  @Override
  public Scheduler nextIteration(Randomness randomness) {
    return new IdleTimeScheduler(chosen.nextIteration(randomness));
  }
}
