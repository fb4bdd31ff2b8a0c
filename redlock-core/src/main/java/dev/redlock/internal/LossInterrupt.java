package dev.redlock.internal;

import org.jspecify.annotations.Nullable;

/** Interrupts a thread on loss, but never after its body has returned. */
final class LossInterrupt implements Runnable {
  /** Guarded by this: the interrupt must not fall between the check and the body's return. */
  private @Nullable Thread thread;

  LossInterrupt(Thread thread) {
    this.thread = thread;
  }

  @Override
  public synchronized void run() {
    if (thread != null) {
      thread.interrupt();
    }
  }

  synchronized void disarm() {
    thread = null;
  }
}
