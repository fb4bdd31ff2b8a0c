package dev.redlock.spring.boot;

import dev.redlock.Redlock;
import org.springframework.context.SmartLifecycle;

/**
 * Closes the client when web server and schedulers have stopped, and before Redis clients of the
 * application stop: callers that still wait for a lock fail then, and held locks become free at
 * once.
 */
public final class RedlockLifecycle implements SmartLifecycle {
  /**
   * The phase in which the client is closed. Phases stop from high to low: schedulers at {@link
   * Integer#MAX_VALUE}, the web server at 1,024 and 2,048 below it, pollers of Spring Integration
   * at half of it, connection factories of Redis at 0.
   */
  public static final int PHASE = Integer.MAX_VALUE / 4;

  private final Redlock redlock;
  private volatile boolean running; // Written by the thread that starts or stops the context.

  RedlockLifecycle(Redlock redlock) {
    this.redlock = redlock;
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    running = false;
    redlock.close();
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  @Override
  public int getPhase() {
    return PHASE;
  }

  /** A client that is closed cannot be opened again, so a pause of the context leaves it open. */
  @Override
  public boolean isPauseable() {
    return false;
  }
}
