package dev.redlock.internal;

import dev.redlock.LeaseEnd;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Interrupts a thread when its lease is lost, but never after {@link #disarm}. */
final class LossInterrupt implements Consumer<LeaseEnd> {
  /** Guarded by this, so that no interrupt comes after {@link #disarm}. */
  private @Nullable Thread thread;

  LossInterrupt(Thread thread) {
    this.thread = thread;
  }

  @Override
  public synchronized void accept(LeaseEnd end) {
    if (thread != null && !end.byHolder()) {
      thread.interrupt();
    }
  }

  synchronized void disarm() {
    thread = null;
  }
}
