package dev.redlock.internal.protocol;

import dev.redlock.spi.LockRequest;
import java.util.ArrayList;
import java.util.List;

/** The inspections and breaks of one set of names that are under way. */
final class Broadcasts {
  private final Nodes nodes;
  private final List<Effect> effects;
  private final List<Broadcast> open = new ArrayList<>(0);

  Broadcasts(Nodes nodes, List<Effect> effects) {
    this.nodes = nodes;
    this.effects = effects;
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  Broadcast begin(LockRequest request, long timeoutNanos, long now) {
    Broadcast b = new Broadcast(nodes, request, timeoutNanos, now);
    effects.add(new Effect.Send(b, request, b.open()));
    open.add(b);
    finish(now);
    return b;
  }

  /** Settles those to which all nodes have replied, and those whose timeout is over. */
  void finish(long now) {
    for (int i = open.size() - 1; i >= 0; i--) {
      Broadcast b = open.get(i);
      if (b.isOver(now)) {
        open.remove(i);
        effects.add(new Effect.Settle(b, Effect.Result.DONE));
      }
    }
  }

  void deadlines(NextWake wake) {
    for (int i = 0; i < open.size(); i++) {
      wake.at(open.get(i).deadlineNanos);
    }
  }
}
