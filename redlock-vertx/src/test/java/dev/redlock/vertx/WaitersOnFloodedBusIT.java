package dev.redlock.vertx;

/** Thousands of waiters, and 10,000 forged messages per second. */
class WaitersOnFloodedBusIT extends WaitersIT {
  @Override
  BusFault fault() {
    return BusFault.FLOODS;
  }
}
