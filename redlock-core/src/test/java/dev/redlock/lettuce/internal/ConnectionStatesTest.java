package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.lettuce.internal.ConnectionStates.Silence;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ConnectionStatesTest {
  private static final Duration MAX_LEASE = Duration.ofSeconds(30);
  private static final long GUARD = TimeUnit.SECONDS.toNanos(32);
  private static final long OLD = 10_000;

  /** Near the overflow, as a monotonic clock may be. */
  private long now = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(20);

  private ConnectionStates states = machine(RestartGuard.UPTIME);

  private ConnectionStates machine(RestartGuard guard) {
    return new ConnectionStates(guard, MAX_LEASE, now);
  }

  private static NodeIdentity identity(String runId, long uptime, String role) {
    return new NodeIdentity(
        runId, "redis", "7.0.15", uptime, role, false, "noeviction", "", 0, false, "", 0, "");
  }

  private static Probe.Marker marker(long sinceSeconds) {
    return marker(sinceSeconds, 100_000);
  }

  private static Probe.Marker marker(long sinceSeconds, long nowSeconds) {
    return new Probe.Marker(MAX_LEASE.toMillis(), sinceSeconds * 1_000_000, nowSeconds * 1_000_000);
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
    states = new ConnectionStates(RestartGuard.UPTIME, Duration.ofMillis(100), now);
    connect(new Probe(identity("a", 0, "master"), new Probe.Marker(100, 1_000_000, 2_000_000)));
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
    connect(probe("a", 1)); // its wall clock stepped back; it is the same run all the same
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
    states.onMarker(marker(99), now);
    assertQuarantined(flushed, flushed + GUARD);
    pass(GUARD);
    assertVoting();
  }

  @Test
  void flushOfAnotherDatabase_leadsBackToVoting_withANewNumber() {
    long number = connect(probe("a", OLD)).connection();
    states.onFlush(now);
    states.onMarker(marker(1), now);
    assertVoting();
    assertThat(states.status().connection()).isGreaterThan(number);
  }

  @Test
  void flushOfAnotherDatabase_inQuarantine_leadsBackToIt() {
    connect(probe("a", 2));
    long since = now;
    pass(seconds(3));
    states.onFlush(now);
    states.onMarker(marker(1), now);
    assertQuarantined(since, since + GUARD - seconds(2));
  }

  @Test
  void flush_isNoticed_evenIfAnotherClientSetTheMarkerFirst() {
    connect(probe("a", OLD));
    states.onFlush(now);
    states.onMarker(marker(2), now); // present, but not the one we knew
    assertQuarantined(now, now + GUARD);
  }

  @Test
  void flush_markerUnreadable_countsAsGone() {
    connect(probe("a", OLD));
    states.onFlush(now);
    states.onMarker(null, now);
    assertQuarantined(now, now + GUARD);
  }

  @Test
  void secondFlush_whileTheFirstIsLookedInto_isNotForgottenByTheFirstAnswer() {
    connect(probe("a", OLD));
    states.onFlush(now);
    pass(seconds(1));
    states.onFlush(now);
    long second = now;
    states.onMarker(marker(50), now); // gone, set anew by our own look
    assertThat(states.status().state()).isEqualTo(State.QUARANTINED);
    states.onMarker(marker(50), now); // the second look finds what the first has set
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
  void lookThatIsAnsweredAfterALoss_isIgnored() {
    connect(probe("a", OLD));
    states.onFlush(now);
    states.onLost("broke", now);
    states.onMarker(marker(1), now);
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
  void otherMaxLeaseTime_isRefusedWithBothValues_untilTheyAgree() {
    connect(
        new Probe(identity("a", OLD, "master"), new Probe.Marker(5_000, 1_000_000, 100_000_000)));
    assertThat(states.refused()).isTrue();
    assertThat(states.status().cause()).contains("5000 ms").contains("30000 ms");
    states.onProbed(probe("a", OLD), now);
    assertVoting();
  }

  @Test
  void guardOff_neverHolds_butAFlushStillVoidsAnswers() {
    states = machine(RestartGuard.OFF);
    long number = connect(probe("a", 0)).connection();
    assertVoting();
    states.onFlush(now);
    assertVoting();
    assertThat(states.status().connection()).isGreaterThan(number);
    states.onMarker(marker(99), now);
    states.onLost("broke", now);
    connect(new Probe(identity("b", 0, "master"), marker(99)));
    assertVoting();
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

  @Test
  void silence_unansweredForFiveSeconds_endsTheConnection() {
    assertThat(ConnectionStates.judge(seconds(2), false)).isEqualTo(Silence.BEAR);
    assertThat(ConnectionStates.judge(seconds(2) + 1, false)).isEqualTo(Silence.ASK);
    assertThat(ConnectionStates.judge(seconds(60), false)).isEqualTo(Silence.ASK);
    assertThat(ConnectionStates.judge(seconds(5), true)).isEqualTo(Silence.BEAR);
    assertThat(ConnectionStates.judge(seconds(5) + 1, true)).isEqualTo(Silence.GIVE_UP);
  }
}
