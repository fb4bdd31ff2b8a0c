package dev.redlock.vertx.internal;

import io.vertx.core.Closeable;
import io.vertx.core.Completable;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.CloseFuture;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The internal API of Vert.x that this module uses. */
final class Inside {
  private Inside() {}

  /** Returns the context of an event loop that belongs to no verticle. */
  static Context eventLoopContext(Vertx vertx) {
    return ((VertxInternal) vertx).createEventLoopContext();
  }

  /** Returns a promise whose future completes on this context. */
  static <T> Promise<T> promise(Context context) {
    return ((ContextInternal) context).promise();
  }

  /** Returns a future that failed, on the context of the caller if its event loop still runs. */
  static <T> Future<T> failed(Vertx vertx, Throwable failure) {
    ContextInternal context = alive(vertx);
    return context == null ? Future.failedFuture(failure) : context.failedFuture(failure);
  }

  /** Completes as the stage does, on the context of the caller if its event loop still runs. */
  static <T> Future<T> onCaller(
      Vertx vertx, CompletionStage<T> stage, Function<Throwable, Throwable> failures) {
    ContextInternal context = alive(vertx);
    Promise<T> promise = context == null ? Promise.promise() : context.promise();
    stage.whenComplete(
        (result, failure) -> {
          if (failure == null) {
            promise.complete(result);
          } else {
            promise.fail(failures.apply(failure));
          }
        });
    return promise.future();
  }

  /** The context of the caller; null after Vert.x has closed, when it would run no handler. */
  private static @Nullable ContextInternal alive(Vertx vertx) {
    if (isClosing(vertx) && Vertx.currentContext() == null) {
      return null;
    }
    ContextInternal context = (ContextInternal) vertx.getOrCreateContext();
    return context.nettyEventLoop().isShuttingDown() ? null : context;
  }

  /** Runs the hook when Vert.x closes, before it undeploys verticles. */
  static void addCloseHook(Vertx vertx, Hook hook) {
    ((VertxInternal) vertx).addCloseHook(hook);
  }

  static void removeCloseHook(Vertx vertx, Hook hook) {
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

  /** The owner of a lease or a call; equal for contexts of one verticle. */
  record Owner(CloseFuture closeFuture, @Nullable String deploymentId) {

    /** Runs the hook when the owner closes; false if it has closed already. */
    boolean add(Hook hook) {
      return closeFuture.add(hook);
    }

    void remove(Hook hook) {
      closeFuture.remove(hook);
    }
  }

  /** A task that runs when an owner closes. */
  static final class Hook implements Closeable {
    private final Supplier<? extends CompletionStage<Void>> task;

    Hook(Supplier<? extends CompletionStage<Void>> task) {
      this.task = task;
    }

    @Override
    public void close(Completable<Void> completion) {
      Future.fromCompletionStage(task.get()).onComplete(completion);
    }
  }
}
