package dev.redlock.lettuce.internal;

import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import io.netty.util.concurrent.EventExecutorGroup;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A timer whose tasks do not run after the event loops have ended.
 *
 * <p>Lettuce starts a timer for each connection that it tries to make, and does not stop it if the
 * server refuses the connection. The timer closes the channel once more. If the event loop of the
 * channel has ended by then, Netty logs an error with a stack trace. So each client that closed
 * while a master was down would leave such errors in the log.
 *
 * @param loops the event loops of the newest channel; null if there was none
 */
record HandshakeTimer(Timer timer, Supplier<@Nullable EventExecutorGroup> loops) implements Timer {

  @Override
  public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
    return timer.newTimeout(
        due -> {
          EventExecutorGroup used = loops.get();
          if (used == null || !used.isShuttingDown()) {
            task.run(due);
          }
        },
        delay,
        unit);
  }

  @Override
  public Set<Timeout> stop() {
    return timer.stop();
  }
}
