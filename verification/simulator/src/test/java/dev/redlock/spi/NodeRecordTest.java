package dev.redlock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.model.RecordScript;
import dev.redlock.spi.NodeRecord.Change.Kind;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which changes a node makes to its record, and which votes count with it. */
final class NodeRecordTest {
  private static final NodeRecord FIRST = NodeRecord.first("d1", List.of("c", "a", "b"), 5_000);

  /** The set after {@link #FIRST}, not sealed. */
  private static final NodeRecord OPEN =
      new NodeRecord(
          "d1", "", 2, List.of("a", "b"), List.of("a", "b", "c"), 1, 100, 100, 5_000, 5_000, 0);

  /** Another set after {@link #FIRST}, not sealed. */
  private static final NodeRecord OTHER =
      new NodeRecord(
          "d1",
          "",
          2,
          List.of("a", "b", "c", "d"),
          List.of("a", "b", "c"),
          1,
          200,
          200,
          5_000,
          5_000,
          0);

  private static final NodeRecord SEALED =
      new NodeRecord(
          "d1", "", 2, List.of("a", "b"), List.of("a", "b", "c"), 2, 100, 100, 5_000, 5_000, 0);

  private static NodeRecord after(NodeRecord stored, Kind kind, NodeRecord given) {
    return RecordScript.after(stored, new NodeRecord.Change(kind, given), 7_000);
  }

  private static NodeRecord on(String node, NodeRecord record) {
    return after(NodeRecord.NONE, Kind.TELL, record.of(node));
  }

  @Test
  void tell_toAnEmptyNode_isWrittenWithTheTime() {
    NodeRecord stored = on("a", FIRST);
    assertThat(stored.members()).containsExactly("a", "b", "c");
    assertThat(stored.name()).isEqualTo("a");
    assertThat(stored.floor()).isEqualTo(1);
    assertThat(stored.sinceMicros()).isEqualTo(7_000);
  }

  @Test
  void tell_toAnEmptyNode_promisesToRefuseOperatorsFromBefore() {
    NodeRecord stored = on("a", FIRST);
    assertThat(stored.promised()).isEqualTo(7_000);
    NodeRecord late = FIRST.by(6_999);
    assertThat(after(stored, Kind.PROMISE, late)).isEqualTo(stored);
    assertThat(after(stored, Kind.OPEN, OPEN.by(6_999))).isEqualTo(stored);
  }

  @Test
  void tell_toANewMember_promisesOnlyItsOperator() {
    assertThat(on("d", OTHER).promised()).isEqualTo(200);
  }

  @Test
  void tell_ofAnOlderSet_changesNothing() {
    NodeRecord stored = on("a", SEALED);
    assertThat(after(stored, Kind.TELL, FIRST.of("a"))).isEqualTo(stored);
  }

  @Test
  void tell_ofASealedSet_replacesAnOpenSetOfItsEpoch() {
    NodeRecord open = on("a", OTHER);
    NodeRecord stored = after(open, Kind.TELL, SEALED);
    assertThat(stored.members()).isEqualTo(SEALED.members());
    assertThat(stored.isSealed()).isTrue();
  }

  @Test
  void tell_ofAnOpenSet_doesNotReplaceASetOfItsEpoch() {
    NodeRecord open = on("a", OPEN);
    assertThat(after(open, Kind.TELL, OTHER)).isEqualTo(open);
  }

  @Test
  void tell_ofAnOpenSetBelowThePromise_changesNothing() {
    NodeRecord stored = after(on("a", FIRST), Kind.PROMISE, FIRST.by(9_000));
    assertThat(after(stored, Kind.TELL, OPEN)).isEqualTo(stored);
  }

  @Test
  void promise_ofALowerBallot_doesNotFall() {
    NodeRecord stored = after(on("a", FIRST), Kind.PROMISE, FIRST.by(9_000));
    assertThat(stored.promised()).isEqualTo(9_000);
    assertThat(after(stored, Kind.PROMISE, FIRST.by(8_000))).isEqualTo(stored);
  }

  @Test
  void promise_ofAnEmptyNode_isNotKept() {
    assertThat(after(NodeRecord.NONE, Kind.PROMISE, FIRST.by(9_000))).isEqualTo(NodeRecord.NONE);
  }

  @Test
  void open_onAMember_keepsTheFloorAndItsTime() {
    NodeRecord before = on("a", FIRST);
    NodeRecord stored =
        RecordScript.after(before, new NodeRecord.Change(Kind.OPEN, OPEN.by(8_000)), 9_000);
    assertThat(stored.epoch()).isEqualTo(2);
    assertThat(stored.floor()).isEqualTo(1);
    assertThat(stored.ballot()).isEqualTo(8_000);
    assertThat(stored.sinceMicros()).isEqualTo(7_000);
  }

  @Test
  void open_onAMemberThatLostItsRecord_waitsForTheWordOfAnother() {
    assertThat(after(NodeRecord.NONE, Kind.OPEN, OPEN.of("a"))).isEqualTo(NodeRecord.NONE);
  }

  @Test
  void open_onANewMember_writesItsFirstRecord() {
    NodeRecord stored = after(NodeRecord.NONE, Kind.OPEN, OTHER.of("d"));
    assertThat(stored.epoch()).isEqualTo(2);
    assertThat(stored.floor()).isEqualTo(1);
  }

  @Test
  void open_withAHigherBallot_replacesAnOpenSetButNotASealedOne() {
    NodeRecord open = on("d", OTHER);
    assertThat(after(open, Kind.OPEN, OPEN.by(300)).members()).isEqualTo(OPEN.members());
    NodeRecord sealed = on("a", SEALED);
    assertThat(after(sealed, Kind.OPEN, OTHER.by(99_000))).isEqualTo(sealed);
  }

  @Test
  void seal_ofTheStoredSet_raisesTheFloorAndItsTime() {
    NodeRecord open = after(on("a", FIRST), Kind.OPEN, OPEN.by(8_000));
    NodeRecord sealed = RecordScript.after(open, new NodeRecord.Change(Kind.SEAL, OPEN), 9_000);
    assertThat(sealed.isSealed()).isTrue();
    assertThat(sealed.sinceMicros()).isEqualTo(9_000);
    assertThat(RecordScript.after(sealed, new NodeRecord.Change(Kind.SEAL, OPEN), 9_999))
        .isEqualTo(sealed);
  }

  @Test
  void seal_ofAnotherSet_changesNothing() {
    NodeRecord open = on("d", OTHER);
    assertThat(after(open, Kind.SEAL, OPEN)).isEqualTo(open);
  }

  @Test
  void change_ofAnotherDeployment_changesNothing() {
    for (Kind kind : List.of(Kind.TELL, Kind.PROMISE, Kind.OPEN, Kind.SEAL, Kind.FORGET)) {
      for (NodeRecord given : List.of(OPEN, OTHER.by(9_000), SEALED.by(9_000), FIRST)) {
        NodeRecord stored = on("a", NodeRecord.first("d2", FIRST.members(), 5_000));
        assertThat(after(stored, kind, given.of("a"))).as("%s %s", kind, given).isEqualTo(stored);
      }
    }
  }

  @Test
  void votes_ofAnOpenSet_countForItsEpochAndTheOneBefore() {
    assertThat(OPEN.admits(1, List.of("a", "b", "c"))).isTrue();
    assertThat(OPEN.admits(2, List.of("a", "b"))).isTrue();
    assertThat(OPEN.admits(2, List.of("a", "c"))).isFalse();
    assertThat(OPEN.admits(3, List.of("a"))).isFalse();
    assertThat(OPEN.admits(0, List.of())).isFalse();
  }

  @Test
  void votes_ofASealedSet_countForItsEpochOnly() {
    assertThat(SEALED.admits(1, List.of("a", "b", "c"))).isFalse();
    assertThat(SEALED.admits(2, List.of("a", "b"))).isTrue();
  }
}
