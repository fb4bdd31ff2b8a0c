package dev.redlock.simulation;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A pool of a client without threads: the agenda runs its tasks. As in the real pool, as many tasks
 * run at a time as it has core threads, and a task that blocks occupies one of them.
 */
final class SimPool extends ThreadPoolExecutor {
  private static final int FEW = 2;

  /** How long a callback waits for a thread at most, although others block. */
  static final long PATIENCE_NANOS = 200 * Scenario.MS;

  private final ShellClient client;
  private int core = FEW;
  private int busy;

  SimPool(ShellClient client) {
    super(FEW, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
    this.client = client;
    allowCoreThreadTimeOut(true);
  }

  @Override
  public void execute(Runnable task) {
    if (busy < core) {
      begin(task);
    } else {
      World world = client.world;
      long queued = world.now;
      getQueue()
          .add(
              () -> {
                requireSoon(queued);
                task.run();
              });
    }
  }

  /** Blocked callbacks must not delay others: the client adds threads every 10 ms. */
  private void requireSoon(long queuedTrue) {
    World world = client.world;
    boolean ran = client.resumedMono() - client.mono(queuedTrue) < 0;
    if (ran && world.now - queuedTrue > PATIENCE_NANOS) {
      world.failed(
          new Violation(
              "callbacks",
              "a callback waited for " + Scenario.ms(world.now - queuedTrue) + " for a thread"));
    }
  }

  private void begin(Runnable task) {
    busy++;
    World world = client.world;
    world.at(
        world.now + world.rng.between(0, 100_000),
        () ->
            client.act(
                () -> {
                  try {
                    task.run();
                  } finally {
                    busy--;
                    beginWaiting();
                  }
                }));
  }

  private void beginWaiting() {
    while (busy < core && !getQueue().isEmpty()) {
      begin(getQueue().remove());
    }
  }

  @Override
  public void setCorePoolSize(int size) {
    core = size;
    beginWaiting();
  }

  @Override
  public int getCorePoolSize() {
    return core;
  }

  @Override
  public int getPoolSize() {
    return busy;
  }

  @Override
  public boolean prestartCoreThread() {
    beginWaiting();
    return busy > 0;
  }
}
