package dev.redlock.vertx;

import io.vertx.core.AbstractVerticle;
import io.vertx.core.Future;
import io.vertx.core.Promise;

/** The base class of verticles in tests, for Vert.x 4.5. */
abstract class TestVerticle extends AbstractVerticle {
  Future<?> begin() {
    return Future.succeededFuture();
  }

  Future<?> end() {
    return Future.succeededFuture();
  }

  @Override
  public final void start(Promise<Void> done) {
    begin().<Void>mapEmpty().onComplete(done);
  }

  @Override
  public final void stop(Promise<Void> done) {
    end().<Void>mapEmpty().onComplete(done);
  }
}
