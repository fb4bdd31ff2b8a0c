package dev.redlock.simulation;

import dev.redlock.internal.protocol.Effect;

/** The completion of one extension or release; it is settled exactly once. */
final class SimAck implements Effect.Ack {
  private final World world;
  private final SimClient client;
  private final String what;
  private final Callback callback;
  private boolean settled;

  /** The caller that waits for it. */
  interface Callback {
    void settled(Effect.Result result);
  }

  SimAck(SimClient client, String what) {
    this(client, what, result -> {});
  }

  SimAck(SimClient client, String what, Callback callback) {
    this.callback = callback;
    this.client = client;
    world = client.world;
    this.what = what;
    world.acks.add(this);
  }

  void settled(Effect.Result result) {
    if (settled) {
      throw new Violation("ack", what + " was settled twice");
    }
    settled = true;
    callback.settled(result);
    world.history.mix(result.failure() == null ? 3 : 5);
  }

  boolean isSettled() {
    return settled;
  }

  boolean isAlive() {
    return client.alive;
  }

  @Override
  public String toString() {
    return what;
  }
}
