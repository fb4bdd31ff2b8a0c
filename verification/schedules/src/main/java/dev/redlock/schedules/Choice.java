package dev.redlock.schedules;

import dev.redlock.schedules.Schedule.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Which thread continues. */
interface Choice {
  /**
   * One of the threads that can run.
   *
   * @param here the current thread if it can run, otherwise null
   * @param step the number of this choice
   */
  Worker choose(List<Worker> ready, Worker here, int step);

  /** A thread was made. */
  default void onThread(int id) {}

  /**
   * The current thread continues as long as it can, except that at each of the given steps another
   * one takes over. Without such steps the threads run one after another.
   *
   * @param last which thread is preferred when the current one ends: the first or the last
   * @param steps the steps, in rising order
   * @param others at each of the steps, which of the other threads takes over
   */
  static Choice preempting(boolean last, int[] steps, int[] others) {
    return (ready, here, step) -> {
      if (here == null) {
        return ready.get(last ? ready.size() - 1 : 0);
      }
      for (int i = 0; i < steps.length; i++) {
        if (steps[i] == step) {
          List<Worker> rest = new ArrayList<>(ready);
          rest.remove(here);
          return rest.get(others[i] % rest.size());
        }
      }
      return here;
    };
  }

  /** At random: with few or many changes, or by priorities that change at a few steps. */
  static Choice random(long seed, int length) {
    Random random = new Random(seed * 0x9E3779B97F4A7C15L);
    return seed % 3 == 0 ? byPriority(random, length) : walk(random);
  }

  private static Choice walk(Random random) {
    double change = new double[] {0.02, 0.1, 0.4}[random.nextInt(3)];
    return (ready, here, step) ->
        here != null && random.nextDouble() >= change
            ? here
            : ready.get(random.nextInt(ready.size()));
  }

  private static Choice byPriority(Random random, int length) {
    int changes = 1 + random.nextInt(4);
    int[] at = new int[changes];
    for (int i = 0; i < changes; i++) {
      at[i] = 1 + random.nextInt(Math.max(1, length));
    }
    List<Integer> priorities = new ArrayList<>();
    return new Choice() {
      private int lowest;

      @Override
      public void onThread(int id) {
        priorities.add(1 + random.nextInt(1_000_000));
      }

      @Override
      public Worker choose(List<Worker> ready, Worker here, int step) {
        for (int a : at) {
          if (a == step && here != null) {
            priorities.set(here.id, --lowest);
          }
        }
        Worker best = ready.get(0);
        for (Worker worker : ready) {
          if (priorities.get(worker.id) > priorities.get(best.id)) {
            best = worker;
          }
        }
        return best;
      }
    };
  }
}
