package dev.redlock.vertx;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;

/** A verticle as tests write it, for Vert.x 5 here and for 4.5 in {@code src/vertx4}. */
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
