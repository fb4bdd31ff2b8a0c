package dev.redlock.simulation;

import dev.redlock.internal.protocol.Order;

/** Somebody waits for an extension or a release, and is to be told once. */
final class SimTicket implements Order.Ticket {
  private final World world;
  private final SimClient client;
  private final String what;
  private final Told told;
  private boolean settled;

  /** Who waits for it. */
  interface Told {
    void settled(Order.Outcome outcome);
  }

  SimTicket(SimClient client, String what) {
    this(client, what, outcome -> {});
  }

  SimTicket(SimClient client, String what, Told told) {
    this.told = told;
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
    told.settled(outcome);
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
