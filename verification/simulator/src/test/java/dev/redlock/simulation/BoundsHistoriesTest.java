package dev.redlock.simulation;

import static dev.redlock.simulation.Play.options;
import static dev.redlock.simulation.Play.require;

import dev.redlock.LockOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What a pair of acquire and release costs, and that no caller starves. See {@link Histories}. */
class BoundsHistoriesTest {
  private static final int PROCESSES = 6;
  private static final int GRANTS = 400;

  private static Crowd crowd(int processes, int callers, LockOptions.Builder options) {
    Scenario scenario =
        new Scenario(3, processes, options.build(), Scenario.MS / 10, Scenario.MS / 10);
    return new Crowd(processes, scenario, callers, 3 * Scenario.MS, 20 * Scenario.MS).start();
  }

  @Test
  void crowd_isServedInTurn() {
    crowd(PROCESSES, 2, options().maxHandOffs(2)).serves(GRANTS).ends();
  }

  @Test
  void crowd_inFairMode_isServedInTurn() {
    crowd(PROCESSES, 2, options().fair(true)).serves(GRANTS).ends();
  }

  @Test
  void crowdOfAnyKind_doesNotLeaveTheLockFree() {
    for (int seed = 1; seed <= 40; seed++) {
      Crowd.random(seed).start().serves(60).ends();
    }
  }

  /**
   * The process that is left holds the lock, releases it, and comes back behind 90 places. If each
   * dead process cost a patience, the lock would be free for 9 s. See {@link WaitRule} for the
   * bound.
   */
  @Test
  void crowd_ofWhichMostDieAtOnce_doesNotLeaveTheLockFree() {
    int processes = 91;
    LockOptions.Builder options = options().fair(true).leaseTime(Duration.ofSeconds(30));
    crowd(processes, 1, options).serves(processes).dies(90).runs(12 * Scenario.SECOND).serves(5);
  }

  /** One process waits behind 60 that die. The bound does not count its poll. */
  @Test
  void crowd_ofWhichAllBeforeTheLastDieAtOnce_doesNotLeaveTheLockFree() {
    for (int seed = 1; seed <= 10; seed++) {
      LockOptions options = options().fair(seed % 2 == 0).leaseTime(Duration.ofSeconds(30)).build();
      Scenario scenario = new Scenario(3, 62, options, Scenario.MS / 10, Scenario.MS / 10);
      Crowd crowd = new Crowd(seed, scenario, 1, 20 * Scenario.MS, 5 * Scenario.MS);
      crowd.startUneven().serves(1).diesBeforeTheLast();
      int granted = crowd.granted();
      crowd.runs(4 * Scenario.SECOND);
      require(crowd.granted() == granted, "the last was served before, as of seed " + seed);
    }
  }

  @Test
  void crowd_whileTheHomeNodeIsSick_isServedInTurn() {
    for (SimNode.Illness illness : SimNode.Illness.values()) {
      Crowd crowd = crowd(PROCESSES, 1, options());
      crowd.fails(Play.HOME_OF_A, illness).serves(GRANTS / 4).ends();
    }
  }

  /**
   * Three acquires and three releases. The cost of the queue does not depend on the number of
   * processes that wait.
   */
  @Test
  void pair_ofACrowd_costsTheSameHoweverManyProcessesWait() {
    for (int processes : new int[] {1, 2, 6, 12}) {
      Crowd crowd = crowd(processes, 1, options().leaseTime(Duration.ofSeconds(30)));
      crowd.serves(20);
      long requests = crowd.requests();
      int granted = crowd.granted();
      crowd.serves(GRANTS / 4);
      double each = (double) (crowd.requests() - requests) / (crowd.granted() - granted);
      require(each <= 12, processes + " processes: requests per pair " + each);
    }
  }
}
