package dev.redlock.lettuce.internal;

import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The threads of several nodes. Threads of the user are never closed. Own threads begin with the
 * first node that starts and end with the last node that closes.
 */
public final class SharedResources {
  private final boolean own;

  // Guarded by this.
  private @Nullable ClientResources resources;
  private int users;

  public SharedResources(@Nullable ClientResources given) {
    this.own = given == null;
    this.resources = given;
  }

  public synchronized ClientResources acquire() {
    NettyVersions.check();
    ClientResources known = resources;
    if (known == null) {
      // Measuring a command costs more than encoding it. A user who wants Lettuce's metrics passes
      // ClientResources.
      known =
          ClientResources.builder()
              .threadFactoryProvider(new CleanThreads())
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
      if (--users == 0 && own) {
        done = resources;
        resources = null;
      }
    }
    if (done != null) {
      var unused = done.shutdown(0, 1, TimeUnit.SECONDS);
    }
  }
}
