package dev.redlock.vertx;

import dev.redlock.testkit.RedisTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** The locked verticle on faulty event buses. */
@Tag("thorough")
class LockedVerticleOnFaultyBusIT {

  @Nested
  @RedisTest(nodes = 3)
  class Dropping extends LockedVerticleIT {
    @Override
    BusFault fault() {
      return BusFault.DROPS;
    }
  }

  @Nested
  @RedisTest(nodes = 3)
  class Doubling extends LockedVerticleIT {
    @Override
    BusFault fault() {
      return BusFault.DOUBLES;
    }
  }

  @Nested
  @RedisTest(nodes = 3)
  class Flooding extends LockedVerticleIT {
    @Override
    BusFault fault() {
      return BusFault.FLOODS;
    }
  }
}
