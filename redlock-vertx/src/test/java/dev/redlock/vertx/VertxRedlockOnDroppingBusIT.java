package dev.redlock.vertx;

/** The whole contract again, on a bus that is dropping messages. */
class VertxRedlockOnDroppingBusIT extends VertxRedlockIT {
  @Override
  BusFault fault() {
    return BusFault.DROPS;
  }
}
