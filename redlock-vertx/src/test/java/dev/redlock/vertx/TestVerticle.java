package dev.redlock.vertx;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;

/** The base class of verticles in tests, for Vert.x 5; {@code src/vertx4} has the one for 4.5. */
abstract class TestVerticle extends VerticleBase {
  Future<?> begin() {
    return Future.succeededFuture();
  }

  Future<?> end() {
    return Future.succeededFuture();
  }

  @Override
  public final Future<?> start() {
    return begin();
  }

  @Override
  public final Future<?> stop() {
    return end();
  }
}
