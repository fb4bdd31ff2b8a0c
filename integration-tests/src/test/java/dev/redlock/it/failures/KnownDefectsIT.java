package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.AcquireReport;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.RedlockInterruptedException;
import dev.redlock.it.Clients;
import dev.redlock.it.Eventually;
import dev.redlock.it.OneClient;
import dev.redlock.testkit.RedisKey;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Defects that were reported for other libraries, and known hazards (H…), that this library does
 * not have, each with the tests that show it:
 *
 * <ul>
 *   <li>H1 pause after the validity check (curator#727, #1121, redisson#4698, etcd#11457, #10811,
 *       #9921): {@code PausedHolderIT}; {@code bin/failures} N3, N4, N11
 *   <li>H2 pause during acquire (etcd#11456, node-redlock, Redisson): {@code
 *       SlowAnswersIT.acquire_processStopped…}; {@code KnownDefectsIT.acquire_repliesLate…}
 *   <li>H3 a node's clock steps forward (redis#416, valkey#2651): {@code
 *       KnownDefectsIT.expiry_earlyOnOneNode…}; {@code bin/failures} N6
 *   <li>H4 a node's clock steps back: {@code LostKeysIT.clockSetBack_…}
 *   <li>H5 a node restarts empty: {@code ReportIT.refusal_freshMasters…}; {@code RollingRestartIT};
 *       {@code MixedRunIT}
 *   <li>H6 eviction: {@code LostKeysIT.eviction_…}; {@code NodesIT.doctor_eviction…}
 *   <li>H7 a flush, a foreign {@code DEL}, foreign data (redlock#6, redsync#124): {@code
 *       LostKeysIT.flush_…}; {@code KnownDefectsIT.flush_…}; {@code OwnKeyIT}; {@code
 *       AcquireContract}
 *   <li>H8 ghost grant: the read times out after the write (redlock-rb#76, #78): {@code
 *       LostReplyIT}
 *   <li>H9 a release overtakes its acquire: {@code
 *       ExtendReleaseContract.release_beforeItsAcquire_…}; {@code ConnectionContract}
 *   <li>H10 an extension revives an expired or foreign lock (RedLock.net#48, redlock-rb#36,
 *       redsync#144): {@code KnownDefectsIT.extend_afterExpiry…}; {@code
 *       ExtendReleaseContract.extend_gone_…}
 *   <li>H11 the renewal stops silently (RedLock.net#93, redisson#5698, #2515, #3194, #775, #3712):
 *       {@code KnownDefectsIT.validity_noNodeAnswers…}, {@code extension_allConnectionsReset…}
 *   <li>H12 unlock or extension touches another client's lock (Redisson, ShedLock PR#2584, PR#2593,
 *       #74): {@code KnownDefectsIT.release_late_…}; {@code
 *       ExtendReleaseContract.extend_anothers_…}
 *   <li>H13 the client writes only to a majority (redsync#186): {@code
 *       KnownDefectsIT.acquire_decidedByAMajority_…}
 *   <li>H14 the quorum counts live nodes only, or nodes that are dead at the start fail (redlock-py
 *       PR#6, redlock-rb#60, #129): {@code KnownDefectsIT.quorum_threeOfFiveNeverSeen_…}; {@code
 *       QuorumIT.start_twoOfFiveDown_…}
 *   <li>H15 an even split is never decided (node-redlock): {@code
 *       KnownDefectsIT.acquire_evenNumberOfNodesSplit_…}
 *   <li>H16 leftovers block the own retry (node-redlock PR#369): {@code
 *       KnownDefectsIT.acquire_firstAttemptGotAMinority_…}
 *   <li>H18 the deadline counts from the wrong instant (redlock4j): {@code
 *       SlowAnswersIT.validity_…}
 *   <li>H19, H21 fail-over, resharding: {@code FailoverIT}, {@code HalfMovedSlotIT}, {@code
 *       ReshardIT}; docs/cluster.md says what can be lost
 *   <li>H20 the old primary still serves a minority: {@code MinorityMasterIT}. For a moment both
 *       masters can grant; no test covers it.
 *   <li>H22 forgotten scripts: {@code KnownDefectsIT.scripts_…}; {@code ConnectionContract}
 *   <li>H23 hung node (redisson#1636, #1175, #1292, redsync#140): {@code HungNodesIT}; {@code
 *       QuorumIT.acquire_threeOfFivePaused_…}
 *   <li>H24 split votes (redisson PR#1888, #631, #4050): {@code WaitingIT.collision_…}
 *   <li>H25 a minority misses the release (curator#1193): {@code
 *       KnownDefectsIT.release_missedByAMinority_…}, {@code release_noNodeReachable_…}
 *   <li>H26 hints that are lost, doubled or forged: {@code HintsIT}
 *   <li>renewal for ever after unlock (redisson#7272); two threads stop it
 *       (spring-integration#10513): {@code KnownDefectsIT.release_whileAnExtension…}
 *   <li>the renewal map loses entries (redisson#6844, #6651, #6878): {@code
 *       KnownDefectsIT.extension_ofTwoHundred…}
 *   <li>the thread is interrupted after the grant (redisson#2714, #4368, #5358, #4109): {@code
 *       KnownDefectsIT.acquire_interrupted…}; {@code LeaseIT}
 *   <li>unlimited extension (RedLock.net#68): {@code KnownDefectsIT.extension_ofAHolder…}
 *   <li>a restarted node is never refilled (redsync PR#149): {@code
 *       KnownDefectsIT.extension_nodesRestarted…}
 *   <li>the local lock is never freed after expiry (spring-integration#1888, #2660): {@code
 *       KnownDefectsIT.expiry_inTheSameProcess_…}
 *   <li>the error of the release hides that of the protected code (node-redlock PR#369): {@code
 *       WithLockTest.bodyFails_…}
 *   <li>nodes of one cluster are used as masters (redisson#956, RedLock.net#91, #56): {@code
 *       NodesIT.partsOfOneCluster_…}
 *   <li>fence keys never expire (redisson#6510): {@code KnownDefectsIT.fence_…}; C8
 *   <li>a child process outlives the lost lock (consul#9788): {@code PausedHolderIT}; C7
 * </ul>
 */
@RedisTest(nodes = 5, gated = true)
@Tag("thorough")
class KnownDefectsIT extends OneClient {
  private static final Duration WAIT = Duration.ofSeconds(5);

  /** Longer than a pause of the machine and the node timeout together. */
  private static final Duration SHORT = Duration.ofSeconds(2);

  KnownDefectsIT(RedisNodes nodes) {
    super(nodes, Clients::patient);
  }

  private static LockOptions brief() {
    return Clients.options().leaseTime(SHORT).build();
  }

  private static LockOptions once() {
    return Clients.options().leaseTime(SHORT).autoExtend(false).build();
  }

  private boolean isFree(String name) {
    return nodes.stream().noneMatch(node -> Clients.holdsKey(node, name));
  }

  private long copies(String name) {
    return nodes.stream().filter(node -> Clients.holdsKey(node, name)).count();
  }

  private void occupy(int node, String name, long millis) {
    nodes.get(node).command("SET", Clients.lockKey(name), "other", "PX", Long.toString(millis));
  }

  /** Expires a key. The holder may repair it after the invalidation, before this returns. */
  private void expire(int node, String name) {
    nodes.get(node).command("PEXPIRE", Clients.lockKey(name), "1");
  }

  /** Redisson#7272: cancel of the watchdog races its scheduling; renewed for ever after unlock. */
  @Test
  void release_whileAnExtensionIsOnItsWay_nothingIsExtendedOrPutBackAfterwards() {
    for (int i = 0; i < 100; i++) {
      String name = "renewed-" + i % 4;
      Lease lease = redlock.lock(name, brief()).acquire(WAIT);
      CompletableFuture<Void> extension = lease.extendAsync().toCompletableFuture();
      lease.releaseAsync().toCompletableFuture().join();
      assertThat(lease.isValid()).isFalse();
      Eventually.holds(extension::isDone, nodes);
    }
    Eventually.holds(() -> Clients.owesNothing(redlock), nodes);
    assertThat(nodes.stream()).allMatch(KnownDefectsIT::noLockKeys);
    long before = pexpires();
    long end = System.nanoTime() + SHORT.toNanos();
    Eventually.holds(() -> System.nanoTime() - end > 0, nodes);
    assertThat(pexpires()).as("PEXPIREs after all was released").isEqualTo(before);
    assertThat(nodes.stream()).allMatch(KnownDefectsIT::noLockKeys);
  }

  private long pexpires() {
    long calls = 0;
    for (RedisNode node : nodes) {
      String stats = String.valueOf(node.command("INFO", "commandstats"));
      for (String line : stats.lines().toList()) {
        if (line.startsWith("cmdstat_pexpire:calls=")) {
          calls += Long.parseLong(line.replaceAll("^[^=]*=(\\d+).*$", "$1"));
        }
      }
    }
    return calls;
  }

  /**
   * Redisson#6844, #6651, #6878: the client stops renewing some of many leases, without a report.
   */
  @Test
  void extension_ofTwoHundredLeasesAtOnce_forgetsNone() {
    List<Lease> leases = new ArrayList<>();
    LockOptions options = Clients.options().leaseTime(Duration.ofSeconds(3)).build();
    for (int i = 0; i < 200; i++) {
      leases.add(redlock.lock("crowd-" + i, options).acquire(WAIT));
    }
    long end = System.nanoTime() + Duration.ofSeconds(7).toNanos();
    Eventually.holds(() -> System.nanoTime() - end > 0, Duration.ofSeconds(15), nodes);
    assertThat(leases.stream().filter(lease -> !lease.isValid()).toList()).isEmpty();
    leases.forEach(Lease::close);
    Eventually.holds(() -> nodes.stream().allMatch(n -> noLockKeys(n)), nodes);
  }

  private static boolean noLockKeys(RedisNode node) {
    return node.keys().stream().map(RedisKey::name).noneMatch(k -> k.endsWith("}"));
  }

  /**
   * Redisson#2714, #4368, #5358, #4109: interrupted after the grant of the server; the lock stays
   * taken without a holder.
   */
  @Test
  void acquire_interruptedAtAnyMoment_leavesNoLockWithoutHolder() throws Exception {
    for (int i = 0; i < 60; i++) {
      int delayMicros = i * 50;
      Thread[] victim = new Thread[1];
      CompletableFuture<Boolean> got = new CompletableFuture<>();
      victim[0] =
          new Thread(
              () -> {
                try (Lease lease = redlock.lock("interrupted", brief()).acquire(WAIT)) {
                  got.complete(lease.isValid());
                } catch (RedlockInterruptedException e) {
                  got.complete(false);
                } catch (RuntimeException e) {
                  got.completeExceptionally(e);
                }
              });
      long start = System.nanoTime();
      victim[0].start();
      while (System.nanoTime() - start < delayMicros * 1000L) {
        Thread.onSpinWait();
      }
      victim[0].interrupt();
      got.get(10, TimeUnit.SECONDS);
      victim[0].join(10_000);
    }
    Eventually.holds(() -> isFree("interrupted"), nodes);
    redlock.lock("interrupted").acquire(WAIT).close();
  }

  /** Redisson#2515, #3194, #775, #3712: renewal dies with a connection. */
  @Test
  void extension_allConnectionsResetAgainAndAgain_continues() {
    LockOptions options = Clients.options().leaseTime(Duration.ofSeconds(3)).build();
    try (Lease lease = redlock.lock("resets", options).acquire(WAIT)) {
      for (int i = 0; i < 5; i++) {
        nodes.forEach(node -> node.gate().resetConnections());
        long end = System.nanoTime() + 1_000_000_000L;
        Eventually.holds(() -> System.nanoTime() - end > 0, nodes);
        assertThat(lease.isValid()).as("after reset " + i).isTrue();
      }
    }
  }

  /** H13, Redisson RedLock, redsync failFast, redsync#186: only a majority is written. */
  @Test
  void acquire_decidedByAMajority_isStoredOnAllNodesSoThatTwoMayForget() {
    try (Lease lease = redlock.lock("copies").acquire(WAIT)) {
      Eventually.holds(() -> copies("copies") == 5, nodes);
      try (Redlock other = Clients.patient(nodes)) {
        expire(1, "copies");
        expire(4, "copies");
        assertThat(other.lock("copies").tryAcquire()).isEmpty();
        assertThat(lease.isValid()).isTrue();
      }
    }
  }

  /** H15, node-redlock: an even split of an even number of nodes waits for ever. */
  @Test
  void acquire_evenNumberOfNodesSplit_isDecided() {
    // Servers of their own: the others have a record of a set of five.
    try (RedisNodes four = RedisNodes.start(4);
        Redlock even = Clients.voting(Clients.on(four).nodeTimeout(Clients.PATIENCE).build(), 4)) {
      String key = Clients.lockKey("even");
      four.get(0).command("SET", key, "other", "PX", "3000");
      four.get(1).command("SET", key, "other", "PX", "3000");
      long start = System.nanoTime();
      assertThat(even.lock("even").tryAcquire()).isEmpty();
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(2));
      four.get(0).command("DEL", key);
      even.lock("even").acquire(WAIT).close();
      nodes.get(1).command("DEL", Clients.lockKey("even"));
    }
  }

  /** H16, node-redlock PR#369: leftovers of the first attempt block the second. */
  @Test
  void acquire_firstAttemptGotAMinority_doesNotBlockItself() {
    for (int i = 0; i < 3; i++) {
      occupy(i, "leftover", 400);
    }
    // Two nodes grant, three refuse; when the three are free, the two must be free as well.
    try (Lease lease = redlock.lock("leftover").acquire(WAIT)) {
      assertThat(lease.isValid()).isTrue();
    }
    for (int i = 0; i < 3; i++) {
      occupy(i, "leftover-2", 30_000);
    }
    assertThat(redlock.lock("leftover-2").tryAcquire()).isEmpty();
    Eventually.holds(
        () -> !Clients.holdsKey(nodes.get(3), "leftover-2"), Duration.ofSeconds(2), nodes);
    for (int i = 0; i < 3; i++) {
      nodes.get(i).command("DEL", Clients.lockKey("leftover-2"));
    }
  }

  /** node-redlock#168, #262, #282: "unable to achieve a quorum", whatever the cause. */
  @Test
  void refusal_severalCauses_eachNodeHasItsOwn() {
    nodes.get(0).command("HSET", Clients.lockKey("causes"), "a", "b");
    nodes.get(0).command("PEXPIRE", Clients.lockKey("causes"), "60000");
    nodes.get(2).kill();
    nodes.get(3).pause();
    assertThatThrownBy(() -> redlock.lock("causes").tryAcquire())
        .isInstanceOfSatisfying(
            QuorumUnavailableException.class,
            e -> {
              List<AcquireReport.NodeVote> votes = e.report().votes();
              assertThat(votes.get(0).error()).contains(Clients.lockKey("causes"));
              assertThat(votes.get(2).error()).contains("DISCONNECTED");
              assertThat(votes.get(3).error()).contains("TIMEOUT");
            });
    nodes.get(3).resume();
    nodes.get(0).command("DEL", Clients.lockKey("causes"));
  }

  /** H10, RedLock.net#48, redlock-rb#36, redsync#144: an extension revives an expired lease. */
  @Test
  void extend_afterExpiryAndAnotherHolder_failsClearly_andTouchesNothing() throws Exception {
    Lease mine = redlock.lock("revived", once()).acquire(WAIT);
    assertThat(mine.whenEnded().toCompletableFuture().get(5, TimeUnit.SECONDS))
        .isEqualTo(LeaseEnd.EXPIRED);
    assertThatThrownBy(() -> mine.extendAsync().toCompletableFuture().join())
        .hasCauseInstanceOf(LeaseLostException.class);
    try (Redlock other = Clients.patient(nodes);
        Lease theirs = other.lock("revived").acquire(WAIT)) {
      assertThatThrownBy(() -> mine.extendAsync().toCompletableFuture().join())
          .hasCauseInstanceOf(LeaseLostException.class);
      mine.releaseAsync().toCompletableFuture().join();
      mine.close();
      assertThat(theirs.isValid()).isTrue();
      theirs.extendAsync().toCompletableFuture().join();
      Eventually.holds(() -> copies("revived") == 5, nodes); // The call completes at a quorum.
    }
  }

  /**
   * H11, RedLock.net#93, Redisson#5698: the renewal fails without a report, and the flag "held"
   * stays true.
   */
  @Test
  void validity_noNodeAnswersAnyMore_endsByItselfAndSaysSo() throws Exception {
    Lease lease = redlock.lock("silent", brief()).acquire(WAIT);
    nodes.forEach(node -> node.gate().blackHole());
    assertThat(lease.whenEnded().toCompletableFuture().get(10, TimeUnit.SECONDS))
        .isEqualTo(LeaseEnd.EXPIRED);
    assertThat(lease.isValid()).isFalse();
    nodes.forEach(node -> node.gate().endFaults());
    Eventually.holds(() -> isFree("silent"), nodes);
  }

  /** RedLock.net#68: unlimited extension; a hung worker holds for ever. */
  @Test
  void extension_ofAHolderThatNeverReleases_endsAtTheCap() throws Exception {
    LockOptions capped =
        Clients.options().leaseTime(Duration.ofSeconds(3)).holdCap(Duration.ofSeconds(4)).build();
    Lease forgotten = redlock.lock("hung", capped).acquire(WAIT);
    try (Redlock other = Clients.patient(nodes);
        Lease theirs = other.lock("hung").acquire(Duration.ofSeconds(15))) {
      assertThat(forgotten.isValid()).isFalse();
      assertThat(forgotten.whenEnded().toCompletableFuture().get(5, TimeUnit.SECONDS))
          .isEqualTo(LeaseEnd.CAP_REACHED);
      assertThat(theirs.fencingToken().value()).isGreaterThan(forgotten.fencingToken().value());
    }
  }

  /**
   * redsync PR#149: a restarted node never gets the lock again, so a long lock loses one node after
   * another.
   */
  @Test
  void extension_nodesRestartedEmptyWhileHeld_areRefilled() {
    LockOptions options = Clients.options().leaseTime(Duration.ofSeconds(3)).build();
    try (Lease lease = redlock.lock("refilled", options).acquire(WAIT)) {
      for (RedisNode node : nodes) {
        node.restart();
        Eventually.holds(() -> Clients.holdsKey(node, "refilled"), Duration.ofSeconds(10), nodes);
      }
      assertThat(lease.isValid()).isTrue();
      assertThat(copies("refilled")).isEqualTo(5);
    }
  }

  /** H25, redsync, madelson: a release that a minority missed is reported, and forgotten. */
  @Test
  void release_missedByAMinority_isMadeUpForWhenTheyCanBeReachedAgain() {
    LockOptions options = Clients.options().leaseTime(Duration.ofSeconds(25)).build();
    Lease lease = redlock.lock("missed", options).acquire(WAIT);
    Eventually.holds(() -> copies("missed") == 5, nodes);
    nodes.get(0).gate().cut();
    nodes.get(1).gate().blackHole();
    lease.releaseAsync().toCompletableFuture().join();
    assertThat(Clients.holdsKey(nodes.get(0), "missed")).isTrue();
    nodes.get(0).gate().endFaults();
    nodes.get(1).gate().endFaults();
    Eventually.holds(() -> isFree("missed"), Duration.ofSeconds(10), nodes);
  }

  /** ShedLock PR#2584: unlock removes the lock of the next holder. */
  @Test
  void release_late_leavesTheNextHoldersLeaseAlone() throws Exception {
    Lease mine = redlock.lock("late", once()).acquire(WAIT);
    mine.whenEnded().toCompletableFuture().get(5, TimeUnit.SECONDS);
    try (Redlock other = Clients.patient(nodes);
        Lease theirs = other.lock("late").acquire(WAIT)) {
      Eventually.holds(() -> copies("late") == 5, nodes);
      mine.close();
      mine.releaseAsync().toCompletableFuture().join();
      theirs.extendAsync().toCompletableFuture().join();
      assertThat(copies("late")).isEqualTo(5);
    }
  }

  /** spring-integration#1888, #2660: the local lock is never freed once Redis let it expire. */
  @Test
  void expiry_inTheSameProcess_freesTheLocalQueueToo() {
    Lease expiring = redlock.lock("local", once()).acquire(WAIT);
    try (Lease next = redlock.lock("local").acquire(WAIT)) {
      assertThat(expiring.isValid()).isFalse();
      assertThat(next.isValid()).isTrue();
    }
  }

  /** Until a client has read the marker after a flush, the node does not vote. */
  private static Optional<Lease> tryOnce(Redlock client, LockOptions options) {
    try {
      return client.lock("flushed", options).tryAcquire();
    } catch (QuorumUnavailableException e) {
      return Optional.empty();
    }
  }

  /**
   * H7: FLUSHALL while the lock is held; the flag "held" stays true, or there is a second holder.
   */
  @Test
  void flush_ofAllMastersUnderAHolder_isRepaired_orTheHolderIsTold() {
    LockOptions options =
        LockOptions.builder()
            .leaseTime(Duration.ofSeconds(6))
            .nodeTimeout(Duration.ofSeconds(1))
            .build();
    try (Lease lease = redlock.lock("flushed", options).acquire(WAIT);
        Redlock other = Clients.patient(nodes)) {
      for (int i = 0; i < 20; i++) {
        nodes.forEach(RedisNode::flush);
        Optional<Lease> theirs = tryOnce(other, options);
        // With the guard off, another client may be granted the lock after a full flush. Then the
        // holder must learn of it by its next extension, not by the end of its validity.
        if (theirs.isPresent()) {
          CompletableFuture<LeaseEnd> end = lease.whenEnded().toCompletableFuture();
          Eventually.holds(end::isDone, nodes);
          assertThat(end).isCompletedWithValue(LeaseEnd.LOST);
          theirs.get().close();
          return;
        }
      }
      assertThat(lease.isValid()).isTrue();
    }
  }

  /** Redisson#6510: counters of tokens never expire; 25 of 75 million keys. */
  @Test
  void fence_afterTheRelease_livesForMinutesAndNotForEver() {
    redlock.lock("fences").acquire(WAIT).close();
    Eventually.holds(() -> Clients.owesNothing(redlock), nodes);
    assertThat(isFree("fences")).isTrue();
    for (RedisNode node : nodes) {
      assertThat(node.key(Clients.lockKey("fences") + ":fence").flatMap(RedisKey::ttl))
          .hasValueSatisfying(
              ttl -> assertThat(ttl).isBetween(Duration.ofSeconds(30), Duration.ofMinutes(5)));
    }
  }

  /** H22: SCRIPT FLUSH between any two calls. */
  @Test
  void scripts_flushedAllTheTime_costTimeOnly() {
    int granted = 0;
    for (int i = 0; i < 50; i++) {
      nodes.forEach(node -> node.command("SCRIPT", "FLUSH"));
      // A pause after such a failure is half a node timeout: the default one.
      try (Lease lease = redlock.lock("scripts", LockOptions.builder().build()).acquire(WAIT)) {
        granted += lease.isValid() ? 1 : 0;
      }
    }
    assertThat(granted).isEqualTo(50);
  }

  /** H3, Kleppmann's first example: one master's clock jumps, its key expires early. */
  @Test
  void expiry_earlyOnOneNodeAfterTheOther_neverAdmitsASecondHolder() {
    LockOptions options = Clients.options().leaseTime(Duration.ofSeconds(2)).build();
    try (Lease lease = redlock.lock("early", options).acquire(WAIT);
        Redlock other = Clients.patient(nodes)) {
      for (int round = 0; round < 3; round++) {
        for (RedisNode node : nodes) {
          expire(node.index(), "early");
          assertThat(other.lock("early").tryAcquire()).isEmpty();
          // The holder repairs its keys before the next node forgets.
          Eventually.holds(() -> copies("early") == 5, nodes);
        }
      }
      assertThat(lease.isValid()).isTrue();
    }
  }

  /** H14: nodes that are down at the start are dropped for good (redlock4j), or not counted. */
  @Test
  void quorum_threeOfFiveNeverSeen_isStillThreeOfFive() {
    redlock.close();
    nodes.get(0).gate().dropRequests(); // It keeps its keys: a majority must show the deployment.
    nodes.get(1).kill();
    nodes.get(2).kill();
    redlock = Clients.on(nodes).nodeTimeout(Clients.PATIENCE).build();
    assertThatThrownBy(() -> redlock.lock("base").tryAcquire())
        .isInstanceOfSatisfying(
            QuorumUnavailableException.class, e -> assertThat(e.report().quorum()).isEqualTo(3));
    nodes.get(0).gate().endFaults();
    Eventually.holds(() -> Clients.votes(redlock) == 3, Duration.ofSeconds(30), nodes);
    redlock.lock("base").acquire(WAIT).close();
  }

  /** curator#1193: a failed release leaves local and remote state apart. */
  @Test
  void release_noNodeReachable_endsHereAtOnceAndThereLater() {
    Lease lease = redlock.lock("apart", brief()).acquire(WAIT);
    nodes.forEach(node -> node.gate().dropRequests());
    CompletableFuture<Void> released = lease.releaseAsync().toCompletableFuture();
    assertThat(lease.isValid()).isFalse();
    Eventually.holds(released::isDone, nodes);
    assertThat(released).isCompletedExceptionally();
    nodes.forEach(node -> node.gate().endFaults());
    Eventually.holds(() -> isFree("apart"), nodes);
    redlock.lock("apart").acquire(WAIT).close();
  }

  /** etcd#11456: a lock is returned although its lease expired during the wait. */
  @Test
  void acquire_repliesLateByMoreThanTheLeaseTime_isNotGranted() {
    LockOptions tiny =
        LockOptions.builder()
            .leaseTime(Duration.ofMillis(60))
            .nodeTimeout(Duration.ofMillis(50))
            .autoExtend(false)
            .build();
    nodes.forEach(node -> node.gate().delay(Duration.ofMillis(35), Duration.ofMillis(35)));
    assertThatThrownBy(() -> redlock.lock("slow", tiny).acquire(Duration.ofMillis(400)))
        .isInstanceOfAny(QuorumUnavailableException.class, LockTimeoutException.class);
    nodes.forEach(node -> node.gate().endFaults());
    Eventually.holds(() -> isFree("slow"), nodes);
  }
}
