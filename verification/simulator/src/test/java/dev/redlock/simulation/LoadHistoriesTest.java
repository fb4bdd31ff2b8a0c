package dev.redlock.simulation;

import static dev.redlock.simulation.Play.require;

import dev.redlock.LockOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Many leases of one process on slow nodes: none is lost where capacity suffices. */
class LoadHistoriesTest {
  private static final long SECOND = Scenario.SECOND;

  /** 150 leases of 12 s. A node works for so long on each request. */
  private static LeaseLoad load(long workMillis) {
    LockOptions options = LockOptions.builder().leaseTime(Duration.ofSeconds(12)).build();
    return new LeaseLoad(1, 3, options, 150, workMillis * Scenario.MS);
  }

  @Test
  void leases_afterAPauseOfTheProcess_areExtendedInTime() {
    LeaseLoad load = load(4).start(0).runs(3 * SECOND).pauses(6 * SECOND);
    require(load.lost() == 0, load.lost() + " lost");
    load.ends();
  }

  @Test
  void leases_afterAHangOfAllNodes_areExtendedInTime() {
    LeaseLoad load = load(8).start(0).runs(3 * SECOND).hangs(6 * SECOND);
    require(load.lost() == 0, load.lost() + " lost");
    load.ends();
  }

  /** To extend all takes 3.8 s. The first expire 2 s after the pause, the last 6 s after it. */
  @Test
  void leases_thatExpireFirst_areExtendedFirst() {
    LeaseLoad load = load(25).start(4 * SECOND).pauses(6 * SECOND);
    require(load.lost() == 0, load.lost() + " lost");
    load.ends();
  }

  /** The nodes can serve 94 of them in the 1.9 s that are left. */
  @Test
  void leases_tooManyForTheTimeThatIsLeft_areNotAllLost() {
    LeaseLoad load = load(20).start(0).runs(3 * SECOND).pauses(7 * SECOND);
    require(load.lost() < 90, load.lost() + " lost");
    load.ends();
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
