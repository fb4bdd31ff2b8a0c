package dev.redlock.it.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.it.contract.NodeUnderTest.Feature;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Extension and end of a lease. */
abstract class ExtendReleaseContract extends NodeContract {

  // extend

  @Test
  void extend_ours_setsTheTimeToLive_neverAdds() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, ME, token, 3 * TTL);

    NodeReply reply = client.extend(keys, ME, token, TTL);

    assertCode(reply, Code.EXTENDED);
    assertThat(reply.fence()).isEqualTo(token);
    assertHolder(keys, ME);
    assertThat(server().ttlMillis(keys.lockKey(0))).isBetween(TTL - 2_000, TTL);
    assertFence(keys, token);
  }

  @Test
  void extend_gone_isRepaired_withFence() {
    LockKeys keys = fresh();
    long token = client.now();

    NodeReply reply = client.extend(keys, ME, token, TTL);

    assertCode(reply, Code.REPAIRED);
    assertThat(reply.fence()).isEqualTo(token);
    assertHolder(keys, ME);
    assertFence(keys, token);
  }

  @Test
  void extend_gone_belowAHigherFence_isRepaired_andKeepsTheFence() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, OTHER, token + 10, TTL);
    client.rollBack(keys, OTHER, token + 10);

    NodeReply reply = client.extend(keys, ME, token, TTL);

    assertCode(reply, Code.REPAIRED);
    assertThat(reply.fence()).isEqualTo(token + 10);
    assertHolder(keys, ME);
    assertFence(keys, token + 10);
  }

  @Test
  void extend_gone_afterALaterLeaseEnded_isLost() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, OTHER, token + 10, TTL);
    client.release(keys, OTHER, token + 10);

    NodeReply reply = client.extend(keys, ME, token, TTL);

    assertCode(reply, Code.LOST);
    assertThat(reply.fence()).isEqualTo(token + 10);
    assertFree(keys);
  }

  @Test
  void extend_ofAReleasedLease_isLost() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, ME, token, TTL);
    client.release(keys, ME, token);

    assertCode(client.extend(keys, ME, token, TTL), Code.LOST);
    assertFree(keys);
  }

  @Test
  void extend_anothers_isLost_andUntouched() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, OTHER, token, TTL);

    assertCode(client.extend(keys, ME, token + 1, 5 * TTL), Code.LOST);
    assertHolder(keys, OTHER);
    assertThat(server().ttlMillis(keys.lockKey(0))).isLessThanOrEqualTo(TTL);
  }

  @Test
  void extend_severalNames_worstOfAll_allOrNothing() {
    LockKeys all = AcquireContract.severalInOneSlot(3);
    LockKeys first = TestClient.keys(all.names().get(0));
    long token = client.now();
    client.acquire(all, ME, token, TTL);

    assertCode(client.extend(all, ME, token, 2 * TTL), Code.EXTENDED);
    server().delete(all.lockKey(1));
    assertCode(client.extend(all, ME, token, 2 * TTL), Code.REPAIRED);
    assertHolder(all, ME);

    server().delete(all.lockKey(0));
    server().delete(all.lockKey(1));
    client.acquire(first, OTHER, token + 1, TTL);
    assertCode(client.extend(all, ME, token, 9 * TTL), Code.LOST);
    assertHolder(first, OTHER);
    assertThat(server().value(all.lockKey(1))).isNull();
    assertThat(server().ttlMillis(all.lockKey(2))).isLessThanOrEqualTo(2 * TTL);
  }

  @Test
  void extend_neverRaisesTheFenceFurtherThanAnAcquireCould() {
    LockKeys keys = fresh();
    long token = client.now() + 60_000_000;

    assertCode(client.extend(keys, ME, token, TTL), Code.REPAIRED);
    assertThat(server().field(fenceKey(keys), "fence")).isNull();
    client.release(keys, ME, token);
    assertCode(client.acquire(keys, OTHER, client.now(), TTL), Code.GRANTED);
  }

  // release and roll-back

  @Test
  void release_ours_deletes_andRaisesFenceAndEnded() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, ME, token, TTL);

    NodeReply reply = client.release(keys, ME, token);

    assertCode(reply, Code.RELEASED);
    assertThat(reply.fence()).isEqualTo(token);
    assertFree(keys);
    assertFence(keys, token);
    assertThat(server().field(fenceKey(keys), "ended")).isEqualTo(Long.toString(token));
  }

  @Test
  void release_repeated_isNotOwner() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, ME, token, TTL);
    client.release(keys, ME, token);

    assertCode(client.release(keys, ME, token), Code.NOT_OWNER);
  }

  @Test
  void release_anothers_isNotOwner_raisesTheFence_andLeavesTheKey() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, OTHER, token, TTL);

    assertCode(client.release(keys, ME, token + 1), Code.NOT_OWNER);
    assertHolder(keys, OTHER);
    assertFence(keys, token + 1);
  }

  @Test
  void release_beforeItsAcquire_keepsTheAcquireOut() {
    LockKeys keys = fresh();
    long token = client.now();

    assertCode(client.rollBack(keys, ME, token), Code.NOT_OWNER);
    assertFence(keys, token);
    assertCode(client.acquire(keys, ME, token, TTL), Code.STALE);
    assertFree(keys);
  }

  @Test
  void release_beforeItsExtend_keepsTheExtendOut() {
    LockKeys keys = fresh();
    long token = client.now();

    client.release(keys, ME, token);
    assertCode(client.extend(keys, ME, token, TTL), Code.LOST);
    assertFree(keys);
  }

  @Test
  void release_withAnOldToken_lowersNothing() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, OTHER, token, TTL);
    client.release(keys, OTHER, token);

    client.release(keys, ME, token - 5);

    assertFence(keys, token);
    assertThat(server().field(fenceKey(keys), "ended")).isEqualTo(Long.toString(token));
  }

  @Test
  void release_neverRaisesTheFenceFurtherThanAnAcquireCould() {
    LockKeys keys = fresh();
    client.release(keys, ME, client.now() + 60_000_000);
    client.release(keys, ME, Long.MAX_VALUE);

    assertThat(server().field(fenceKey(keys), "fence")).isNull();
    assertThat(server().field(fenceKey(keys), "ended")).isNull();
    assertCode(client.acquire(keys, ME, client.now(), TTL), Code.GRANTED);
  }

  @Test
  void rollBack_leavesEndedAlone() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, ME, token, TTL);

    assertCode(client.rollBack(keys, ME, token), Code.RELEASED);
    assertFree(keys);
    assertFence(keys, token);
    assertThat(server().field(fenceKey(keys), "ended")).isNull();
  }

  @Test
  void release_keeping_shortensTheTimeToLive_neverLengthens() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, ME, token, TTL);

    assertCode(client.ask(keeping(keys, token, 5 * TTL)), Code.RELEASED);
    assertThat(server().ttlMillis(keys.lockKey(0))).isBetween(1L, TTL);
    assertCode(client.ask(keeping(keys, token, 200)), Code.RELEASED);
    assertThat(server().ttlMillis(keys.lockKey(0))).isLessThanOrEqualTo(200);
    assertCode(client.extend(keys, ME, token, TTL), Code.LOST);
    assertThat(server().ttlMillis(keys.lockKey(0))).isLessThanOrEqualTo(200);
    assertThat(server().field(fenceKey(keys), "ended")).isEqualTo(Long.toString(token));
    await().atMost(Duration.ofSeconds(2)).until(() -> server().value(keys.lockKey(0)) == null);
  }

  private static LockRequest keeping(LockKeys keys, long token, long keepMillis) {
    return new LockRequest.Release(keys, ME, token, true, keepMillis, null);
  }

  @Test
  void release_severalNames_freesWhatIsOurs() {
    LockKeys all = AcquireContract.severalInOneSlot(3);
    LockKeys middle = TestClient.keys(all.names().get(1));
    long token = client.now();
    client.acquire(all, ME, token, TTL);
    server().delete(all.lockKey(1));
    client.acquire(middle, OTHER, token + 1, TTL);

    assertCode(client.release(all, ME, token), Code.RELEASED);

    assertThat(server().value(all.lockKey(0))).isNull();
    assertHolder(middle, OTHER);
    assertThat(server().value(all.lockKey(2))).isNull();
  }

  @Test
  void release_isNotStoppedByAForeignKeyAmongTheNames() {
    needs(Feature.FOREIGN_TYPES);
    LockKeys all = AcquireContract.severalInOneSlot(3);
    long token = client.now();
    client.acquire(all, ME, token, TTL);
    server().delete(all.lockKey(0));
    server().putList(all.lockKey(0));
    try {
      assertCode(client.release(all, ME, token), Code.RELEASED);
      assertThat(server().value(all.lockKey(1))).isNull();
      assertThat(server().value(all.lockKey(2))).isNull();
    } finally {
      server().delete(all.lockKey(0));
    }
  }

  // break

  @Test
  void break_takesTheLock_andTheHolderCannotRepair() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, ME, token, TTL);

    NodeReply reply = client.ask(new LockRequest.Break(keys, token + 1));

    assertCode(reply, Code.RELEASED);
    assertThat(reply.fence()).isEqualTo(token + 1);
    assertFree(keys);
    assertFence(keys, token + 1);
    assertThat(server().field(fenceKey(keys), "ended")).isEqualTo(Long.toString(token + 1));
    assertCode(client.extend(keys, ME, token, TTL), Code.LOST);
    assertCode(client.acquire(keys, OTHER, token + 2, TTL), Code.GRANTED);
  }

  @Test
  void break_withATokenBelowTheFence_stillEndsTheHolder() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, ME, token, TTL);

    assertCode(client.ask(new LockRequest.Break(keys, token - 1)), Code.RELEASED);
    assertFence(keys, token);
    assertCode(client.extend(keys, ME, token, TTL), Code.LOST);
  }

  @Test
  void break_ofAFreeLock_isNotOwner() {
    LockKeys keys = fresh();
    assertCode(client.ask(new LockRequest.Break(keys, client.now())), Code.NOT_OWNER);
  }

  @Test
  void break_farAheadOfTheNodesClock_isStale_andChangesNothing() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, ME, token, TTL);

    NodeReply reply = client.ask(new LockRequest.Break(keys, token + 60_000_000));

    assertCode(reply, Code.STALE);
    assertThat(reply.fence()).isEqualTo(token);
    assertHolder(keys, ME);
    assertFence(keys, token);
  }

  // inspect

  @Test
  void inspect_returnsHolderRemainingTimeAndFence() {
    LockKeys keys = fresh();
    assertCode(client.inspect(keys), Code.NOT_OWNER);
    long token = client.now();
    client.acquire(keys, ME, token, TTL);

    NodeReply reply = client.inspect(keys);

    assertCode(reply, Code.HELD);
    assertThat(reply.mark()).isEqualTo(mark(ME));
    assertThat(reply.remainingMillis()).isBetween(TTL - 2_000, TTL);
    assertThat(reply.fence()).isEqualTo(token);
    client.release(keys, ME, token);
    NodeReply free = client.inspect(keys);
    assertCode(free, Code.NOT_OWNER);
    assertThat(free.fence()).isEqualTo(token);
  }

  @Test
  void requestsOfOneThread_areExecutedInTheOrderSent() {
    LockKeys keys = fresh();
    long token = client.now();
    for (int i = 0; i < 200; i++) {
      var granted = client.send(new LockRequest.Acquire(keys, "lease" + i, token + i, TTL, null));
      var released =
          client.send(new LockRequest.Release(keys, "lease" + i, token + i, true, 0, null));
      if (i % 50 == 49) {
        assertCode(granted.join(), Code.GRANTED);
        assertCode(released.join(), Code.RELEASED);
      }
    }
    assertFree(keys);
  }
}
