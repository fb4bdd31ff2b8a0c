package dev.redlock.lettuce.internal;

import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The threads of some nodes. The user's are left alone; our own are made for the first node that
 * starts and end with the last that closes.
 */
public final class SharedResources {
  private final boolean ours;

  // Guarded by this.
  private @Nullable ClientResources resources;
  private int users;

  public SharedResources(@Nullable ClientResources given) {
    this.ours = given == null;
    this.resources = given;
  }

  public synchronized ClientResources acquire() {
    ClientResources known = resources;
    if (known == null) {
      // Who wants Lettuce's metrics passes resources of their own; measuring every command twice
      // costs more than encoding it.
      known =
          ClientResources.builder()
              .commandLatencyRecorder(CommandLatencyRecorder.disabled())
              .build();
      resources = known;
    }
    users++;
    return known;
  }

  public void release() {
    ClientResources done = null;
    synchronized (this) {
      if (--users == 0 && ours) {
        done = resources;
        resources = null;
      }
    }
    if (done != null) {
      var unused = done.shutdown(0, 1, TimeUnit.SECONDS);
    }
  }
}
