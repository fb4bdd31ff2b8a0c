package dev.redlock.internal;

import dev.redlock.internal.operations.OperatorClient.Side;
import dev.redlock.internal.sets.Members;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.ReleaseHints;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/** Brings what nodes and carriers of release hints report to the parts that it concerns. */
final class NodeEvents implements LockNode.Listener, ReleaseHints.Receiver {
  private final ClientContext context;
  private final IndependenceCheck independence;

  /** For each node, the changes of its state that the listeners have not been told of. */
  private final AtomicIntegerArray untold;

  NodeEvents(ClientContext context) {
    this.context = context;
    untold = new AtomicIntegerArray(Members.MAX);
    independence = new IndependenceCheck(context.nodes);
  }

  @Override
  public void onStatus(LockNode node) {
    int index = context.nodes.indexOf(node);
    BitSet changed = context.set().review();
    changed.set(index);
    tell(changed);
  }

  /** All nodes are started: events may decide of the set of nodes from now on. */
  void begin() {
    tell(context.set().begin());
  }

  /** Reviews the set of nodes although no node has changed. */
  void reviewSet() {
    tell(context.set().review());
  }

  private void tell(BitSet changed) {
    if (changed.isEmpty()) {
      return;
    }
    changed.stream().forEach(this::tellState);
    context.readiness.review();
    changed.stream()
        .forEach(
            i -> context.locks.tellAll((machine, now, wall) -> machine.onNodeStatus(i, now, wall)));
  }

  /**
   * Several threads may report changes of one node at the same time. One of them tells the states
   * for all of them, so that the listener receives them in the order in which they were, and the
   * last is the one that holds.
   */
  private void tellState(int index) {
    int changes = untold.incrementAndGet(index);
    if (changes > 1) {
      return; // The thread that is telling reads the state again.
    }
    do {
      NodeState state = context.nodeState(index);
      context.events.tell(l -> l.onNode(state));
      changes = untold.addAndGet(index, -changes);
    } while (changes > 0);
  }

  @Override
  public void onClock(LockNode node, long nodeMicros, long sentNanos, long answeredNanos) {
    int index = context.nodes.indexOf(node);
    context.randomness.probed(index, nodeMicros);
    context.nodes.heard(index, sentNanos, answeredNanos, nodeMicros);
    context.clocks.read(index);
  }

  @Override
  public @Nullable String objection(
      LockNode node, @Nullable NodeIdentity identity, String markerId) {
    return independence.check(context.nodes.indexOf(node), identity, markerId);
  }

  @Override
  public void onInvalidated(LockNode node, String key) {
    context.locks.invalidated(key, context.nodes.indexOf(node));
    context.operators.forEach(side -> side.changed(key));
  }

  @Override
  public void onReleaseHint(LockNode node, String key) {
    hint(key);
  }

  @Override
  public void onAllInvalidated(LockNode node) {
    int index = context.nodes.indexOf(node);
    context.operators.forEach(Side::allChanged);
    context.locks.tellAll(
        (machine, now, wall) ->
            machine.onInvalidation(index, machine.keys().lockKey(0), now, wall));
  }

  @Override
  public void mayBeFree(String name) {
    hint(LockKeys.of(context.keyPrefix, List.of(name)).lockKey(0));
  }

  private void hint(String key) {
    context.locks.mayBeFree(key);
    context.operators.forEach(side -> side.changed(key));
  }
}
