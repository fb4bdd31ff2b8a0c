package dev.redlock.vertx;

/** Thousands of waiters again, and ten thousand forged messages a second. */
class WaitersOnFloodedBusIT extends WaitersIT {
  @Override
  BusFault fault() {
    return BusFault.FLOODS;
  }
}
