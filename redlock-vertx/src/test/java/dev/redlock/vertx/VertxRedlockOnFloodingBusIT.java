package dev.redlock.vertx;

import org.junit.jupiter.api.Tag;

/** The tests of VertxRedlock on a bus that floods messages. */
@Tag("thorough")
class VertxRedlockOnFloodingBusIT extends VertxRedlockIT {
  @Override
  BusFault fault() {
    return BusFault.FLOODS;
  }
}
