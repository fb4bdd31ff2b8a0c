package dev.redlock.internal.protocol;

import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply.Code;
import java.util.ArrayList;
import java.util.List;

/** A node of {@link SetWorld}: a record, and the key of one lock. It restarts empty. */
final class WorldNode {
  private final SetWorld world;
  final int number;
  NodeRecord record = NodeRecord.NONE;
  private long owner;
  private long expiry;
  long started = -1_000_000;
  int run = 1;
  private long downUntil;

  /** The connections that hear of each change of the record. */
  private final List<WorldLink> listeners = new ArrayList<>();

  WorldNode(SetWorld world, int number) {
    this.world = world;
    this.number = number;
  }

  boolean isUp() {
    return world.now >= downUntil;
  }

  void down(long millis) {
    downUntil = Math.max(downUntil, world.now + millis);
    breakAll();
  }

  void heal() {
    downUntil = world.now;
  }

  void restart() {
    world.trace(() -> this + " restarts");
    record = NodeRecord.NONE;
    owner = 0;
    started = world.now;
    run++;
    breakAll();
  }

  private void breakAll() {
    List.copyOf(listeners).forEach(link -> link.die(world.between(1, 500)));
  }

  void listen(WorldLink link) {
    if (!listeners.contains(link)) {
      listeners.add(link);
    }
  }

  void leave(WorldLink link) {
    listeners.remove(link);
  }

  NodeRecord change(NodeRecord.Change change) {
    NodeRecord before = record;
    NodeRecord after = world.after(before, change);
    if (!after.equals(before)) {
      record = after;
      world.trace(() -> change.kind() + " on " + this);
      world.recordChanged(this, before, after);
      for (WorldLink link : List.copyOf(listeners)) {
        link.invalidate();
      }
    }
    return after;
  }

  private boolean isFree() {
    return owner == 0 || expiry <= world.now;
  }

  Code acquire(long id, long millis) {
    if (!isFree() && owner != id) {
      return Code.HELD;
    }
    owner = id;
    expiry = world.now + millis;
    return Code.GRANTED;
  }

  Code extend(long id, long millis) {
    if (!isFree() && owner != id) {
      return Code.LOST;
    }
    Code code = isFree() ? Code.REPAIRED : Code.EXTENDED;
    owner = id;
    expiry = world.now + millis;
    return code;
  }

  Code release(long id) {
    if (owner == id) {
      owner = 0;
    }
    return Code.RELEASED;
  }

  @Override
  public String toString() {
    return "n"
        + number
        + (isUp() ? "" : " (down)")
        + " run "
        + run
        + " ["
        + record.name()
        + " "
        + record
        + " floor "
        + record.floor()
        + " ballot "
        + record.ballot()
        + " promised "
        + record.promised()
        + " since "
        + record.sinceMicros() / 1000
        + "] key "
        + (isFree() ? 0 : owner);
  }
}
