package dev.redlock.it.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.LockRequest.Line;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Fair mode: processes are served in the order in which they came. */
abstract class LineContract extends NodeContract {
  private static final long TIMEOUT = 5_000;

  private LockKeys keys;
  private long token;

  @BeforeEach
  void freshName_() {
    keys = fresh();
    token = client.now();
  }

  private NodeReply ask(String process, long arrival, boolean stand) {
    return ask(process, arrival, TIMEOUT, stand);
  }

  private NodeReply ask(String process, long arrival, long timeout, boolean stand) {
    return client.ask(
        new LockRequest.Acquire(
            keys,
            "lease of " + process,
            ++token,
            TTL,
            null,
            0,
            new Line(process, arrival, timeout, stand)));
  }

  private void free(String process) {
    assertCode(client.release(keys, "lease of " + process, token), ReplyCode.RELEASED);
  }

  @Test
  void nobodyInLine_isGranted() {
    NodeReply reply = ask("p", 0, true);
    assertCode(reply, ReplyCode.GRANTED);
    assertThat(reply.othersInLine()).isZero();
    assertThat(server().ttlMillis(keys.lockKey(0) + ":line")).isEqualTo(-2);
  }

  @Test
  void refused_standsInLine_andIsServedInTheOrderOfArrival() {
    assertCode(ask("holder", 0, true), ReplyCode.GRANTED);
    NodeReply first = ask("first", 0, true);
    assertCode(first, ReplyCode.HELD);
    assertThat(first.othersInLine()).isZero();
    NodeReply second = ask("second", 0, true);
    assertCode(second, ReplyCode.HELD);
    assertThat(second.othersInLine()).isEqualTo(1);
    assertThat(server().ttlMillis(keys.lockKey(0) + ":line")).isBetween(1L, 2 * TIMEOUT);
    free("holder");

    NodeReply early = ask("second", 0, true);
    assertCode(early, ReplyCode.QUEUED);
    assertThat(early.othersInLine()).isEqualTo(1);
    assertFree(keys);
    NodeReply granted = ask("first", 0, true);
    assertCode(granted, ReplyCode.GRANTED);
    assertThat(granted.othersInLine()).isEqualTo(1);
    free("first");
    NodeReply last = ask("second", 0, true);
    assertCode(last, ReplyCode.GRANTED);
    assertThat(last.othersInLine()).isZero();
  }

  @Test
  void arrival_isKeptIfSmaller_andGivenOneCounts() {
    ask("holder", 0, true);
    long now = client.now();
    ask("late", now, true);
    ask("early", now - 1_000_000, true);
    ask("early", now + 1_000_000, true);
    free("holder");

    assertCode(ask("late", now, true), ReplyCode.QUEUED);
    assertCode(ask("early", 0, true), ReplyCode.GRANTED);
  }

  @Test
  void equalArrivals_areOrderedByProcess() {
    ask("holder", 0, true);
    long now = client.now();
    ask("b", now, true);
    ask("a", now, true);
    free("holder");

    assertCode(ask("b", now, true), ReplyCode.QUEUED);
    assertCode(ask("a", now, true), ReplyCode.GRANTED);
  }

  @Test
  void whoDoesNotStand_isRefusedWhileSomebodyStands_andNotEntered() {
    ask("holder", 0, true);
    ask("patient", 0, true);
    free("holder");

    NodeReply reply = ask("passer-by", 0, false);
    assertCode(reply, ReplyCode.QUEUED);
    assertThat(reply.othersInLine()).isEqualTo(1);
    NodeReply granted = ask("patient", 0, true);
    assertCode(granted, ReplyCode.GRANTED);
    assertThat(granted.othersInLine()).isZero();
  }

  @Test
  void withoutALine_theLineIsIgnored() {
    ask("holder", 0, true);
    ask("patient", 0, true);
    free("holder");

    assertCode(client.acquire(keys, ME, ++token, TTL), ReplyCode.GRANTED);
  }

  @Test
  void withoutALine_aRefusalIsTold_withTheReleaseAndTheNextGrant() {
    assertThat(client.acquire(keys, ME, ++token, TTL).othersInLine()).isZero();
    assertThat(client.extend(keys, ME, token, TTL).othersInLine()).isZero();
    assertCode(client.acquire(keys, OTHER, token + 1, TTL), ReplyCode.HELD);
    assertThat(client.release(keys, ME, token).othersInLine()).isEqualTo(1);
    assertThat(client.acquire(keys, OTHER, ++token, TTL).othersInLine()).isEqualTo(1);
    assertThat(client.release(keys, OTHER, token).othersInLine()).isZero();
  }

  @Test
  void whoIsNotSeenForTheTimeout_dropsOut() {
    ask("holder", 0, 1_000, true);
    ask("gone", 0, 1_000, true);
    free("holder");
    assertCode(ask("patient", 0, 1_000, false), ReplyCode.QUEUED);

    await()
        .atMost(Duration.ofSeconds(5))
        .until(() -> ask("patient", 0, 1_000, true).code() == ReplyCode.GRANTED);
  }

  @Test
  void whoLeaves_isNotWaitedFor() {
    ask("holder", 0, true);
    ask("leaver", 0, true);
    ask("patient", 0, true);
    free("holder");

    client.ask(new LockRequest.Release(keys, "lease of leaver", token, false, 0, "leaver"));
    NodeReply granted = ask("patient", 0, true);
    assertCode(granted, ReplyCode.GRANTED);
    assertThat(granted.othersInLine()).isZero();
  }

  @Test
  void held_winsOverQueued_andQueuedOverStale() {
    ask("holder", 0, true);
    ask("first", 0, true);
    assertCode(ask("second", 0, true), ReplyCode.HELD);
    free("holder");
    token -= 10;
    assertCode(ask("second", 0, true), ReplyCode.QUEUED);
    token -= 10;
    assertCode(ask("first", 0, true), ReplyCode.STALE);
    token += 100;
    assertCode(ask("first", 0, true), ReplyCode.GRANTED);
  }
}
