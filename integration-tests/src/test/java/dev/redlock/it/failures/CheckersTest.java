package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.ListAssert;
import org.junit.jupiter.api.Test;

/** Each checker finds its defect in a wrong history, and nothing in an almost wrong one. */
class CheckersTest {
  private static final long SECOND = 1_000_000_000L;

  /** A lease that claims validity from 100 to 1100. */
  private static final String A = acquired(100, "a", "a1", 1, 90);

  private static List<Event> history(String... lines) {
    return List.of(lines).stream().map(Event::parse).map(Optional::orElseThrow).toList();
  }

  private static List<ClaimedHold> holds(String... lines) {
    return ClaimedHold.of(history(lines));
  }

  private static String acquired(long at, String who, String lease, long token, long asked) {
    return acquired(at, who, lease, token, asked, at + 1000);
  }

  private static String acquired(
      long at, String who, String lease, long token, long asked, long until) {
    return "%d %s acquired lease=%s names=x token=%d asked=%d until=%d"
        .formatted(at, who, lease, token, asked, until);
  }

  private static String releasing(long at, String who, String lease, boolean valid) {
    return at + " " + who + " releasing lease=" + lease + " valid=" + valid + " seen=" + (at - 1);
  }

  private static ListAssert<String> assertOverlaps(String... lines) {
    return assertThat(Checks.overlaps(holds(lines)));
  }

  private static ListAssert<String> assertTokens(String... lines) {
    return assertThat(Checks.tokens(holds(lines)));
  }

  private static ListAssert<String> assertNotLinearizable(String... lines) {
    return assertThat(Checks.notLinearizable(holds(lines)));
  }

  @Test
  void overlaps_secondGrantedBeforeTheFirstIsReleased_areFound() {
    assertOverlaps(A, acquired(190, "b", "b1", 2, 110), releasing(200, "a", "a1", true))
        .singleElement()
        .asString()
        .contains("a1", "b1");
    assertOverlaps(A, releasing(200, "a", "a1", true), acquired(200, "b", "b1", 2, 110)).isEmpty();
  }

  @Test
  void overlaps_holderWasKilled_itsClaimLastsUntilItsDeadline() {
    assertOverlaps(A, acquired(1099, "b", "b1", 2, 110)).hasSize(1);
    assertOverlaps(A, acquired(1100, "b", "b1", 2, 110)).isEmpty();
  }

  @Test
  void overlaps_deadlineMovedByAnExtension_countsToTheNewOne() {
    assertOverlaps(
            A, "900 a extended lease=a1 asked=890 until=1900", acquired(1500, "b", "b1", 2, 110))
        .hasSize(1);
  }

  /**
   * The holder was paused between the grant and its first check, and others held the lock
   * meanwhile.
   */
  @Test
  void leaseThatHadExpiredWhenItsHolderFirstLooked_claimsNothing() {
    String[] lines = {
      acquired(1300, "b", "b1", 2, 1150),
      releasing(1400, "b", "b1", true),
      acquired(1500, "c", "c1", 3, 1420),
      acquired(1600, "a", "a1", 1, 90, 1600),
      "1610 a releasing lease=a1 valid=false seen=1600",
      "1620 a ended lease=a1 how=EXPIRED",
      releasing(1700, "c", "c1", true)
    };
    assertOverlaps(lines).isEmpty();
    assertNotLinearizable(lines).isEmpty();
    assertTokens(lines).isEmpty();
    lines[4] = "1610 a releasing lease=a1 valid=false seen=1609";
    assertOverlaps(lines).as("it was seen valid").hasSize(1);
    lines[4] = "1610 a releasing lease=a1 valid=false seen=1600";
    // One nanosecond of validity is a claim, even if the lease was lost at once.
    lines[3] = acquired(1600, "a", "a1", 1, 90, 1601);
    assertOverlaps(lines).hasSize(1);
    assertNotLinearizable(lines).hasSize(2);
    lines[5] = "1600 a ended lease=a1 how=LOST";
    assertOverlaps(lines).hasSize(1);
    // The lock was granted with a higher token before this lease was requested.
    lines[3] = acquired(1600, "a", "a1", 1, 1310, 1600);
    assertOverlaps(lines).isEmpty();
    assertNotLinearizable(lines).singleElement().asString().contains("a1", "b1");
  }

  @Test
  void linearizability_extensionSucceedsAfterAnotherHeld_isFound() {
    String[] resurrected = {
      A,
      acquired(1200, "b", "b1", 2, 1150),
      releasing(1300, "b", "b1", true),
      "1410 a extended lease=a1 asked=1400 until=2400"
    };
    assertNotLinearizable(resurrected).singleElement().asString().contains("a1", "b1");
    assertNotLinearizable(resurrected[0], resurrected[1], resurrected[2]).isEmpty();
  }

  /** Neither an overlap nor, by the rule of C3, a falling token. */
  @Test
  void linearizability_lowerTokenRequestedBeforeAndGrantedAfterAnotherHeld_isFound() {
    String[] lines = {
      acquired(110, "a", "a1", 2, 100),
      releasing(200, "a", "a1", true),
      acquired(300, "b", "b1", 1, 90)
    };
    assertOverlaps(lines).isEmpty();
    assertTokens(lines).isEmpty();
    assertNotLinearizable(lines).singleElement().asString().contains("a1", "b1");
    assertNotLinearizable(lines[0], lines[1], acquired(200, "b", "b1", 3, 90)).isEmpty();
  }

  @Test
  void shortHoldInsideALongOne_doesNotHideTheNext() {
    String[] lines = {
      A,
      acquired(200, "b", "b1", 2, 110),
      releasing(210, "b", "b1", true),
      acquired(300, "c", "c1", 3, 220)
    };
    assertOverlaps(lines).hasSize(2);
    assertNotLinearizable(lines).hasSize(2);
  }

  @Test
  void tokens_lowerThanThatOfALeaseGrantedBefore_isFound() {
    assertTokens(
            acquired(100, "a", "a1", 7, 90),
            releasing(150, "a", "a1", true),
            acquired(300, "b", "b1", 6, 101))
        .singleElement()
        .asString()
        .contains("b1");
    // Requested before the other was granted: both orders are correct.
    assertTokens(
            acquired(100, "a", "a1", 7, 90),
            releasing(150, "a", "a1", true),
            acquired(300, "b", "b1", 6, 99))
        .isEmpty();
  }

  @Test
  void tokens_equal_areFound() {
    assertTokens(
            acquired(100, "a", "a1", 7, 90),
            releasing(150, "a", "a1", true),
            acquired(300, "b", "b1", 7, 80))
        .singleElement()
        .asString()
        .contains("share");
  }

  @Test
  void register_twoWritesOfOneValue_isALostUpdate() {
    List<Event> history =
        history(
            "1 a writing register=r lease=a1 old=4",
            "2 b writing register=r lease=b1 old=4",
            "3 b wrote register=r lease=b1 old=4",
            "4 a wrote register=r lease=a1 old=4");
    assertThat(Checks.lostUpdates(history, "r")).hasSize(1).first().asString().contains("b1");
    assertThat(Checks.lostUpdates(history, "other")).isEmpty();
  }

  @Test
  void register_endsBelowTheAcknowledgedWrites_isALostUpdate() {
    List<Event> lost =
        history(
            "1 a writing register=r lease=a1 old=0",
            "2 a wrote register=r lease=a1 old=0",
            "3 a writing register=r lease=a2 old=1",
            "4 a wrote register=r lease=a2 old=1",
            "9 h final register=r value=1");
    assertThat(Checks.lostUpdates(lost, "r")).hasSize(1);
    List<Event> unknown =
        history(
            "1 a writing register=r lease=a1 old=0",
            "2 a wrote register=r lease=a1 old=0",
            "3 a writing register=r lease=a2 old=1",
            "9 h final register=r value=2");
    assertThat(Checks.lostUpdates(unknown, "r")).isEmpty();
  }

  @Test
  void recoveries_areMeasuredFromTheQuorumOfAllWorkers() {
    List<Event> history =
        history(
            "1 a ready",
            "2 a voting count=5",
            "3 h fault code=N1",
            "4 a voting count=2",
            "10 h recovered",
            "30 a voting count=3",
            acquired(75, "a", "a1", 1, 20),
            "80 h fault code=N1",
            "90 h recovered",
            "95 h stopping");
    assertThat(Checks.recoveries(history, "x", 3))
        .containsExactly(new Checks.Recovery(30, 45), new Checks.Recovery(90, -1));
  }

  @Test
  void recoveries_ofASetThatChanges_areMeasuredFromTheQuorumThatAWorkerNeeds() {
    List<Event> history =
        history(
            "1 a ready",
            "2 a voting count=3 quorum=2",
            "3 h fault code=N1",
            "10 h recovered",
            "11 a voting count=2 quorum=3",
            "30 a voting count=2 quorum=2",
            acquired(75, "a", "a1", 1, 20),
            "80 h stopping");
    assertThat(Checks.recoveries(history, "x", 3)).containsExactly(new Checks.Recovery(30, 45));
  }

  @Test
  void changes_areTheEpochsThatWereCompleted_andTheGapIsThatOfAnyGrant() {
    List<Event> history =
        history(
            "1 h begin seed=1",
            "2 h epoch number=2 members=a,b",
            "3 h epoch number=3 members=a,c",
            acquired(4, "a", "a1", 1, 20),
            acquired(40, "a", "a2", 2, 60),
            "50 h stopping");
    SetReport report = SetReport.of(history);
    assertThat(report.changes()).isEqualTo(1); // The last may still be open.
    assertThat(report.longestGapNanos()).isEqualTo(36);
    List<Event> complete = new ArrayList<>(history);
    complete.addAll(history("60 h complete change=9"));
    assertThat(SetReport.of(complete).changes()).isEqualTo(2);
  }

  @Test
  void recoveries_nextFaultBeforeAnyGrant_countUpToIt() {
    List<Event> history =
        history(
            "1 a ready",
            "2 a voting count=5",
            "3 h fault code=N1",
            "10 h recovered",
            "60 h fault code=N2",
            "70 h recovered",
            acquired(75, "a", "a1", 1, 20),
            "95 h stopping");
    assertThat(Checks.recoveries(history, "x", 3))
        .containsExactly(new Checks.Recovery(10, 50), new Checks.Recovery(70, 5));
  }

  @Test
  void verdict_notServedWithinLeaseTimeAndASecond_isFound() {
    String[] slow = {
      "1 a ready",
      "2 a voting count=5",
      "10 h recovered",
      acquired(10 + 2 * SECOND + 1, "a", "a1", 1, 20).replace("names=x", "names=hot"),
      3 * SECOND + " h stopping"
    };
    assertThat(Verdict.of(history(slow), Duration.ofSeconds(1), true).found())
        .singleElement()
        .asString()
        .contains("no worker was granted the lock");
    assertThat(Verdict.of(history(slow), Duration.ofSeconds(2), true).passed()).isTrue();
  }

  @Test
  void orphansAndImmortals_areFound() {
    List<Event> history =
        history("1 h orphan key=n1_redlock:{x}", "2 n1 immortal key=redlock:{x}:fence");
    assertThat(Checks.orphans(history)).hasSize(1);
    assertThat(Checks.immortal(history)).hasSize(1);
    assertThat(Verdict.of(history, Duration.ofSeconds(1), true).found())
        .containsAll(Checks.orphans(history))
        .containsAll(Checks.immortal(history))
        .hasSize(3) // In addition: nothing else happened.
        .contains("nothing happened");
  }

  @Test
  void signal_afterTheDeadline_isFound_unlessTheProcessDidNotRun() {
    String[] late = {A, 1100 + SECOND + " a ended lease=a1 how=EXPIRED"};
    assertThat(Checks.lateSignals(history(late), SECOND / 2)).hasSize(1);
    assertThat(Checks.lateSignals(history(late), 2 * SECOND)).isEmpty();
    String stall = 1000 + SECOND + " a stall from=900";
    assertThat(Checks.lateSignals(history(late[0], stall, late[1]), SECOND / 2)).isEmpty();
    String other = 1000 + SECOND + " b stall from=900";
    assertThat(Checks.lateSignals(history(late[0], other, late[1]), SECOND / 2)).hasSize(1);
  }

  @Test
  void signal_whileProcessesWaitForAProcessor_isLateByTheTimeInWhichNoneWaited() {
    List<Event> history =
        history(
            A,
            "2090 b stall from=1090",
            "2500 c stall from=1500",
            "4000 b stall from=3500",
            "5100 a ended lease=a1 how=EXPIRED");
    assertThat(Checks.signals(history).get(0).lateNanos()).isEqualTo(4000 - 1410 - 500);
  }

  @Test
  void signal_lossOrCapAfterTheDeadline_isFoundAsWell() {
    for (String how : List.of("LOST", "CAP_REACHED", "EXPIRED")) {
      String[] lines = {A, (1100 + SECOND) + " a ended lease=a1 how=" + how};
      assertThat(Checks.lateSignals(history(lines), SECOND / 2))
          .singleElement()
          .asString()
          .contains(how);
      lines[1] = "1099 a ended lease=a1 how=" + how;
      assertThat(Checks.signals(history(lines)).get(0).lateNanos()).isEqualTo(-1);
      assertThat(Checks.lateSignals(history(lines), 0)).isEmpty();
    }
    String released = (1100 + SECOND) + " a ended lease=a1 how=RELEASED";
    assertThat(Checks.signals(history(A, released))).isEmpty();
  }

  @Test
  void signals_mostAfterTheDeadline_areFoundHoweverLittleTheyAreLate() {
    List<String> lines = new ArrayList<>();
    for (int i = 1; i <= 5; i++) {
      lines.add(acquired(100, "a", "a" + i, i, 90));
      lines.add((i <= 2 ? 1095 : 1105) + " a ended lease=a" + i + " how=EXPIRED");
    }
    assertThat(Checks.lateSignals(history(lines.toArray(String[]::new)), 50))
        .singleElement()
        .asString()
        .contains("most ends");
    lines.set(9, "1095 a ended lease=a5 how=EXPIRED");
    assertThat(Checks.lateSignals(history(lines.toArray(String[]::new)), 50)).isEmpty();
  }

  @Test
  void signal_thatNeverCame_isFound() {
    String[] silent = {A, "5000 a done"};
    assertThat(Checks.lateSignals(history(silent), SECOND)).hasSize(1);
    assertThat(Checks.lateSignals(history(silent[0]), SECOND)).as("it was killed").isEmpty();
  }

  @Test
  void processesOfAnotherBuild_areCounted_ifThereAreAny() {
    String[] of = {"2 w1.1 ready", "3 w2.1 ready", acquired(4, "w1.1", "a1", 1, 90)};
    assertThat(Builds.line(history(of))).isEmpty();
    List<Event> mixed = new ArrayList<>(history("1 w1.1 other-build"));
    mixed.addAll(history(of));
    mixed.addAll(history(acquired(5, "w2.1", "b1", 2, 90), acquired(6, "w1.1", "a2", 3, 90)));
    assertThat(Builds.line(mixed))
        .contains("mixed: processes=2 ofOtherBuild=1 grants=3 toOtherBuild=2");
  }

  @Test
  void events_areReadAsTheyWereWritten() {
    Event event = Event.of(5, "w1", "fault", "text", "killed, back empty", "n", 3);
    assertThat(Event.parse(event.toString())).contains(event);
    assertThat(event.text("text")).isEqualTo("killed,_back_empty");
    assertThat(Event.parse("WARNING: a JVM speaks")).isEmpty();
  }
}
