package dev.redlock.redis.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ConnectionStatesTest {
  private static final Duration MAX_LEASE = Duration.ofSeconds(30);
  private static final long GUARD = TimeUnit.SECONDS.toNanos(32);
  private static final long OLD = 10_000;

  /** Near the overflow; a monotonic clock may start anywhere. */
  private long now = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(20);

  private ConnectionStates states = machine(RestartGuard.UPTIME);

  private ConnectionStates machine(RestartGuard guard) {
    return new ConnectionStates(guard, MAX_LEASE, true, now);
  }

  private static NodeIdentity identity(String runId, long uptime, String role) {
    return new NodeIdentity(
        runId,
        "redis",
        "7.0.15",
        uptime,
        role,
        false,
        "noeviction",
        "",
        0,
        false,
        "",
        0,
        "",
        false,
        0,
        0,
        "");
  }

  private static Probe.Marker marker(long sinceSeconds) {
    return marker(sinceSeconds, 100_000);
  }

  private static Probe.Marker marker(long sinceSeconds, long nowSeconds) {
    return new Probe.Marker(sinceSeconds * 1_000_000, nowSeconds * 1_000_000);
  }

  private static Probe probe(String runId, long uptime) {
    return new Probe(identity(runId, uptime, "master"), marker(1));
  }

  private NodeStatus connect(Probe probe) {
    states.onConnected(now);
    assertThat(states.status().state()).isEqualTo(State.PROBING);
    states.onProbed(probe, now);
    return states.status();
  }

  private void pass(long nanos) {
    now += nanos;
    states.onTick(now);
  }

  private static long seconds(long seconds) {
    return TimeUnit.SECONDS.toNanos(seconds);
  }

  private void assertQuarantined(long sinceNanos, long untilNanos) {
    NodeStatus status = states.status();
    assertThat(status.state()).as(status.toString()).isEqualTo(State.QUARANTINED);
    assertThat(status.sinceNanos() - sinceNanos).as("since").isZero();
    assertThat(status.untilNanos() - untilNanos).as("until").isZero();
    assertThat(status.cause()).isNotEmpty();
  }

  private void assertVoting() {
    assertThat(states.status().state()).as(states.status().toString()).isEqualTo(State.VOTING);
  }

  @Test
  void oldServer_votesAtOnce() {
    assertThat(states.status().state()).isEqualTo(State.CONNECTING);
    connect(probe("a", OLD));
    assertVoting();
  }

  @Test
  void youngServer_isHeldForTheRestOfTheGuard_andVotesWhenItIsOver() {
    connect(probe("a", 10));
    assertQuarantined(now, now + GUARD - seconds(10));

    pass(GUARD - seconds(10) - 1);
    assertThat(states.status().state()).isEqualTo(State.QUARANTINED);
    pass(1);
    assertVoting();
  }

  @Test
  void uptimeOfExactlyTheGuard_votes_oneSecondLessDoesNot() {
    connect(probe("a", 32));
    assertVoting();
    states = machine(RestartGuard.UPTIME);
    connect(probe("a", 31));
    assertQuarantined(now, now + seconds(1));
  }

  @Test
  void guard_isAtLeastSevenSeconds() {
    states = new ConnectionStates(RestartGuard.UPTIME, Duration.ofMillis(100), true, now);
    connect(new Probe(identity("a", 0, "master"), new Probe.Marker(1_000_000, 2_000_000)));
    assertQuarantined(now, now + seconds(7));
  }

  @Test
  void anotherRun_isHeldForTheWholeGuard_whateverItsUptime() {
    connect(probe("a", OLD));
    states.onLost("broke", now);
    pass(seconds(1));

    connect(probe("b", OLD));
    assertQuarantined(now, now + GUARD);
  }

  @Test
  void sameRun_votesAgainAfterAReconnect() {
    connect(probe("a", OLD));
    states.onLost("broke", now);
    pass(seconds(1));
    connect(probe("a", 1)); // its wall clock stepped back; it is the same run
    assertVoting();
  }

  @Test
  void reconnectInQuarantine_keepsSinceAndUntil() {
    connect(probe("a", 2));
    long since = now;
    pass(seconds(3));
    states.onLost("broke", now);
    pass(seconds(3));
    connect(probe("a", 8));
    assertQuarantined(since, since + GUARD - seconds(2));
  }

  @Test
  void runsThatAlternate_areHeldEachTime() {
    connect(probe("a", OLD));
    states.onLost("broke", now);
    connect(probe("b", OLD));
    pass(GUARD);
    assertVoting();
    states.onLost("broke", now);
    connect(probe("a", OLD));
    assertQuarantined(now, now + GUARD);
  }

  @Test
  void everyConnection_hasANumberOfItsOwn_fromTheLossOn() {
    long first = connect(probe("a", OLD)).connection();
    states.onLost("broke", now);
    long second = states.status().connection();
    assertThat(second).isGreaterThan(first);
    assertThat(states.status().state()).isEqualTo(State.CONNECTING);
    states.onLost("refused", now);
    states.onLost("refused again", now);
    assertThat(states.status().cause()).isEqualTo("refused again");
    assertThat(connect(probe("a", OLD)).connection()).isEqualTo(second);
  }

  @Test
  void quarantineThatEnds_keepsTheNumber() {
    long number = connect(probe("a", 0)).connection();
    pass(GUARD);
    assertVoting();
    assertThat(states.status().connection()).isEqualTo(number);
  }

  @Test
  void infoRefused_countsAsARestart_atEveryConnection() {
    connect(new Probe(null, marker(1)));
    assertQuarantined(now, now + GUARD);
    assertThat(states.status().cause()).contains("INFO");
    pass(GUARD);
    assertVoting();
    states.onLost("broke", now);
    connect(new Probe(null, marker(1)));
    assertQuarantined(now, now + GUARD);
  }

  @Test
  void flush_changesTheNumberAtOnce_andHoldsForTheWholeGuardIfTheMarkerIsGone() {
    long number = connect(probe("a", OLD)).connection();
    pass(seconds(5));

    states.onFlush(now);
    assertThat(states.status().connection()).isGreaterThan(number);
    assertQuarantined(now, now + GUARD);
    long flushed = now;
    pass(seconds(1));
    states.onMarker(marker(99), null, now);
    assertQuarantined(flushed, flushed + GUARD);
    pass(GUARD);
    assertVoting();
  }

  @Test
  void flushOfAnotherDatabase_leadsBackToVoting_withANewNumber() {
    long number = connect(probe("a", OLD)).connection();
    states.onFlush(now);
    states.onMarker(marker(1), null, now);
    assertVoting();
    assertThat(states.status().connection()).isGreaterThan(number);
  }

  @Test
  void flushOfAnotherDatabase_inQuarantine_leadsBackToIt() {
    connect(probe("a", 2));
    long since = now;
    pass(seconds(3));
    states.onFlush(now);
    states.onMarker(marker(1), null, now);
    assertQuarantined(since, since + GUARD - seconds(2));
  }

  @Test
  void flush_isDetected_evenIfAnotherClientSetTheMarkerFirst() {
    connect(probe("a", OLD));
    states.onFlush(now);
    states.onMarker(marker(2), null, now); // another marker than the known one
    assertQuarantined(now, now + GUARD);
  }

  /** Found by the seed 21409 of the connections. */
  @Test
  void flush_beforeTheServerFirstTellsItsAge_stillHoldsForTheWholeGuard() {
    connect(new Probe(null, marker(1)));
    states.onFlush(now);
    states.onMarker(marker(2), null, now);
    long flushed = now;
    pass(seconds(3));

    states.onProbed(new Probe(identity("a", OLD, "master"), marker(2)), now);

    assertQuarantined(flushed, flushed + GUARD);
  }

  @Test
  void flush_markerUnreadable_countsAsGone() {
    connect(probe("a", OLD));
    states.onFlush(now);
    states.onMarker(null, "OOM: full", now);
    assertQuarantined(now, now + GUARD);
  }

  @Test
  void secondFlush_whileTheFirstIsChecked_isNotForgottenByTheFirstReply() {
    connect(probe("a", OLD));
    states.onFlush(now);
    pass(seconds(1));
    states.onFlush(now);
    long second = now;
    states.onMarker(marker(50), null, now); // deleted; our own read wrote a new one
    assertThat(states.status().state()).isEqualTo(State.QUARANTINED);
    states.onMarker(marker(50), null, now); // the second read finds what the first one wrote
    assertQuarantined(second, second + GUARD);
  }

  @Test
  void markerThatChangedWhileAway_meansAFlush() {
    connect(probe("a", OLD));
    states.onLost("broke", now);
    pass(seconds(1));
    connect(new Probe(identity("a", OLD, "master"), marker(7)));
    assertQuarantined(now, now + GUARD);
  }

  @Test
  void restartWithoutItsKeys_namesTheRestart_notTheMarkerThatItLost() {
    connect(probe("a", OLD));
    states.onLost("broke", now);
    pass(seconds(1));
    connect(new Probe(identity("b", 0, "master"), marker(7)));
    assertQuarantined(now, now + GUARD);
    assertThat(states.status().cause()).isEqualTo("restarted: its run id changed");
  }

  /** A full server replies with an error to the script that records the flush. */
  @Test
  void knownMarkerThatCannotBeReadAfterAReconnect_countsAsGone() {
    connect(oldServer(marker(1)));
    assertVoting();
    states.onLost("broke", now);
    connect(oldServer(null));
    states.onProbed(oldServer(marker(1)), now); // It can be read again.
    assertQuarantined(now, now + GUARD);
  }

  @Test
  void probeThatIsAnsweredAfterALoss_isIgnored() {
    connect(probe("a", OLD));
    states.onFlush(now);
    states.onLost("broke", now);
    states.onMarker(marker(1), null, now);
    assertThat(states.status().state()).isEqualTo(State.CONNECTING);
  }

  @Test
  void replica_neverVotes_andIsHeldForTheWholeGuardWhenPromoted() {
    connect(new Probe(identity("a", OLD, "slave"), marker(1)));
    assertThat(states.status().state()).isEqualTo(State.QUARANTINED);
    assertThat(states.status().untilNanos()).isZero();
    assertThat(states.status().cause()).contains("replica");
    assertThat(states.refused()).isTrue();
    pass(10 * GUARD);
    assertThat(states.status().state()).isEqualTo(State.QUARANTINED);

    states.onProbed(probe("a", OLD), now);
    assertThat(states.refused()).isFalse();
    assertQuarantined(now, now + GUARD);
  }

  @Test
  void masterThatBecomesAReplica_stopsVoting() {
    connect(probe("a", OLD));
    states.onProbed(new Probe(identity("a", OLD, "slave"), marker(1)), now);
    assertThat(states.status().state()).isEqualTo(State.QUARANTINED);
    assertThat(states.status().sinceNanos() - now).isZero();
  }

  @Test
  void recordThatAllowsLongerLeases_keepsANodeOutForTheirGuardTime() {
    NodeRecord longer = NodeRecord.first("d1", List.of("a:1"), 60_000).of("a:1");
    connect(new Probe(identity("a", 40, "master"), holding(longer)));
    assertQuarantined(now, now + seconds(62 - 40));

    states = machine(RestartGuard.UPTIME);
    connect(new Probe(identity("a", 40, "master"), marker(1)));
    assertVoting();
    states.onRecord(longer, now);
    assertQuarantined(now, now + seconds(62 - 40));
    pass(seconds(22));
    assertVoting();
  }

  @Test
  void recordOfAChangeThatShortensLeases_keepsANodeOutForTheLongerOnes() {
    List<String> set = List.of("a:1");
    NodeRecord open = new NodeRecord("d1", "a:1", 2, set, set, 1, 9, 9, 10_000, 60_000, 0);
    NodeRecord sealed = new NodeRecord("d1", "a:1", 2, set, set, 2, 9, 9, 10_000, 60_000, 7);
    connect(new Probe(identity("a", 0, "master"), holding(open)));
    assertQuarantined(now, now + seconds(62));
    states.onRecord(sealed.complete(), now);
    assertQuarantined(now, now + GUARD);
  }

  @Test
  void recordWithAnEndlessLeaseTime_keepsANodeOutForAnHour() {
    connect(
        new Probe(
            identity("a", 0, "master"),
            holding(NodeRecord.first("d1", List.of("a:1"), 9_000_000_000_000_000L).of("a:1"))));
    assertQuarantined(now, now + seconds(3_602));
  }

  @Test
  void guardOff_neverHolds_butAFlushStillVoidsAnswers() {
    states = new ConnectionStates(RestartGuard.OFF, MAX_LEASE, false, now);
    long number = connect(probe("a", 0)).connection();
    assertVoting();
    states.onFlush(now);
    assertVoting();
    assertThat(states.status().connection()).isGreaterThan(number);
    states.onMarker(marker(99), null, now);
    states.onLost("broke", now);
    connect(new Probe(identity("b", 0, "master"), marker(99)));
    assertVoting();
  }

  @Test
  void guardOff_whereRecordsAreKept_holdsAfterAFlushUntilTheMarkerIsRead() {
    states = machine(RestartGuard.OFF);
    connect(oldServer(holding(FIRST)));
    states.onFlush(now);
    assertThat(states.status().state()).isEqualTo(State.QUARANTINED);
    states.onMarker(marker(50), null, now);
    assertVoting();
    assertThat(states.status().record()).isEqualTo(NodeRecord.NONE);
  }

  @Test
  void markerGuard_holdsUntilTheMarkerIsOldEnough() {
    states = machine(RestartGuard.MARKER);
    connect(new Probe(identity("a", OLD, "master"), marker(90, 100)));
    assertQuarantined(now, now + GUARD - seconds(10));
    pass(GUARD - seconds(10));
    assertVoting();
  }

  @Test
  void markerGuard_youngServerWithAnOldMarker_isHeldAsWell() {
    states = machine(RestartGuard.MARKER);
    connect(probe("a", 2));
    assertQuarantined(now, now + GUARD - seconds(2));
  }

  @Test
  void markerGuard_markerFromTheFuture_isNotBelieved() {
    states = machine(RestartGuard.MARKER);
    connect(new Probe(identity("a", OLD, "master"), marker(200, 100)));
    assertQuarantined(now, now + GUARD);
  }

  @Test
  void markerGuard_withoutMarker_neverVotes() {
    states = machine(RestartGuard.MARKER);
    connect(new Probe(identity("a", OLD, "master"), noMarker()));
    pass(10 * GUARD);
    assertThat(states.status().state()).isEqualTo(State.QUARANTINED);
    assertThat(states.refused()).isTrue();
  }

  private static Probe.@Nullable Marker noMarker() {
    return null;
  }

  private static NodeIdentity promoted(String runId, long uptime, String replication) {
    return new NodeIdentity(
        runId,
        "redis",
        "7.0.15",
        uptime,
        "master",
        false,
        "noeviction",
        replication,
        0,
        false,
        "",
        0,
        "",
        true,
        0,
        0,
        "");
  }

  private static Probe promotedFor(long seconds) {
    return new Probe(promoted("a", OLD, "new"), marker(1))
        .withMasterFor(seconds * 1_000_000, marker(1));
  }

  @Test
  void promotedMaster_metForTheFirstTime_isHeldForTheWholeGuard_whateverItsUptime() {
    connect(promotedFor(0));
    assertQuarantined(now, now + GUARD);
    assertThat(states.status().cause()).contains("promoted");
    pass(GUARD);
    assertVoting();
    states.onLost("broke", now);
    connect(promotedFor(0));
    assertVoting();
  }

  @Test
  void promotedMaster_knownAsAMasterForAWhile_isHeldForTheRest_andForLonger_votesAtOnce() {
    connect(promotedFor(10));
    assertQuarantined(now, now + GUARD - seconds(10));
    states = machine(RestartGuard.UPTIME);
    connect(promotedFor(32));
    assertVoting();
  }

  @Test
  void promotedMaster_youngAsAServer_isHeldForTheLongerOfBoth() {
    connect(new Probe(promoted("a", 3, "new"), marker(1)).withMasterFor(20_000_000, marker(1)));
    assertQuarantined(now, now + GUARD - seconds(3));
    assertThat(states.status().cause()).startsWith("started 3 s before this client first saw it");
  }

  @Test
  void sameRun_promotedSinceItWasLastSeen_isHeldForTheWholeGuard() {
    connect(new Probe(promoted("a", OLD, "first"), marker(1)).withMasterFor(99_000_000, marker(1)));
    assertVoting();
    states.onLost("broke", now);
    connect(
        new Probe(promoted("a", OLD, "second"), marker(1)).withMasterFor(99_000_000, marker(1)));
    assertQuarantined(now, now + GUARD);
  }

  @Test
  void promotedMaster_ofACluster_votesAtOnce() {
    connect(new Probe(promoted("a", 1, "new"), false, null, null, 1, true, 0));
    assertVoting();
  }

  @Test
  void promotedMaster_underTheMarkerGuard_isHeldAsWell() {
    states = machine(RestartGuard.MARKER);
    connect(promotedFor(0));
    assertQuarantined(now, now + GUARD);
  }

  private static Probe oldServer(Probe.Marker marker) {
    return new Probe(identity("a", OLD, "master"), marker);
  }

  private static Probe.Marker renewed(long age) {
    return new Probe.Marker(100_000_000, (100 + age) * 1_000_000, true, "m", 1, NodeRecord.NONE);
  }

  @Test
  void flushBeforeThisClientCame_thatAnotherSaw_isHeldUntilTheMarkerIsOldEnough() {
    connect(oldServer(renewed(5)));
    assertQuarantined(now, now + GUARD - seconds(5));
    assertThat(states.status().cause()).contains("flushed");
    states = machine(RestartGuard.UPTIME);
    connect(oldServer(renewed(32)));
    assertVoting();
  }

  @Test
  void firstMarkerOfANewDeployment_onAnOldServer_holdsNothingUp() {
    connect(oldServer(marker(100, 100)));
    assertVoting();
  }

  @Test
  void probeThatFindsTheNewMarkerFirst_isNotForgottenWhenTheFlushIsChecked() {
    connect(probe("a", OLD));
    states.onFlush(now);
    long flushed = now;
    pass(seconds(1));
    states.onProbed(
        new Probe(identity("a", OLD, "master"), marker(50)), now); // the probe of a doctor
    states.onMarker(marker(50), null, now); // the known marker by now
    assertQuarantined(flushed + seconds(1), flushed + seconds(1) + GUARD);
  }

  @Test
  void readOnlyReply_endsTheVoteAtOnce_untilAProbeFindsAMaster() {
    connect(probe("a", OLD));
    assertThat(states.onReadOnly(now)).isTrue();
    assertQuarantined(now, 0);
    assertThat(states.status().cause()).contains("READONLY");
    assertThat(states.refused()).isTrue();
    assertThat(states.onReadOnly(now)).as("no news").isFalse();
    pass(10 * GUARD);
    assertThat(states.status().state()).isEqualTo(State.QUARANTINED);

    states.onProbed(probe("a", OLD), now);
    assertVoting();
  }

  @Test
  void readOnlyReply_whereInfoIsRefused_holdsForTheWholeGuard() {
    connect(new Probe(null, marker(1)));
    pass(GUARD);
    assertVoting();
    states.onReadOnly(now);
    states.onProbed(new Probe(null, marker(1)), now);
    assertQuarantined(now, now + GUARD);
  }

  private static final NodeRecord FIRST =
      new NodeRecord(
          "d1", "a:1", 3, List.of("a:1", "b:1"), List.of("a:1"), 2, 0, 0, 30_000, 30_000, 50);

  private static Probe.Marker holding(NodeRecord record) {
    return new Probe.Marker(1_000_000, 100_000_000_000L, record);
  }

  private static NodeRecord promising(NodeRecord r, long promised, long ballot) {
    return new NodeRecord(
        "d1",
        r.name(),
        r.epoch(),
        r.members(),
        r.before(),
        r.floor(),
        ballot,
        promised,
        r.maxLeaseMillis(),
        r.maxLeaseMillis(),
        r.sinceMicros());
  }

  @Test
  void record_comesWithTheMarker_andGoesWithTheConnection() {
    assertThat(states.status().record()).isEqualTo(NodeRecord.NONE);
    connect(oldServer(holding(FIRST)));
    assertThat(states.status().record()).isEqualTo(FIRST);
    states.onLost("broke", now);
    assertThat(states.status().record()).isEqualTo(NodeRecord.NONE);
    connect(oldServer(null));
    assertThat(states.status().record()).isEqualTo(NodeRecord.UNREADABLE);
  }

  @Test
  void serverThatKeepsNoRecord_hasNone() {
    states = new ConnectionStates(RestartGuard.UPTIME, MAX_LEASE, false, now);
    long number = connect(oldServer(holding(FIRST))).connection();
    states.onProbed(oldServer(marker(1)), now);
    assertThat(states.status().record()).isNull();
    assertThat(states.status().connection()).isEqualTo(number);
  }

  @Test
  void eachPartOfTheRecordThatDecidesOnVotes_raisesTheConnectionNumber() {
    List<NodeRecord> others =
        List.of(
            FIRST.of("b:1"),
            new NodeRecord(
                "d1", "a:1", 4, FIRST.members(), FIRST.before(), 2, 0, 0, 30_000, 30_000, 50),
            new NodeRecord(
                "d1", "a:1", 3, List.of("a:1", "c:1"), FIRST.before(), 2, 0, 0, 30_000, 30_000, 50),
            new NodeRecord(
                "d1", "a:1", 3, FIRST.members(), List.of("b:1"), 2, 0, 0, 30_000, 30_000, 50),
            new NodeRecord(
                "d1", "a:1", 3, FIRST.members(), FIRST.before(), 3, 0, 0, 30_000, 30_000, 50),
            new NodeRecord(
                "d1", "a:1", 3, FIRST.members(), FIRST.before(), 2, 0, 0, 30_000, 30_000, 51),
            NodeRecord.NONE);
    connect(oldServer(holding(FIRST)));
    for (NodeRecord other : others) {
      long number = states.status().connection();
      states.onRecord(other, now);
      assertThat(states.status().record()).isEqualTo(other);
      assertThat(states.status().connection()).as("%s", other).isEqualTo(number + 1);
      states.onProbed(oldServer(holding(FIRST)), now);
      assertThat(states.status().record()).isEqualTo(FIRST);
      assertThat(states.status().connection()).as("%s", other).isEqualTo(number + 2);
      assertVoting();
    }
  }

  @Test
  void promises_areStored_butDoNotRaiseTheConnectionNumber() {
    long number = connect(oldServer(holding(FIRST))).connection();
    NodeRecord promised = promising(FIRST, 9, 8);
    states.onRecord(promised, now);
    assertThat(states.status().record()).isEqualTo(promised);
    assertThat(states.status().connection()).isEqualTo(number);
  }

  @Test
  void markerThatIsInvalidated_stopsTheVoteUntilItIsRead_underEachGuard() {
    for (RestartGuard guard : RestartGuard.values()) {
      states = machine(guard);
      long number = connect(oldServer(holding(FIRST))).connection();
      assertVoting();

      states.onMarkerInvalidated(now);
      assertThat(states.status().state()).as("%s", guard).isEqualTo(State.QUARANTINED);
      assertThat(states.status().cause()).isEqualTo("its marker changed and is read again");
      assertThat(states.status().connection()).isEqualTo(number + 1);

      states.onMarker(holding(FIRST.of("b:1")), null, now);
      assertVoting();
      assertThat(states.status().record()).isEqualTo(FIRST.of("b:1"));
      assertThat(states.status().connection())
          .as("replies before the marker was read do not count with its record")
          .isEqualTo(number + 2);
    }
  }

  @Test
  void markerThatIsInvalidatedTwice_isReadTwice() {
    connect(oldServer(holding(FIRST)));
    states.onMarkerInvalidated(now);
    states.onMarkerInvalidated(now);
    states.onMarker(holding(FIRST), null, now);
    assertThat(states.status().state()).isEqualTo(State.QUARANTINED);
    states.onMarker(holding(FIRST.of("b:1")), null, now);
    assertVoting();
  }

  @Test
  void markerThatIsGone_orAnotherOne_isAFlush_andTakesTheRecord() {
    connect(oldServer(holding(FIRST)));
    states.onMarkerInvalidated(now);
    states.onMarker(marker(50), null, now);
    assertQuarantined(now, now + GUARD);
    assertThat(states.status().cause()).contains("flushed");
    assertThat(states.status().record()).isEqualTo(NodeRecord.NONE);

    states = machine(RestartGuard.UPTIME);
    connect(oldServer(holding(FIRST)));
    states.onMarkerInvalidated(now);
    states.onMarker(null, "OOM: full", now);
    assertQuarantined(now, now + GUARD);
    assertThat(states.status().record()).isEqualTo(NodeRecord.UNREADABLE);
  }

  @Test
  void markerThatCannotBeReadAfterAChange_keepsTheNodeOutUntilItIsProbed() {
    states = machine(RestartGuard.OFF);
    connect(oldServer(holding(FIRST)));
    states.onMarkerInvalidated(now);
    states.onMarker(null, "LOADING: it reads its file", now);
    assertThat(states.status().state()).isEqualTo(State.QUARANTINED);
    assertThat(states.status().cause())
        .isEqualTo("its marker cannot be read: LOADING: it reads its file");
    assertThat(states.refused()).isTrue();
    states.onProbed(oldServer(holding(FIRST)), now);
    assertVoting();
  }

  /**
   * A user without the permission would never learn of a change: it is no server without records.
   */
  @Test
  void markerThatTheServerRefusesToAProbe_isNoVote_andSaysWhy() {
    connect(oldServer(holding(FIRST)));
    long number = states.status().connection();
    Probe refused =
        new Probe(
            identity("a", OLD, "master"), false, null, "redlock:%node: NOPERM no key", 1, false, 0);
    states.onProbed(refused, now);
    assertThat(states.status().state()).isEqualTo(State.QUARANTINED);
    assertThat(states.status().cause())
        .isEqualTo(
            "its marker, which says to which set of nodes it belongs, can be neither read nor"
                + " written: redlock:%node: NOPERM no key; the user needs this key, and HMGET, HSET"
                + " and DEL there");
    assertThat(states.status().record()).isEqualTo(NodeRecord.UNREADABLE);
    assertThat(states.status().connection()).isEqualTo(number + 1);
    states.onProbed(oldServer(holding(FIRST)), now);
    assertVoting();
    assertThat(states.status().record()).isEqualTo(FIRST);
    assertThat(states.status().connection()).isEqualTo(number + 2);
  }

  @Test
  void recordWithoutAnIdentity_isNoVote() {
    connect(oldServer(holding(NodeRecord.UNREADABLE)));
    assertThat(states.status().state()).isEqualTo(State.QUARANTINED);
    assertThat(states.status().cause())
        .startsWith("its record of the set of nodes has no identity, or another form");
    assertThat(states.refused()).isTrue();
  }

  @Test
  void markerThatCannotBeRead_isTriedAgain_whereRecordsAreKept() {
    connect(oldServer(null));
    assertThat(states.refused()).isTrue();
    states.onProbed(oldServer(holding(FIRST)), now);
    assertThat(states.refused()).isFalse();
    states = new ConnectionStates(RestartGuard.UPTIME, MAX_LEASE, false, now);
    connect(oldServer(null));
    assertThat(states.refused()).isFalse();
  }

  private static Probe.Marker wire(long version) {
    return new Probe.Marker(1_000_000, 100_000_000_000L, false, "", version, FIRST);
  }

  @Test
  void markerOfAnotherWireVersion_isRefused_untilItHasThatOfTheClient() {
    connect(oldServer(wire(2)));
    assertQuarantined(now, 0);
    assertThat(states.status().cause())
        .isEqualTo(
            "its marker says wire version 2, and this client speaks version 1: update this client");
    assertThat(states.refused()).isTrue();
    assertThat(states.isForeign()).as("no request is sent").isTrue();
    states.onProbed(oldServer(wire(1)), now);
    assertThat(states.isForeign()).isFalse();
    assertVoting();

    long number = states.status().connection();
    states.onMarkerInvalidated(now);
    states.onMarker(wire(2), null, now);
    assertQuarantined(now, 0);
    assertThat(states.isForeign()).isTrue();
    assertThat(states.status().connection()).as("no earlier vote counts").isGreaterThan(number);
  }
}
