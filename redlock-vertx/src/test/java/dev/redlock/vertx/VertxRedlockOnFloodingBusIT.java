package dev.redlock.vertx;

/** The whole contract again, on a bus that is flooding messages. */
class VertxRedlockOnFloodingBusIT extends VertxRedlockIT {
  @Override
  BusFault fault() {
    return BusFault.FLOODS;
  }
}
