package dev.redlock.vertx.internal;

import io.vertx.core.Closeable;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.impl.CloseFuture;
import io.vertx.core.impl.ContextInternal;
import io.vertx.core.impl.VertxInternal;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What is used of Vert.x 4.5 beyond its public API; stands in for the class of this name that is for
 * Vert.x 5.
 */
final class Inside {
  private Inside() {}

  /** An event loop that belongs to no verticle. */
  static Context eventLoopContext(Vertx vertx) {
    return ((VertxInternal) vertx).createEventLoopContext();
  }

  /** A promise whose future tells on this context. */
  static <T> Promise<T> promise(Context context) {
    return ((ContextInternal) context).promise();
  }

  /** A failure that is told on this context. */
  static <T> Future<T> failed(Context context, Throwable failure) {
    return ((ContextInternal) context).failedFuture(failure);
  }

  /** Runs the hook when Vert.x closes, before it undeploys verticles. */
  static void closeWith(Vertx vertx, Hook hook) {
    ((VertxInternal) vertx).addCloseHook(hook);
  }

  static void closeWithNoMore(Vertx vertx, Hook hook) {
    ((VertxInternal) vertx).removeCloseHook(hook);
  }

  static boolean isClosing(Vertx vertx) {
    return ((VertxInternal) vertx).closeFuture().isClosed();
  }

  /** The verticle whose context this is, or Vert.x as a whole outside any verticle. */
  static Owner ownerOf(Context context) {
    ContextInternal own = ((ContextInternal) context).unwrap();
    return new Owner(own.closeFuture(), own.deploymentID());
  }

  /** Whoever something belongs to; equal for contexts of one verticle. */
  record Owner(CloseFuture closeFuture, @Nullable String deploymentId) {

    /** Runs the hook when the owner goes; false if it has gone. */
    boolean add(Hook hook) {
      return closeFuture.add(hook);
    }

    void remove(Hook hook) {
      closeFuture.remove(hook);
    }
  }

  /** What is to be done when an owner goes. */
  static final class Hook implements Closeable {
    private final Supplier<? extends CompletionStage<Void>> task;

    Hook(Supplier<? extends CompletionStage<Void>> task) {
      this.task = task;
    }

    @Override
    public void close(Promise<Void> completion) {
      Future.fromCompletionStage(task.get()).onComplete(completion);
    }
  }
}
