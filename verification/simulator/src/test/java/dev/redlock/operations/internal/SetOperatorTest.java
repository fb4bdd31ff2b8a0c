package dev.redlock.operations.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.model.RecordScript;
import dev.redlock.operations.internal.SetOperator.Step;
import dev.redlock.spi.NodeRecord;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How an operator changes the set by one step. */
final class SetOperatorTest {
  private final OperatorFixture set = new OperatorFixture("a", "b", "c");

  private SetOperator operator(@Nullable String add, @Nullable String remove) {
    set.now += OperatorFixture.SECOND;
    return set.operator(new SetOperator.Goal(add, remove, 0), set.ballot());
  }

  /** Steps until the node has the set of this epoch. */
  private void until(SetOperator operator, String node, long epoch, long floor) {
    while (set.record(node).epoch() < epoch || set.record(node).floor() < floor) {
      set.now += OperatorFixture.SECOND / 10;
      assertThat(set.step(operator).refusal()).isNull();
    }
  }

  private List<String> members() {
    return set.membership.current().members();
  }

  /** The set that an operator opens after that of a, b and c. */
  private static NodeRecord open(long ballot, String... members) {
    return new NodeRecord(
        "d1", "", 2, List.of(members), List.of("a", "b", "c"), 1, ballot, ballot, 5_000, 5_000, 0);
  }

  private void store(String node, NodeRecord.Change.Kind kind, NodeRecord record) {
    NodeRecord.Change change = new NodeRecord.Change(kind, record.of(node));
    set.records.put(node, RecordScript.after(set.record(node), change, set.now / 1_000));
  }

  @Test
  void operator_withoutARecord_waits() {
    OperatorFixture empty = new OperatorFixture("a", "b", "c");
    empty.down.addAll(List.of("a", "b"));
    Step step = empty.step(empty.operator(new SetOperator.Goal("d", null, 0), 1));
    assertThat(step.progress()).hasToString("no node has a record of the set yet");
  }

  @Test
  void add_withAllUp_isStoredByAllAndTakesAGuardTime() {
    set.settle();
    SetOperator operator = operator("d", null);
    until(operator, "d", 2, 2);
    long sealed = set.now;
    Step step = set.run(operator, 60);
    assertThat(step.done()).isTrue();
    assertThat(step.progress()).hasToString("complete: epoch 2: a, b, c, d");
    assertThat(set.now - sealed)
        .isBetween(OperatorFixture.GUARD, OperatorFixture.GUARD + OperatorFixture.SECOND);
    for (String node : List.of("a", "b", "c", "d")) {
      assertThat(set.record(node).members()).containsExactly("a", "b", "c", "d");
      assertThat(set.record(node).isSealed()).isTrue();
    }
  }

  @Test
  void change_thatIsComplete_isNotedSoThatADeadMemberCanBeRemoved() {
    set.settle();
    assertThat(set.run(operator("d", null), 60).done()).isTrue();
    assertThat(set.record("a").isComplete()).isTrue();
    set.down.add("c");
    long begun = set.now;
    assertThat(set.run(operator(null, "c"), 60).done()).isTrue();
    assertThat(set.now - begun)
        .isBetween(OperatorFixture.GUARD, OperatorFixture.GUARD + 4 * OperatorFixture.SECOND);
    assertThat(members()).containsExactly("a", "b", "d");
  }

  @Test
  void next_untilTheLastChangeIsOld_waits() {
    set.settle();
    SetOperator first = operator("d", null);
    until(first, "d", 2, 2);
    SetOperator second = operator("e", null);
    long begun = set.now;
    until(second, "a", 3, 2);
    assertThat(set.now - begun).isGreaterThan(OperatorFixture.GUARD);
  }

  @Test
  void change_ofTheLongestLeaseTime_isASetOfItsOwn() {
    set.settle();
    set.now += OperatorFixture.SECOND;
    Step step = set.run(set.operator(new SetOperator.Goal(null, null, 9_000), set.ballot()), 60);
    assertThat(step.done()).isTrue();
    assertThat(set.record("a").maxLeaseMillis()).isEqualTo(9_000);
    assertThat(set.record("a").epoch()).isEqualTo(2);
  }

  @Test
  void longestLeaseTime_whileItChanges_isGrantedAsTheShorter_andHeldAgainstAsTheLonger() {
    set.settle();
    for (long longest : List.of(9_000L, 6_000L)) {
      set.now += OperatorFixture.SECOND;
      long before = set.record("a").maxLeaseMillis();
      long begun = set.now;
      SetOperator change = set.operator(new SetOperator.Goal(null, null, longest), set.ballot());
      while (!set.step(change).done()) {
        set.now += OperatorFixture.SECOND / 10;
        NodeRecord record = set.record("a");
        if (record.maxLeaseMillis() == longest && !record.isComplete()) {
          assertThat(record.longestGranted()).isEqualTo(Math.min(before, longest));
          assertThat(record.longestValid()).isEqualTo(Math.max(before, longest));
        }
      }
      assertThat(set.now - begun).isGreaterThan(11 * OperatorFixture.SECOND);
      assertThat(set.record("a").longestGranted()).isEqualTo(longest);
      assertThat(set.record("a").longestValid()).isEqualTo(longest);
    }
  }

  @Test
  void operatorThatDied_inEachPhase_isContinuedByAnother() {
    for (long floor = 1; floor <= 2; floor++) {
      OperatorFixture world = new OperatorFixture("a", "b", "c");
      world.settle();
      world.now += OperatorFixture.SECOND;
      SetOperator dead = world.operator(new SetOperator.Goal("d", null, 0), world.ballot());
      while (world.record("a").epoch() < 2 || world.record("a").floor() < floor) {
        world.now += OperatorFixture.SECOND / 10;
        world.step(dead);
      }
      SetOperator heir = world.operator(new SetOperator.Goal("e", null, 0), world.ballot());
      assertThat(world.run(heir, 60).done()).isTrue();
      assertThat(world.membership.current().members()).containsExactly("a", "b", "c", "d", "e");
      assertThat(world.membership.current().epoch()).isEqualTo(3);
    }
  }

  /** It may have restarted, and forgotten what it has promised to others. */
  @Test
  void promise_ofAMemberInQuarantine_doesNotCount() {
    set.settle();
    set.now += OperatorFixture.SECOND;
    long ballot = set.ballot();
    NodeRecord open = open(ballot, "a", "b", "c", "d");
    store("a", NodeRecord.Change.Kind.PROMISE, open);
    store("b", NodeRecord.Change.Kind.PROMISE, open);
    set.replicas.add("b");
    set.down.add("c");
    SetOperator operator = set.operator(new SetOperator.Goal("d", null, 0), ballot);
    for (int i = 0; i < 5; i++) {
      set.step(operator);
    }
    assertThat(set.step(operator).progress()).hasToString("asks [a, b, c] for a promise");
    set.replicas.clear();
    assertThat(set.step(operator).progress().doing()).startsWith("opens epoch 2");
  }

  @Test
  void setThatADeadOperatorOpenedOnOneNode_isAdoptedByThePromise() {
    set.settle();
    set.now += OperatorFixture.SECOND;
    long ballot = set.ballot();
    store("a", NodeRecord.Change.Kind.OPEN, open(ballot, "a", "b"));
    assertThat(set.run(operator("d", null), 60).progress().doing()).startsWith("complete: ");
    assertThat(members()).containsExactly("a", "b", "d");
    assertThat(set.membership.current().epoch()).isEqualTo(3);
  }

  @Test
  void setsThatTwoDeadOperatorsOpened_thatOfTheLaterOneIsAdopted() {
    set.settle();
    set.now += OperatorFixture.SECOND;
    long ballot = set.ballot();
    store("a", NodeRecord.Change.Kind.OPEN, open(ballot, "a", "b"));
    store("b", NodeRecord.Change.Kind.OPEN, open(ballot + 1, "a", "b", "c", "d"));
    assertThat(set.run(operator("d", null), 60).done()).isTrue();
    assertThat(members()).containsExactly("a", "b", "c", "d");
    assertThat(set.membership.current().epoch()).isEqualTo(2);
  }

  @Test
  void operatorWithALowerBallot_afterAHigherPromise_whileItOpens_isRefused() {
    set.settle();
    SetOperator early = operator("d", null);
    set.step(early);
    set.step(early);
    assertThat(set.step(early).progress().doing()).startsWith("opens epoch 2");
    NodeRecord later = open(set.ballot() + 1, "a", "b", "c", "e");
    List.of("a", "b").forEach(node -> store(node, NodeRecord.Change.Kind.PROMISE, later));
    assertThat(set.run(early, 20).refusal()).isEqualTo(SetOperator.OVERTAKEN);
  }

  @Test
  void operatorWithALowerBallot_afterAHigherPromise_isRefused() {
    set.settle();
    SetOperator early = operator("d", null);
    SetOperator late = operator("e", null);
    set.now += 2 * OperatorFixture.GUARD;
    set.step(late);
    set.now += 2 * OperatorFixture.GUARD;
    set.step(late);
    set.step(late); // All have promised.
    assertThat(set.run(early, 20).refusal())
        .isEqualTo(
            "another operator changes the set, or a node has restarted: a new ballot is necessary");
    assertThat(set.run(late, 60).done()).isTrue();
    assertThat(members()).containsExactly("a", "b", "c", "e");
  }

  @Test
  void deadMember_isRemovedAndAnotherAdded() {
    set.settle();
    set.down.add("c");
    assertThat(set.run(operator(null, "c"), 60).progress().doing()).startsWith("complete: ");
    assertThat(set.run(operator("d", null), 60).progress().doing()).startsWith("complete: ");
    assertThat(members()).containsExactly("a", "b", "d");
    assertThat(set.record("c").epoch()).isEqualTo(1);
  }

  @Test
  void newMember_whileAnotherMemberIsDown_isNotComplete() {
    set.settle();
    SetOperator operator = operator("d", null);
    until(operator, "d", 2, 1);
    set.down.add("c");
    Step step = set.run(operator, 60);
    assertThat(step.done()).isFalse();
    assertThat(step.progress())
        .hasToString(
            "waits for [c] to store epoch 2: a, b, c, d; what is gone for good has to start again,"
                + " empty, at its address, or be named as gone");
    set.gone.add("c");
    assertThat(set.run(operator("d", null), 60).done()).isTrue();
  }

  /** It is full, for example: the change can be given up, because no member has stored it. */
  @Test
  void newMember_thatStoresNothing_keepsTheSetFromTheMembers() {
    set.settle();
    set.replicas.add("d");
    SetOperator adds = operator("d", null);
    Step step = set.run(adds, 60);
    assertThat(adds.awaited()).isEqualTo("d");
    assertThat(step.progress()).hasToString("writes the next set to [d]: epoch 2: a, b, c, d");
    assertThat(step.progress().nodes()).containsExactly("d");
    assertThat(set.record("a").epoch()).isEqualTo(1);
    assertThat(set.run(operator("e", null), 60).done()).isTrue();
    assertThat(members()).containsExactly("a", "b", "c", "e");
  }

  @Test
  void twoMembersThatAreGone_leaveOneAfterTheOther_whenBothAreNamed() {
    OperatorFixture five = new OperatorFixture("a", "b", "c", "d", "e");
    five.settle();
    five.down.addAll(List.of("d", "e"));
    five.now += OperatorFixture.SECOND;
    SetOperator alone = five.operator(new SetOperator.Goal(null, "d", 0), five.ballot());
    assertThat(five.run(alone, 30).progress().doing()).startsWith("waits for [e] to store epoch 2");
    five.gone.add("e");
    for (String dead : List.of("d", "e")) {
      five.now += OperatorFixture.SECOND;
      SetOperator operator = five.operator(new SetOperator.Goal(null, dead, 0), five.ballot());
      assertThat(five.run(operator, 60).done()).isTrue();
    }
    assertThat(five.membership.current().members()).containsExactly("a", "b", "c");
  }

  @Test
  void memberThatIsNamedAsGone_andIsReached_isWaitedFor() {
    set.settle();
    set.gone.add("c");
    set.replicas.add("c"); // It is there, and stores nothing.
    assertThat(set.run(operator("d", null), 60).progress().doing())
        .startsWith("waits for [c] to store");
  }

  @Test
  void wait_whenAMemberRestarts_beginsAgain() {
    set.settle();
    SetOperator operator = operator("d", null);
    until(operator, "d", 2, 2);
    Step step = set.run(operator, 5);
    assertThat(step.progress().doing()).isEqualTo("waits for leases of the set before to end");
    assertThat(step.progress().left()).isNotNull().isPositive();
    set.records.remove("b");
    long restarted = set.now;
    assertThat(set.run(operator, 60).done()).isTrue();
    assertThat(set.now - restarted).isGreaterThanOrEqualTo(OperatorFixture.GUARD);
  }

  @Test
  void removedMember_thatIsEmpty_isTold() {
    set.settle();
    SetOperator operator = operator(null, "c");
    until(operator, "a", 2, 2);
    set.records.remove("c");
    assertThat(set.run(operator, 60).done()).isTrue();
    assertThat(set.record("c").epoch()).isEqualTo(2);
    assertThat(set.record("c").isSealed()).isTrue();
  }

  @Test
  void removedMember_withoutTheRaisedFloor_isWaitedFor() {
    set.settle();
    SetOperator operator = operator(null, "c");
    until(operator, "a", 2, 2);
    NodeRecord open = set.record("c").of("c");
    NodeRecord unsealed =
        new NodeRecord(
            "d1",
            "c",
            2,
            open.members(),
            List.of("a", "b", "c"),
            1,
            open.ballot(),
            open.promised(),
            0,
            0,
            0);
    for (int i = 0; i < 300; i++) {
      set.now += OperatorFixture.SECOND / 10;
      set.records.put("c", unsealed); // Its reply comes, and what is sent to it is lost.
      Step step = operator.next(set.seen(), set.membership.current(), set.now);
      assertThat(step.progress().doing()).startsWith("waits for");
    }
    set.settle();
    assertThat(set.run(operator, 60).done()).isTrue();
    assertThat(set.record("c").isSealed()).isTrue();
  }

  @Test
  void lastMember_isNotRemoved() {
    OperatorFixture one = new OperatorFixture("a");
    one.settle();
    one.now += OperatorFixture.SECOND;
    assertThat(
            one.run(one.operator(new SetOperator.Goal(null, "a", 0), one.ballot()), 20).refusal())
        .isEqualTo("a is the only member");
    assertThat(one.record("a").epoch()).isEqualTo(1);
  }
}
