package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ExtendQueueTest {
  private static final long MILLI = TestNodes.MILLI;
  private static final long TIMEOUT = 100 * MILLI;

  private final TestNodes nodes = new TestNodes(3);
  private final ExtendQueue queue = new ExtendQueue();
  private final ArrayDeque<ExtendSlot> begun = new ArrayDeque<>();
  private long now = 10_000 * MILLI;

  private static ExtendSlot slot() {
    return new ExtendSlot(TestNodes.KEYS, TIMEOUT, TIMEOUT);
  }

  /** The slot asks for a lease that expires after this time. */
  private List<ExtendSlot> ask(ExtendSlot slot, long leftMillis) {
    return queue.ask(slot, now + leftMillis * MILLI, now + leftMillis * MILLI, now);
  }

  private List<ExtendSlot> ended(ExtendSlot slot, ExtendVerdict verdict, long tookMillis) {
    return queue.ended(slot, verdict, now - tookMillis * MILLI, nodes, now);
  }

  /** Begins rounds until no more may be under way; returns the one that began first. */
  private ExtendSlot fill() {
    ExtendSlot next = slot();
    while (ask(next, 20_000).contains(next)) {
      begun.add(next);
      next = slot();
    }
    assertThat(queue.giveUp(next, now)).isEmpty();
    return begun.remove();
  }

  /** Many rounds end, each after this time; returns the one that is to end next. */
  private ExtendSlot rounds(ExtendSlot next, long tookMillis) {
    for (int i = 0; i < 50; i++) {
      ended(next, ExtendVerdict.RENEWED, tookMillis);
      next = fill();
    }
    return next;
  }

  @Test
  void slots_thatWait_areAdmittedInOrderOfTheirDeadlines() {
    ExtendSlot done = fill();
    ExtendSlot late = slot();
    ExtendSlot early = slot();
    assertThat(ask(late, 9_000)).isEmpty();
    assertThat(ask(early, 5_000)).isEmpty();
    assertThat(ended(done, ExtendVerdict.RENEWED, 30)).containsExactly(early);
    assertThat(ended(early, ExtendVerdict.RENEWED, 30)).containsExactly(late);
  }

  @Test
  void slot_thatAsksAgainMoreUrgently_comesFirst_andNeverFallsBack() {
    ExtendSlot done = fill();
    ExtendSlot first = slot();
    ExtendSlot caller = slot();
    ask(first, 5_000);
    ask(caller, 9_000);
    queue.ask(caller, now + TIMEOUT, now + 9_000 * MILLI, now);
    ask(caller, 9_000);
    assertThat(ended(done, ExtendVerdict.RENEWED, 30)).containsExactly(caller);
  }

  @Test
  void leases_thatMayEndBeforeTheirRound_waitForThoseInTime_theMostLeftFirst() {
    ExtendSlot done = fill();
    ExtendSlot least = slot();
    ExtendSlot most = slot();
    ExtendSlot inTime = slot();
    ask(least, 20);
    ask(most, 90);
    ask(inTime, 5_000);
    assertThat(queue.giveUp(done, now)).containsExactly(inTime);
    assertThat(queue.giveUp(inTime, now)).containsExactly(most);
    assertThat(queue.giveUp(most, now)).containsExactly(least);
  }

  @Test
  void lease_thatWaitsTooLong_comesAfterThoseInTime() {
    ExtendSlot done = fill();
    ExtendSlot first = slot();
    ExtendSlot second = slot();
    ask(first, 150);
    ask(second, 5_000);
    now += 50 * MILLI;
    ask(first, 100);
    assertThat(queue.giveUp(done, now)).containsExactly(second);
    assertThat(queue.giveUp(second, now)).containsExactly(first);
  }

  @Test
  void releasesOfExpiredLeases_comeAfterAllExtensions_inTheOrderOfTheirEnd() {
    ExtendSlot done = fill();
    ExtendSlot[] expired = {slot(), slot()};
    for (ExtendSlot slot : expired) {
      assertThat(queue.askForRelease(slot, now)).isEmpty();
    }
    ExtendSlot late = slot();
    ask(late, 20);
    assertThat(queue.askForRelease(expired[0], now)).as("it keeps its place").isEmpty();
    assertThat(queue.giveUp(done, now)).containsExactly(late);
    assertThat(queue.giveUp(late, now)).containsExactly(expired[0]);
    assertThat(queue.giveUp(expired[0], now)).containsExactly(expired[1]);
  }

  /** Here rounds take 400 ms, and a node timeout is 100 ms. */
  @Test
  void slot_ofALeaseThatMayEndBeforeAUsualRound_comesAfterThoseInTime() {
    ExtendSlot done = rounds(fill(), 400);
    ExtendSlot late = new ExtendSlot(TestNodes.KEYS, TIMEOUT, 1_000 * MILLI);
    ExtendSlot inTime = new ExtendSlot(TestNodes.KEYS, TIMEOUT, 1_000 * MILLI);
    ask(late, 500);
    ask(inTime, 501);
    assertThat(ended(done, ExtendVerdict.RENEWED, 30)).containsExactly(inTime);
  }

  @Test
  void slot_thatIsGivenUp_letsTheNextBegin_andNoneIsLeft() {
    ExtendSlot done = fill();
    ExtendSlot next = slot();
    ExtendSlot gone = slot();
    ask(gone, 5_000);
    ask(next, 9_000);
    assertThat(queue.giveUp(gone, now)).isEmpty();
    assertThat(queue.giveUp(gone, now)).as("twice").isEmpty();
    assertThat(queue.giveUp(done, now)).containsExactly(next);
    assertThat(queue.waiting()).isZero();
  }

  @Test
  void slots_ofRoundsThatMustHaveEnded_areTakenFromThem() {
    ExtendSlot paused = fill();
    ExtendSlot next = slot();
    now += 2 * TIMEOUT + 1;
    assertThat(ask(next, 9_000)).containsExactly(next);
    assertThat(queue.underWay()).isEqualTo(1);
    assertThat(ended(paused, ExtendVerdict.UNKNOWN, 201)).isEmpty();
    assertThat(queue.underWay()).as("counted once").isEqualTo(1);
  }

  /** Else the release of an expired lease never begins: it waits to be told of its turn. */
  @Test
  void slot_thatMustHaveEndedAndAsksAgain_isAdmitted_orWaits() {
    ExtendSlot slot = slot();
    assertThat(queue.askForRelease(slot, now)).containsExactly(slot);
    now += 2 * TIMEOUT + 1;
    assertThat(queue.askForRelease(slot, now)).containsExactly(slot);
    now += 2 * TIMEOUT + 1;
    assertThat(ask(slot, 9_000)).containsExactly(slot);
  }

  /** Four releases that a hung node does not confirm delayed each extension by two seconds. */
  @Test
  void placeOfARelease_isFreeAfterTwoNodeTimeouts_thatOfAnExtensionAfterItsPatience() {
    ExtendSlot release = new ExtendSlot(TestNodes.KEYS, TIMEOUT, 10 * TIMEOUT);
    ExtendSlot extension = new ExtendSlot(TestNodes.KEYS, TIMEOUT, 10 * TIMEOUT);
    assertThat(queue.askForRelease(release, now)).containsExactly(release);
    assertThat(ask(extension, 9_000)).containsExactly(extension);
    now += 2 * TIMEOUT + 1;
    ask(slot(), 9_000);
    assertThat(release.isTaken()).isFalse();
    assertThat(extension.isTaken()).isTrue();
    now += 18 * TIMEOUT;
    ask(slot(), 9_000);
    assertThat(extension.isTaken()).isFalse();
  }

  @Test
  void rounds_whileNoQuorumReplies_areOneAtATime() {
    ExtendSlot first = fill();
    now += TIMEOUT;
    ended(first, ExtendVerdict.UNKNOWN, 100);
    assertThat(ask(first, 9_000)).isEmpty();
    now += 2 * TIMEOUT + 1;
    assertThat(ask(first, 9_000)).as("the others are overdue").containsExactly(first);
    ExtendSlot other = slot();
    assertThat(ask(other, 5_000)).as("the limit is one").isEmpty();
  }

  @Test
  void rounds_whileTheyAreFast_areMoreAndMore_butReleasesAreFew() {
    ExtendSlot done = fill();
    int before = queue.underWay();
    rounds(done, 1);
    assertThat(queue.underWay()).isGreaterThan(before + 40);
    begun.forEach(slot -> queue.giveUp(slot, now));
    IntStream.range(0, 9).forEach(i -> queue.askForRelease(slot(), now));
    assertThat(queue.waiting()).isEqualTo(9 - 4);
  }

  @Test
  void rounds_afterAPause_beginWithFew() {
    ExtendSlot done = fill();
    int first = queue.underWay();
    rounds(done, 1);
    now += 1_000 * MILLI; // All rounds under way are overdue.
    fill();
    assertThat(queue.underWay()).isEqualTo(first);
  }
}
