package dev.redlock.simulation;

import static dev.redlock.simulation.Play.require;

import dev.redlock.LockOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Many leases of one process on slow nodes: none is lost where capacity suffices. */
class LoadHistoriesTest {
  private static final long SECOND = Scenario.SECOND;

  /** See the worksheet: a lease of 12 s, extended each third of it, with its clock drift. */
  private static final long SURVIVES = 7_878 * Scenario.MS;

  /** 150 leases of 12 s. A node works for so long on each request. */
  private static LeaseLoad load(long workMillis) {
    return load(150, workMillis);
  }

  private static LeaseLoad load(int leases, long workMillis) {
    return load(leases, workMillis, 100);
  }

  private static LeaseLoad load(int leases, long workMillis, int nodeTimeoutMillis) {
    LockOptions options =
        LockOptions.builder()
            .leaseTime(Duration.ofSeconds(12))
            .nodeTimeout(Duration.ofMillis(nodeTimeoutMillis))
            .build();
    return new LeaseLoad(1, 3, options, leases, workMillis * Scenario.MS);
  }

  private static void keepsAll(LeaseLoad load) {
    require(load.lost() == 0, load.lost() + " lost");
    load.ends();
  }

  @Test
  void leases_afterAPauseOfTheProcess_orAHangOfAllNodes_areExtendedInTime() {
    keepsAll(load(4).start(0).runs(3 * SECOND).pauses(6 * SECOND));
    keepsAll(load(8).start(0).runs(3 * SECOND).hangs(6 * SECOND));
  }

  /** To extend all takes 3.8 s. The first expire 2 s after the pause, the last 6 s after it. */
  @Test
  void leases_thatExpireFirst_areExtendedFirst() {
    keepsAll(load(25).start(4 * SECOND).pauses(6 * SECOND));
  }

  /** The nodes can serve 94 of them in the 1.9 s that are left. */
  @Test
  void leases_tooManyForTheTimeThatIsLeft_areNotAllLost() {
    LeaseLoad load = load(20).start(0).runs(3 * SECOND).pauses(7 * SECOND);
    require(load.lost() < 90, load.lost() + " lost");
    load.ends();
  }

  /** A lease of 12 s may be extended 300 times by nodes that work for 40 ms on each request. */
  @Test
  void leases_moreThanTheNodesCanExtend_areKeptAsFarAsTheyCan() {
    for (int leases : new int[] {150, 300, 1_200}) {
      LeaseLoad load = load(leases, 40).start(4 * SECOND).runs(48 * SECOND);
      keeps(Math.min(leases, 270), leases, load);
      load.ends();
    }
  }

  /** Nodes that work 20 ms of each 400 ms extend 600 leases in 12 s; a node timeout is 250 ms. */
  @Test
  void leases_onThrottledNodes_areKeptAsFarAsTheyCan() {
    LockOptions options = LockOptions.builder().leaseTime(Duration.ofSeconds(12)).build();
    for (int leases : new int[] {300, 2_400}) {
      LeaseLoad load = new LeaseLoad(1, 3, options, leases, Scenario.MS).start(4 * SECOND);
      load.throttles(20 * Scenario.MS, 400 * Scenario.MS).runs(36 * SECOND);
      keeps(Math.min(leases, 500), leases, load);
    }
  }

  /** The process runs 5 ms of each 100 ms, and is stopped besides. */
  @Test
  void leases_ofAProcessThatIsStarved_areExtendedInTime_alsoAfterAStop() {
    LeaseLoad load = load(150, 4, 250).start(0).starves(5 * Scenario.MS, 100 * Scenario.MS);
    keepsAll(load.runs(36 * SECOND).pauses(6 * SECOND));
  }

  private static void keeps(int least, int leases, LeaseLoad load) {
    int kept = leases - load.lost();
    require(kept >= least, kept + " kept of " + leases);
  }

  /** To extend all takes 3 s. After the shortest stop the first have 0.8 s left, the last 4.8 s. */
  @Test
  void leases_afterAStopAsLongAsTheySurvive_areLostOnlyIfTheyCannotBeSaved() {
    afterAStop(100);
  }

  @Test
  void leases_afterAStop_withALongNodeTimeout_areLostOnlyIfTheyCannotBeSaved() {
    afterAStop(800);
  }

  private static void afterAStop(int nodeTimeout) {
    for (int percent : new int[] {90, 110, 150}) {
      load(150, 20, nodeTimeout)
          .start(4 * SECOND)
          .runs(11 * SECOND)
          .pauses(SURVIVES / 100 * percent)
          .ends();
      // The nodes first execute what was sent to them while they hung.
      load(150, 4, nodeTimeout)
          .start(4 * SECOND)
          .runs(11 * SECOND)
          .hangs(SURVIVES / 100 * percent)
          .ends();
    }
  }

  /** 150 leases are lost, and their releases take 0.6 s. */
  @Test
  void acquire_afterAHangOfAllNodes_doesNotWaitForReleasesOfLostLeases() {
    for (int percent : new int[] {90, 110, 150}) {
      load(150, 4).start(4 * SECOND).runs(11 * SECOND).acquiresAfterAHang(SURVIVES / 100 * percent);
    }
  }

  @Test
  void leases_ofAnyNumberAndSpeed_areExtendedInTime() {
    for (int seed = 1; seed <= 5; seed++) {
      LeaseLoad load = LeaseLoad.random(seed).start(0);
      long ttl = load.world.scenario.ttlNanos;
      Rng rng = new Rng(seed);
      load.runs(rng.between(0, ttl));
      long pause = rng.between(ttl / 8, ttl / 2);
      if (rng.chance(0.5)) {
        load.pauses(pause);
      } else {
        load.hangs(pause);
      }
      load.ends();
    }
  }
}
