package dev.redlock.vertx;

/** The whole contract again, on a bus that is doubling messages. */
class VertxRedlockOnDoublingBusIT extends VertxRedlockIT {
  @Override
  BusFault fault() {
    return BusFault.DOUBLES;
  }
}
