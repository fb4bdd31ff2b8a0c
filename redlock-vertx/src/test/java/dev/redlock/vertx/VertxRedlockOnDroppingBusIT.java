package dev.redlock.vertx;

import org.junit.jupiter.api.Tag;

/** The tests of VertxRedlock on a bus that drops messages. */
@Tag("thorough")
class VertxRedlockOnDroppingBusIT extends VertxRedlockIT {
  @Override
  BusFault fault() {
    return BusFault.DROPS;
  }
}
