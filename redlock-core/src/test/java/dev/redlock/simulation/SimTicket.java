package dev.redlock.simulation;

import dev.redlock.internal.protocol.Order;

/** Somebody waits for an extension or a release, and is to be told once. */
final class SimTicket implements Order.Ticket {
  private final World world;
  private final SimClient client;
  private final String what;
  private boolean settled;

  SimTicket(SimClient client, String what) {
    this.client = client;
    world = client.world;
    this.what = what;
    world.tickets.add(this);
  }

  void settled(Order.Outcome outcome) {
    if (settled) {
      throw new Violation("ticket", what + " settled twice");
    }
    settled = true;
    world.history.mix(outcome.failure() == null ? 3 : 5);
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
