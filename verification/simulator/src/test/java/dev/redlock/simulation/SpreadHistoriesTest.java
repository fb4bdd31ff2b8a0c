package dev.redlock.simulation;

import static dev.redlock.simulation.Play.options;
import static dev.redlock.simulation.Play.require;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * A cluster whose shards fail over to replicas that lack the last writes. Most histories are
 * without the quarantine of promoted replicas: with one shard per name, the checker finds two
 * holders; with three shards that all store the lease, one failover at a time grants nothing twice.
 * The quarantine is the restart guard of the simulated nodes.
 */
class SpreadHistoriesTest {
  private static final int ROUNDS = 150;
  private static final int STEPS = 60;

  private static Play shards(int nodes, int clients) {
    return shards(nodes, clients, Duration.ofSeconds(1));
  }

  private static Play shards(int nodes, int clients, Duration leaseTime) {
    return shards(nodes, clients, leaseTime, RestartGuard.OFF);
  }

  private static Play shards(int nodes, int clients, Duration leaseTime, RestartGuard guard) {
    var options = options().leaseTime(leaseTime).autoExtend(true);
    Play p = Play.ofShards(nodes, clients, options, guard).start();
    for (int n = 1; n <= nodes; n++) {
      p.node(n).takeCheckpoint();
    }
    return p;
  }

  /** The replica is promoted with what it had at its checkpoint. */
  private static void failOver(Play p, int node, long downMillis) {
    p.node(node).crash(SimNode.Kept.ALL_BUT_THE_LAST_WRITES, downMillis * Scenario.MS);
  }

  @Test
  void oneShard_losesTheLease_andGrantsTwice() {
    Play p = shards(1, 2);
    Play.Person a = p.asks(0, 100);
    a.mustHold("the only shard granted");
    p.link(a, 1).blocked = true; // A is slower than B to reach the promoted replica.
    failOver(p, 1, 20);
    p.run(100);
    assertThatThrownBy(
            () -> {
              p.person(1).wants(500);
              p.run(500);
            })
        .isInstanceOf(Violation.class)
        .hasMessageContaining("exclusion");
  }

  @Test
  void threeShards_oneLosesTheLease_andGrantsOnce() {
    Play p = shards(3, 2);
    Play.Person a = p.asks(0, 100);
    a.mustHold("three shards granted");
    long token = a.lease.token();
    p.link(a, 1).blocked = true;
    failOver(p, 1, 20);
    p.run(100);
    Play.Person b = p.person(1).wants(400);
    p.run(450);
    b.mustNotHold("two shards remember A");
    p.link(a, 1).mend();
    p.run(600);
    require(a.lease.id().equals(p.owner(1)), "A has repaired the shard that forgot");
    a.mustHold("one shard does not matter").releases();
    p.run(50);
    b.wants(400);
    p.run(50);
    b.mustHold("A has released");
    require(b.lease.token() > token, "two shards remember the token");
  }

  @Test
  void threeShards_failOverOneAfterTheOther_leaseSurvivesAll() {
    Play p = shards(3, 2);
    Play.Person a = p.asks(0, 100);
    a.mustHold("three shards granted");
    for (int n = 1; n <= 3; n++) {
      failOver(p, n, 20);
      for (int i = 0; i < 3; i++) {
        Play.Person b = p.person(1).wants(150);
        p.run(200);
        b.mustNotHold("A holds the lock");
      }
      a.mustHold("it was repaired before the next failover");
    }
  }

  @Test
  void masterCutOffWithItsClient_grantsNothing() {
    Play p = shards(3, 2);
    Play.Person a = p.person(0);
    p.link(a, 2).cut();
    p.link(a, 3).cut();
    p.run(1);
    a.wants(300);
    p.run(350);
    a.mustNotHold("one shard is no quorum");
    Play.Person b = p.person(1);
    p.link(b, 1).cut();
    p.run(1);
    b.wants(300);
    p.run(350);
    b.mustHold("the other side has two");
  }

  @Test
  void twoShards_loseTheLeaseTogether_andGrantTwice_unlessTheyAreQuarantined() {
    grantsTwiceUnlessQuarantined(SpreadHistoriesTest::twoShardsLoseTheLease);
  }

  @Test
  void oneOfTheTwoShardsThatStoreTheLease_losesIt_andGrantsTwice_unlessItIsQuarantined() {
    grantsTwiceUnlessQuarantined(SpreadHistoriesTest::oneOfTwoShardsLosesTheLease);
  }

  private static void grantsTwiceUnlessQuarantined(Function<RestartGuard, Play> history) {
    Play atOnce = history.apply(RestartGuard.OFF);
    atOnce.person(1).tries();
    assertThatThrownBy(() -> atOnce.run(500))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("exclusion");
    Play quarantined = history.apply(RestartGuard.UPTIME);
    Play.Person b = quarantined.person(1);
    b.tries();
    quarantined.run(500);
    b.mustNotHold("the promoted replicas grant nothing");
  }

  private static Play twoShardsLoseTheLease(RestartGuard guard) {
    Play p = shards(3, 2, Duration.ofSeconds(5), guard);
    Play.Person a = p.asks(0, 100);
    a.mustHold("three shards granted");
    p.link(a, 1).blocked = true;
    p.link(a, 2).blocked = true;
    failOver(p, 1, 20);
    failOver(p, 2, 20);
    p.run(1_000); // B has connected to both.
    return p;
  }

  /** The client cannot reach the third shard. */
  private static Play oneOfTwoShardsLosesTheLease(RestartGuard guard) {
    Play p = shards(3, 2, Duration.ofSeconds(5), guard);
    Play.Person a = p.person(0);
    p.link(a, 3).cut();
    p.run(1);
    a.wants(100);
    p.run(5);
    a.mustHold("two shards granted");
    p.link(a, 1).blocked = true;
    failOver(p, 1, 20);
    p.run(1_000); // B has connected to it.
    return p;
  }

  /**
   * Clients that compete at random, and failovers, one shard at a time. The control has one shard.
   */
  @Test
  void randomFailovers_grantTwiceWithOneShard_andOnceWithThreeOrFive() {
    assertThat(violations(1)).as("the control").isPositive();
    assertThat(violations(3)).isZero();
    assertThat(violations(5)).isZero();
  }

  private static int violations(int nodes) {
    int violations = 0;
    for (int seed = 1; seed <= ROUNDS; seed++) {
      try {
        play(nodes, new Rng(seed));
      } catch (Violation e) {
        violations++;
      }
    }
    return violations;
  }

  private static void play(int nodes, Rng rng) {
    Play p = shards(nodes, 3);
    Play.Person[] people = {p.person(0), p.person(1), p.person(2)};
    boolean[] asked = new boolean[people.length];
    for (int step = 0; step < STEPS; step++) {
      int who = (int) rng.between(0, people.length - 1);
      Play.Person one = people[who];
      if (one.holds()) {
        one.releases();
        people[who] = p.person(who);
        asked[who] = false;
      } else if (!asked[who]) {
        one.wants(60_000);
        asked[who] = true;
      }
      p.run(rng.between(1, 40));
      if (rng.chance(0.3)) {
        // The replica lacks the writes since then. A client may learn of the promotion late.
        int shard = (int) rng.between(1, nodes);
        p.node(shard).takeCheckpoint();
        p.run(rng.between(1, 60));
        SimLink late = p.link(people[(int) rng.between(0, people.length - 1)], shard);
        late.blocked = true;
        failOver(p, shard, rng.between(1, 20));
        p.run(rng.between(20, 80));
        late.mend();
        p.run(200); // The leases are repaired before the next shard fails over.
      }
    }
  }
}
