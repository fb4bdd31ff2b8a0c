package dev.redlock.internal;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Runs on the caller's thread what an executor refuses because it was shut down before us: better
 * there than never, for somebody waits for it.
 */
record NeverRefusing(Executor executor) implements Executor {
  @Override
  public void execute(Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      task.run();
    }
  }
}
