package dev.redlock.it.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.it.contract.NodeUnderTest.Feature;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.LockRequest.QueueEntry;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The queue of a name: one process after the other has its turn, and only it is woken. */
abstract class QueueContract extends NodeContract {
  /** A pause of the machine must not let a turn pass. */
  private static final long PATIENCE_MICROS = 30_000_000;

  private LockKeys keys;
  private long token;

  @BeforeEach
  void freshName_() {
    keys = fresh();
    token = client.now();
  }

  private static QueueEntry entry(LockKeys keys, String process, long arrival, long patience) {
    return new QueueEntry(keys.member(process), arrival, patience, 60_000, false);
  }

  private NodeReply enqueue(TestClient by, String process) {
    return by.ask(new LockRequest.Enqueue(keys, entry(keys, process, 0, PATIENCE_MICROS), 0));
  }

  private NodeReply enqueueAfter(String process, long afterToken) {
    QueueEntry entry = entry(keys, process, 0, PATIENCE_MICROS);
    return client.ask(new LockRequest.Enqueue(keys, entry, afterToken));
  }

  private NodeReply enqueueArrived(String process, long arrival) {
    QueueEntry entry = entry(keys, process, arrival, PATIENCE_MICROS);
    return client.ask(new LockRequest.Enqueue(keys, entry, 0));
  }

  /** Acquires with the place in the queue. */
  private NodeReply take(String process) {
    return take(process, 0);
  }

  private NodeReply take(String process, long arrival) {
    return client.ask(
        new LockRequest.Acquire(
            keys,
            "lease of " + process,
            ++token,
            TTL,
            entry(keys, process, arrival, PATIENCE_MICROS)));
  }

  /** Acquires as a client that has no place in the queue. */
  private NodeReply newcomer() {
    return client.acquire(keys, "lease of a newcomer", ++token, TTL);
  }

  private void hold() {
    assertCode(client.acquire(keys, "lease of holder", ++token, TTL), Code.GRANTED);
  }

  private NodeReply free(String process) {
    NodeReply reply = client.release(keys, "lease of " + process, token);
    assertCode(reply, Code.RELEASED);
    return reply;
  }

  private static void awaitKey(TestClient told, String key) {
    await("invalidation of " + key)
        .atMost(Duration.ofSeconds(3))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> told.invalidated.contains(key));
  }

  /**
   * The turns whose invalidation the client has received. A reply on its connection comes after all
   * of them.
   */
  private static List<String> turns(TestClient of) {
    of.inspect(fresh());
    return of.invalidated.stream().filter(k -> k.contains(":wa")).toList();
  }

  @Test
  void freeName_isAdmittedAtOnce_andTheGrantTakesThePlace() {
    NodeReply reply = enqueue(client, "p");
    assertCode(reply, Code.ADMITTED);
    assertThat(reply.othersQueued()).isZero();
    assertThat(server().ttlMillis(keys.queueKey())).isPositive();
    assertCode(take("p"), Code.GRANTED);
    assertThat(server().ttlMillis(keys.queueKey())).isEqualTo(-2);
    assertThat(enqueue(client, "q").othersQueued()).as("ahead of the next").isZero();
  }

  @Test
  void processes_areServedInTheOrderOfArrival_andNewcomersLast() {
    hold();
    NodeReply first = enqueue(client, "first");
    assertCode(first, Code.HELD);
    assertThat(first.othersQueued()).isZero();
    assertThat(first.mark()).isEqualTo(mark("lease of holder"));
    assertThat(first.remainingMillis()).isBetween(1L, TTL);
    NodeReply second = enqueue(client, "second");
    assertCode(second, Code.HELD);
    assertThat(second.othersQueued()).isEqualTo(1);
    assertThat(enqueue(client, "first").othersQueued()).as("keeps its place").isZero();
    assertThat(free("holder").othersQueued()).isEqualTo(1);

    assertCode(take("second"), Code.QUEUED);
    assertCode(newcomer(), Code.QUEUED);
    NodeReply early = enqueue(client, "second");
    assertCode(early, Code.QUEUED);
    assertThat(early.othersQueued()).isEqualTo(1);
    assertFree(keys);
    NodeReply granted = take("first");
    assertCode(granted, Code.GRANTED);
    assertThat(granted.othersQueued()).isEqualTo(1);
    assertThat(free("first").othersQueued()).isEqualTo(1);
    assertCode(newcomer(), Code.QUEUED);
    assertCode(take("second"), Code.GRANTED);
    assertThat(free("second").othersQueued()).as("no process is left").isZero();
    assertCode(newcomer(), Code.GRANTED);
  }

  @Test
  void givenArrival_decidesThePlace_alsoOfOneThatComesLater() {
    hold();
    long now = client.now();
    enqueueArrived("late", now);
    NodeReply early = enqueueArrived("early", now - 1_000_000);
    assertThat(early.othersQueued()).isZero();
    free("holder");

    assertCode(take("late", now), Code.QUEUED);
    assertCode(take("earlier still", now - 2_000_000), Code.GRANTED);
    free("earlier still");
    assertCode(take("early", now - 1_000_000), Code.GRANTED);
  }

  @Test
  void equalArrivals_areOrderedByProcess() {
    hold();
    long now = client.now();
    enqueueArrived("b", now);
    enqueueArrived("a", now);
    free("holder");

    assertCode(take("b", now + 1), Code.QUEUED);
    assertCode(take("a", now), Code.GRANTED);
  }

  @Test
  void release_wakesTheFirstAndWarnsTheSecond_andNoOtherIsNotified() {
    needs(Feature.INVALIDATIONS);
    TestClient first = another();
    TestClient second = another();
    TestClient third = another();
    hold();
    enqueue(first, "first");
    enqueue(second, "second");
    enqueue(third, "third");
    free("holder");

    awaitKey(first, keys.wakeKey("first"));
    awaitKey(second, keys.watchKey("second"));
    assertThat(turns(first)).containsExactly(keys.wakeKey("first"));
    assertThat(turns(second)).containsExactly(keys.watchKey("second"));
    assertThat(turns(third)).isEmpty();
    assertCode(enqueue(first, "first"), Code.ADMITTED);
    assertCode(take("first"), Code.GRANTED);
    // Redis 6.0 reports to a client what a script of this client has written.
    List<String> untilRelease = turns(first);
    free("first");

    awaitKey(second, keys.watchKey("second"));
    assertCode(enqueue(second, "second"), Code.ADMITTED);
    awaitKey(third, keys.watchKey("third"));
    assertThat(turns(third)).containsExactly(keys.watchKey("third"));
    assertThat(turns(first)).isEqualTo(untilRelease);
  }

  @Test
  void releaseWithMinimumHold_warnsTheFirst_andWakesNone() {
    needs(Feature.INVALIDATIONS);
    TestClient first = another();
    TestClient second = another();
    hold();
    enqueue(first, "first");
    enqueue(second, "second");
    client.ask(new LockRequest.Release(keys, "lease of holder", token, true, 5_000, null));

    awaitKey(first, keys.watchKey("first"));
    assertThat(turns(first)).containsExactly(keys.watchKey("first"));
    assertThat(turns(second)).isEmpty();
    NodeReply again = enqueue(first, "first");
    assertCode(again, Code.HELD);
    assertThat(again.remainingMillis()).isBetween(1L, 5_000L);
  }

  @Test
  void expiredHolder_wokeNone_soTheNextThatAsksWakesTheFirst() {
    needs(Feature.INVALIDATIONS);
    TestClient first = another();
    assertCode(client.acquire(keys, "lease of holder", ++token, 200), Code.GRANTED);
    enqueue(first, "first");
    await().atMost(Duration.ofSeconds(5)).until(() -> client.inspect(keys).mark() == null);

    assertThat(turns(first)).isEmpty();
    assertCode(newcomer(), Code.QUEUED);
    awaitKey(first, keys.wakeKey("first"));
    assertCode(enqueue(first, "first"), Code.ADMITTED);
  }

  @Test
  void killedFirst_costsTheOthersThePatience_andLosesItsPlace() {
    long patience = 500_000;
    QueueEntry next = entry(keys, "patient", 0, patience);
    TestClient dying = another();
    hold();
    enqueue(dying, "dying");
    dying.close();
    assertThat(client.ask(new LockRequest.Enqueue(keys, next, 0)).othersQueued()).isEqualTo(1);
    long before = client.now();
    free("holder");

    await()
        .atMost(Duration.ofSeconds(10))
        .until(
            () -> {
              NodeReply reply = client.ask(new LockRequest.Enqueue(keys, next, 0));
              if (reply.code() == Code.QUEUED) {
                return false;
              }
              assertCode(reply, Code.ADMITTED);
              assertThat(reply.nodeMicros()).isGreaterThanOrEqualTo(before + patience);
              return true;
            });
    NodeReply granted = take("patient");
    assertCode(granted, Code.GRANTED);
    assertThat(enqueue(client, "another").othersQueued()).as("places that are left").isZero();
  }

  @Test
  void leaver_isNotWaitedFor() {
    hold();
    enqueue(client, "leaver");
    enqueue(client, "patient");
    free("holder");

    client.ask(new LockRequest.Release(keys, "no lease", 1, false, 0, "leaver"));
    NodeReply admitted = enqueue(client, "patient");
    assertCode(admitted, Code.ADMITTED);
    assertCode(take("patient"), Code.GRANTED);
  }

  @Test
  void afterToken_leaseNotKnownToHaveEnded_countsAsHeld() {
    hold();
    long held = token;
    assertCode(client.rollBack(keys, "lease of holder", held), Code.RELEASED);

    assertCode(enqueueAfter("p", held), Code.HELD);
    assertCode(client.release(keys, "lease of holder", held), Code.NOT_OWNER);
    NodeReply admitted = enqueueAfter("p", held);
    assertCode(admitted, Code.ADMITTED);
    assertThat(admitted.fence()).as("token of the last lease that has ended").isEqualTo(held);
    assertCode(enqueueAfter("p", held + 1), Code.HELD);
  }

  @Test
  void admission_tellsTheLastLeaseThatHasEnded_notTheFenceOfALaterOne() {
    hold();
    long ended = token;
    free("holder");
    assertCode(newcomer(), Code.GRANTED);
    assertCode(client.rollBack(keys, "lease of a newcomer", token), Code.RELEASED);

    NodeReply admitted = enqueue(client, "p");
    assertCode(admitted, Code.ADMITTED);
    assertThat(admitted.fence()).isEqualTo(ended).isLessThan(token);
  }

  @Test
  void refusal_isReportedWithTheReleaseAndTheNextGrant() {
    assertThat(client.acquire(keys, ME, ++token, TTL).othersQueued()).isZero();
    assertThat(client.extend(keys, ME, token, TTL).othersQueued()).isZero();
    assertCode(client.acquire(keys, OTHER, token + 1, TTL), Code.HELD);
    assertThat(client.release(keys, ME, token).othersQueued()).isEqualTo(1);
    assertThat(client.acquire(keys, OTHER, ++token, TTL).othersQueued()).isEqualTo(1);
    assertThat(client.release(keys, OTHER, token).othersQueued()).isZero();
  }

  @Test
  void held_andStale_winOverQueued() {
    hold();
    enqueue(client, "first");
    assertCode(newcomer(), Code.HELD);
    free("holder");
    token -= 10;
    assertCode(newcomer(), Code.STALE);
    assertCode(take("first"), Code.STALE);
    token += 100;
    assertCode(newcomer(), Code.QUEUED);
    assertCode(take("first"), Code.GRANTED);
  }

  @Test
  void severalNames_waitInAQueueOfTheirOwn_andHearOfEachName() {
    needs(Feature.INVALIDATIONS);
    String one = freshName();
    LockKeys both = TestClient.keys(one, one + "{" + one + "}");
    keys = TestClient.keys(one);
    TestClient many = another();
    hold();
    LockRequest.Enqueue request =
        new LockRequest.Enqueue(both, entry(both, "many", 0, PATIENCE_MICROS), 0);
    assertCode(many.ask(request), Code.HELD);
    assertThat(enqueue(client, "single").othersQueued()).isZero();
    free("holder");
    awaitKey(many, keys.lockKey(0));
    assertCode(take("single"), Code.GRANTED);
    assertCode(many.ask(request), Code.HELD);
    free("single");
    awaitKey(many, keys.lockKey(0));
    assertCode(many.ask(request), Code.ADMITTED);

    // Its release wakes the queues of its names.
    LockRequest.Acquire all =
        new LockRequest.Acquire(both, "all", ++token, TTL, entry(both, "many", 0, PATIENCE_MICROS));
    assertCode(many.ask(all), Code.GRANTED);
    TestClient next = another();
    assertCode(enqueue(next, "next"), Code.HELD);
    assertCode(many.release(both, "all", token), Code.RELEASED);
    awaitKey(next, keys.wakeKey("next"));
    assertCode(enqueue(next, "next"), Code.ADMITTED);
  }

  @Test
  void foreignDataUnderTheKeysOfTheQueue_breaksNoVote() {
    needs(Feature.FOREIGN_TYPES);
    server().putList(keys.queueKey());
    hold();
    assertCode(newcomer(), Code.HELD);
    NodeReply refused = enqueue(client, "p");
    assertThat(refused.code()).isEqualTo(Code.FAILED);
    assertThat(refused.error().kind()).isEqualTo(NodeError.Kind.FOREIGN_KEY);
    assertThat(refused.error().message()).contains(server().stored(keys.queueKey()));
    free("holder");
    assertCode(take("p"), Code.GRANTED);
    free("p");
    assertCode(newcomer(), Code.GRANTED);
    client.ask(new LockRequest.Release(keys, "lease of a newcomer", token, true, 0, "p"));
    server().delete(keys.queueKey());
    assertFree(keys);
  }

  @Test
  void foreignDataUnderWakeAndWatchKeys_breaksNoVote_andTheQueueContinues() {
    needs(Feature.FOREIGN_TYPES);
    hold();
    enqueue(client, "first");
    enqueue(client, "second");
    server().delete(keys.wakeKey("first")); // It is empty until the process is woken.
    server().putList(keys.wakeKey("first"));
    server().delete(keys.watchKey("second")); // It contains the patience.
    server().putList(keys.watchKey("second"));
    free("holder");
    // By its wake key the first was woken a long time ago, so others pass it over.
    assertCode(take("second"), Code.GRANTED);
    free("second");
    assertCode(enqueue(client, "first"), Code.ADMITTED);
    assertCode(enqueue(client, "second"), Code.QUEUED);
    server().put(keys.wakeKey("first"), "text", 0);
    assertCode(enqueue(client, "second"), Code.ADMITTED);
    assertCode(take("second"), Code.GRANTED);
    server().delete(keys.wakeKey("first"));
  }
}
