package dev.redlock.internal;

import dev.redlock.internal.protocol.ExtendQueue;
import dev.redlock.internal.protocol.ExtendSlot;
import dev.redlock.internal.protocol.ExtendVerdict;
import dev.redlock.internal.protocol.Nodes;
import java.util.List;

/**
 * The queue that the actors of all locks share. The monitor is held for a few instructions, and no
 * user code runs inside.
 */
final class SharedExtendQueue extends ExtendQueue {
  @Override
  public synchronized int underWay() {
    return super.underWay();
  }

  @Override
  public synchronized int waiting() {
    return super.waiting();
  }

  @Override
  public synchronized List<ExtendSlot> ask(
      ExtendSlot slot, long urgentNanos, long deadlineNanos, long nowNanos) {
    return super.ask(slot, urgentNanos, deadlineNanos, nowNanos);
  }

  @Override
  public synchronized List<ExtendSlot> askForRelease(ExtendSlot slot, long nowNanos) {
    return super.askForRelease(slot, nowNanos);
  }

  @Override
  public synchronized List<ExtendSlot> ended(
      ExtendSlot slot, ExtendVerdict verdict, long sentNanos, Nodes nodes, long nowNanos) {
    return super.ended(slot, verdict, sentNanos, nodes, nowNanos);
  }

  @Override
  public synchronized List<ExtendSlot> giveUp(ExtendSlot slot, long nowNanos) {
    return super.giveUp(slot, nowNanos);
  }
}
