package dev.redlock.vertx;

import org.junit.jupiter.api.Tag;

/** The tests of VertxRedlock on a bus that duplicates messages. */
@Tag("thorough")
class VertxRedlockOnDoublingBusIT extends VertxRedlockIT {
  @Override
  BusFault fault() {
    return BusFault.DOUBLES;
  }
}
