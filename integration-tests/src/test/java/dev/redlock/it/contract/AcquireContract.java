package dev.redlock.it.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.it.contract.NodeUnderTest.Feature;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The replies of a node to an acquire. */
abstract class AcquireContract extends NodeContract {

  @Test
  void free_isGranted_andStoresLeaseIdAndTokenWithTimeToLive() {
    LockKeys keys = fresh();
    long token = client.now();

    NodeReply reply = client.acquire(keys, ME, token, TTL);

    assertCode(reply, Code.GRANTED);
    assertThat(reply.fence()).isEqualTo(token);
    assertThat(reply.connection()).isEqualTo(client.node.status().connection());
    assertHolder(keys, ME);
    assertThat(server().ttlMillis(keys.lockKey(0))).isBetween(TTL - 2_000, TTL);
    assertThat(Long.toString(token)).hasSize(16);
    assertFence(keys, token);
    assertThat(server().field(fenceKey(keys), "ended")).isNull();
  }

  @Test
  void repeated_isGranted_andLeavesTheTimeToLiveAlone() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, ME, token, TTL);

    NodeReply reply = client.acquire(keys, ME, token, 100 * TTL);

    assertCode(reply, Code.GRANTED);
    assertThat(reply.fence()).isEqualTo(token);
    assertThat(server().ttlMillis(keys.lockKey(0))).isLessThanOrEqualTo(TTL);
    assertFence(keys, token);
  }

  @Test
  void ours_withHigherToken_getsTheNewToken() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, ME, token, TTL);

    assertCode(client.acquire(keys, ME, token + 1, 3 * TTL), Code.GRANTED);

    assertFence(keys, token + 1);
    assertThat(server().ttlMillis(keys.lockKey(0))).isGreaterThan(2 * TTL);
  }

  @Test
  void ours_withLowerToken_isStale() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, ME, token, TTL);

    NodeReply reply = client.acquire(keys, ME, token - 1, TTL);

    assertCode(reply, Code.STALE);
    assertThat(reply.fence()).isEqualTo(token);
    assertFence(keys, token);
  }

  @Test
  void leaseOfAnotherClient_isHeld_withItsRemainingTimeMarkAndFence_andUntouched() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, OTHER, token, TTL);

    NodeReply reply = client.acquire(keys, ME, token + 1, 3 * TTL);

    assertCode(reply, Code.HELD);
    assertThat(reply.remainingMillis()).isBetween(TTL - 2_000, TTL);
    assertThat(reply.mark()).isEqualTo(mark(OTHER)).hasSize(8);
    assertThat(reply.fence()).isEqualTo(token);
    assertHolder(keys, OTHER);
    assertFence(keys, token);
    assertThat(server().ttlMillis(keys.lockKey(0))).isLessThanOrEqualTo(TTL);
  }

  @Test
  void tokenNotAboveTheFence_isStale_andReturnsTheFence() {
    LockKeys keys = fresh();
    long token = client.now();
    client.acquire(keys, OTHER, token, TTL);
    client.release(keys, OTHER, token);

    for (long stale : new long[] {token, token - 1, token - 1_000_000}) {
      NodeReply reply = client.acquire(keys, ME, stale, TTL);
      assertCode(reply, Code.STALE);
      assertThat(reply.fence()).isEqualTo(token);
    }
    assertFree(keys);
    assertCode(client.acquire(keys, ME, token + 1, TTL), Code.GRANTED);
  }

  private record Off(LockKeys keys, long token, NodeReply reply) {}

  /**
   * Sends a token with this distance to the node's clock. Repeats if the request was delayed after
   * the clock reading.
   */
  private Off acquireWithTokenOff(long micros) {
    while (true) {
      LockKeys keys = fresh();
      long now = client.now();
      NodeReply reply = client.acquire(keys, ME, now + micros, TTL);
      if (reply.nodeMicros() - now < 100_000) {
        return new Off(keys, now + micros, reply);
      }
    }
  }

  @Test
  void token_isAcceptableWithinTwoSecondsOfTheNodesClock() {
    for (long off : new long[] {-1_800_000, -1_000, 1_000_000, 1_990_000}) {
      NodeReply reply = acquireWithTokenOff(off).reply;
      assertThat(reply.code()).as("%s µs off: %s", off, reply).isEqualTo(Code.GRANTED);
    }
    for (long off : new long[] {-2_000_000, -3_600_000_000L, 2_300_000, 3_600_000_000L}) {
      Off asked = acquireWithTokenOff(off);
      LockKeys keys = asked.keys;
      long token = asked.token;
      NodeReply reply = asked.reply;
      assertCode(reply, Code.STALE);
      assertThat(token < reply.nodeMicros() - 2_000_000 || token > reply.nodeMicros() + 2_000_000)
          .as("the answer's node time explains the refusal of %s: %s", token, reply)
          .isTrue();
      assertThat(reply.fence()).isZero();
      assertFree(keys);
      assertThat(server().field(fenceKey(keys), "fence")).isNull();
    }
  }

  @Test
  void token_atTheEndOfExactNumbers_isStale() {
    for (long token : new long[] {(1L << 53) - 1, 1L << 53, Long.MAX_VALUE, 0, -1}) {
      LockKeys keys = fresh();
      assertCode(client.acquire(keys, ME, token, TTL), Code.STALE);
      assertFree(keys);
    }
  }

  @Test
  void severalNames_areGrantedTogether() {
    LockKeys keys = severalInOneSlot(5);
    long token = client.now();

    assertCode(client.acquire(keys, ME, token, TTL), Code.GRANTED);

    assertHolder(keys, ME);
    assertFence(keys, token);
    assertCode(client.release(keys, ME, token), Code.RELEASED);
    assertFree(keys);
  }

  @Test
  void severalNames_oneHeld_isHeld_andNothingIsWritten() {
    LockKeys all = severalInOneSlot(3);
    LockKeys last = TestClient.keys(all.names().get(2));
    long token = client.now();
    client.acquire(last, OTHER, token, TTL);

    NodeReply reply = client.acquire(all, ME, token + 1, TTL);

    assertCode(reply, Code.HELD);
    assertThat(reply.mark()).isEqualTo(mark(OTHER));
    assertHolder(last, OTHER);
    assertFree(TestClient.keys(all.names().get(0), all.names().get(1)));
    assertThat(server().field(fenceKey(all, 0), "fence")).isNull();
  }

  @Test
  void severalNames_returnTheLongestLastingHolder_andTheHighestFence() {
    LockKeys all = severalInOneSlot(3);
    long token = client.now();
    client.acquire(TestClient.keys(all.names().get(0)), "short", token, TTL);
    client.acquire(TestClient.keys(all.names().get(1)), "long", token + 5, 5 * TTL);
    client.acquire(TestClient.keys(all.names().get(2)), "middle", token + 3, 2 * TTL);

    NodeReply reply = client.acquire(all, ME, token, TTL);

    assertCode(reply, Code.HELD);
    assertThat(reply.mark()).isEqualTo(mark("long"));
    assertThat(reply.remainingMillis()).isGreaterThan(4 * TTL);
    assertThat(reply.fence()).isEqualTo(token + 5);
  }

  @Test
  void severalNames_oneStale_isStale_andNothingIsWritten() {
    LockKeys all = severalInOneSlot(3);
    LockKeys middle = TestClient.keys(all.names().get(1));
    long token = client.now();
    client.acquire(middle, OTHER, token + 10, TTL);
    client.release(middle, OTHER, token + 10);

    NodeReply reply = client.acquire(all, ME, token + 1, TTL);

    assertCode(reply, Code.STALE);
    assertThat(reply.fence()).isEqualTo(token + 10);
    assertFree(all);
  }

  @Test
  void severalNames_partlyRepeated_areGranted_andTheRepeatedKeepTheirTime() {
    LockKeys all = severalInOneSlot(2);
    long token = client.now();
    client.acquire(TestClient.keys(all.names().get(0)), ME, token, TTL);

    assertCode(client.acquire(all, ME, token, 5 * TTL), Code.GRANTED);

    assertHolder(all, ME);
    assertThat(server().ttlMillis(all.lockKey(0))).isLessThanOrEqualTo(TTL);
    assertThat(server().ttlMillis(all.lockKey(1))).isGreaterThan(4 * TTL);
  }

  @Test
  void keyOfAnotherType_isAnErrorThatNamesNodeAndKey() {
    needs(Feature.FOREIGN_TYPES);
    LockKeys keys = fresh();
    server().putList(keys.lockKey(0));
    try {
      assertForeign(client.acquire(keys, ME, client.now(), TTL), keys.lockKey(0));
      assertForeign(client.extend(keys, ME, client.now(), TTL), keys.lockKey(0));
      assertForeign(client.inspect(keys), keys.lockKey(0));
    } finally {
      server().delete(keys.lockKey(0));
    }
  }

  @Test
  void fenceKeyOfAnotherType_isAnErrorThatNamesNodeAndKey() {
    needs(Feature.FOREIGN_TYPES);
    LockKeys keys = fresh();
    server().putList(fenceKey(keys));
    try {
      assertForeign(client.acquire(keys, ME, client.now(), TTL), fenceKey(keys));
      assertForeign(client.extend(keys, ME, client.now(), TTL), fenceKey(keys));
      assertForeign(client.release(keys, ME, client.now()), fenceKey(keys));
      assertFree(keys);
    } finally {
      server().delete(fenceKey(keys));
    }
  }

  @Test
  void fenceThatIsNoNumber_isAnError() {
    needs(Feature.FOREIGN_TYPES);
    LockKeys keys = fresh();
    server().putField(fenceKey(keys), "fence", "hello");
    try {
      assertForeign(client.acquire(keys, ME, client.now(), TTL), fenceKey(keys));
    } finally {
      server().delete(fenceKey(keys));
    }
  }

  @Test
  void keyWithoutTimeToLive_isAnError_neverHeld_andUntouched() {
    LockKeys keys = fresh();
    for (String value : new String[] {"foreign data", "", ME}) {
      server().put(keys.lockKey(0), value, 0);
      try {
        assertForeign(client.acquire(keys, ME, client.now(), TTL), keys.lockKey(0));
        assertThat(server().value(keys.lockKey(0))).isEqualTo(value);
        assertThat(server().ttlMillis(keys.lockKey(0))).isEqualTo(-1);
      } finally {
        server().delete(keys.lockKey(0));
      }
    }
  }

  @Test
  void emptyValue_isNoPreviousLease() {
    LockKeys keys = fresh();
    server().put(keys.lockKey(0), "", TTL);

    NodeReply reply = client.acquire(keys, ME, client.now(), TTL);

    assertCode(reply, Code.HELD);
    assertThat(server().value(keys.lockKey(0))).isEmpty();
  }

  static Stream<String> hostileNames() {
    return Stream.of(
        "}x",
        "{}",
        "a}b{c",
        "{a}{b}",
        "{tag}",
        "buy_{42}",
        "per%cent",
        "with\r\nlines\0and nul",
        "spaces and 'quotes' \"too\"",
        "Stra\u00dfe \u6771\u4eac \ud83d\udd12",
        "$5\r\nhello",
        ":fence",
        "*",
        "x".repeat(512));
  }

  @ParameterizedTest
  @MethodSource("hostileNames")
  void hostileName_isALockLikeAnyOther(String name) {
    LockKeys keys = TestClient.keys(name);
    long token = client.now();

    assertCode(client.acquire(keys, ME, token, TTL), Code.GRANTED);
    assertHolder(keys, ME);
    assertCode(client.acquire(keys, OTHER, token + 1, TTL), Code.HELD);
    assertCode(client.extend(keys, ME, token, TTL), Code.EXTENDED);
    assertCode(client.inspect(keys), Code.HELD);
    assertCode(client.release(keys, ME, token), Code.RELEASED);
    assertFree(keys);
  }

  static LockKeys severalInOneSlot(int count) {
    String tag = freshName();
    String[] names = new String[count];
    for (int i = 0; i < count; i++) {
      names[i] = "n" + i + "{" + tag + "}";
    }
    return TestClient.keys(names);
  }

  private void assertForeign(NodeReply reply, String key) {
    assertThat(reply.code()).as(reply.toString()).isEqualTo(Code.FAILED);
    NodeError error = reply.error();
    assertThat(error).isNotNull();
    assertThat(error.kind()).isEqualTo(NodeError.Kind.FOREIGN_KEY);
    assertThat(error.message()).contains(server().stored(key)).contains(client.node.name());
  }
}
