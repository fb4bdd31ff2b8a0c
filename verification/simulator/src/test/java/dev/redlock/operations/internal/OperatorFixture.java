package dev.redlock.operations.internal;

import dev.redlock.harness.model.RecordScript;
import dev.redlock.internal.sets.Membership;
import dev.redlock.internal.sets.Membership.Decision;
import dev.redlock.internal.sets.Seen;
import dev.redlock.internal.sets.Tell;
import dev.redlock.operations.internal.SetOperator.Step;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Nodes with records, and the client of an operator. */
final class OperatorFixture {
  static final long SECOND = 1_000_000_000;
  private static final long MAX_LEASE = 5_000;
  static final long GUARD = RestartGuard.guardTime(Duration.ofMillis(MAX_LEASE)).toNanos();

  final Map<String, NodeRecord> records = new TreeMap<>();
  final List<String> down = new ArrayList<>();
  final List<String> replicas = new ArrayList<>(); // They store nothing.
  final Set<String> gone = new HashSet<>(); // As the operator says.
  private final List<String> names = new ArrayList<>(); // By number.
  final Membership membership;
  long now = 100 * SECOND;

  OperatorFixture(String... seeds) {
    names.addAll(List.of(seeds));
    membership = new Membership(seeds.length, false, () -> "d1", MAX_LEASE, GUARD, now);
  }

  NodeRecord record(String name) {
    return records.getOrDefault(name, NodeRecord.NONE);
  }

  List<Seen> seen() {
    List<Seen> seen = new ArrayList<>();
    for (String name : names) {
      State state =
          down.contains(name)
              ? State.CONNECTING
              : replicas.contains(name) ? State.QUARANTINED : State.VOTING;
      seen.add(new Seen(name, new NodeStatus(state, 1, 0, 0, "", false, record(name)), name));
    }
    return seen;
  }

  private void make(List<Tell> tells) {
    for (Tell tell : tells) {
      String name = names.get(tell.node());
      if (!replicas.contains(name)) {
        records.put(name, RecordScript.after(record(name), tell.change(), now / 1_000));
        membership.answered(tell, record(name));
      }
    }
  }

  /** Reviews, writes and connects until nothing changes any more. */
  void settle() {
    Decision before = null;
    Decision decision = membership.review(seen(), now);
    for (int i = 0; i < 20 && (!decision.equals(before) || !decision.tells().isEmpty()); i++) {
      make(decision.tells());
      names.addAll(decision.missing());
      before = decision;
      decision = membership.review(seen(), now);
    }
  }

  /** An operator, whose client connects to the new member. */
  SetOperator operator(SetOperator.Goal goal, long ballot) {
    String add = goal.add();
    if (add != null && !names.contains(add)) {
      names.add(add);
    }
    return new SetOperator(goal, gone, ballot);
  }

  /** One step of the operator, which it sends. */
  Step step(SetOperator operator) {
    settle();
    Step step = operator.next(seen(), membership.current(), now);
    make(step.tells());
    settle();
    return step;
  }

  /** Steps each 100 ms until it is done, is refused, or this many seconds have passed. */
  Step run(SetOperator operator, int seconds) {
    Step step = step(operator);
    for (int i = 0; i < seconds * 10 && !step.done() && step.refusal() == null; i++) {
      now += SECOND / 10;
      step = step(operator);
    }
    return step;
  }

  long ballot() {
    return now / 1_000;
  }
}
