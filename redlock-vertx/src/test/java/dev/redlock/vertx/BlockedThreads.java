package dev.redlock.vertx;

import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.util.function.ObjLongConsumer;

/** Reports threads of Vert.x that are blocked for too long, with the internal API of Vert.x 5. */
final class BlockedThreads {
  private BlockedThreads() {}

  static void on(Vertx vertx, ObjLongConsumer<Thread> handler) {
    ((VertxInternal) vertx)
        .blockedThreadChecker()
        .setThreadBlockedHandler(event -> handler.accept(event.thread(), event.duration()));
  }
}
