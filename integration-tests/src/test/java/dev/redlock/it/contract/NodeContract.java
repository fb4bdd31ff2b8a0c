package dev.redlock.it.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.redlock.it.contract.NodeUnderTest.Feature;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The common base of the parts of the contract. */
abstract class NodeContract {
  /** Returns a new name, so that no test sees keys of another. */
  private static final AtomicLong NAMES = new AtomicLong();

  static final String ME = "lease-of-mine";
  static final String OTHER = "lease-of-another";
  static final long TTL = 10_000;

  private final List<TestClient> clients = new ArrayList<>();
  TestClient client;

  /** The server of the test class, running. */
  abstract NodeUnderTest server();

  @BeforeEach
  void connect() {
    client = another();
  }

  @AfterEach
  void closeAndCheckLeftKeys() {
    clients.forEach(TestClient::close);
    assertThat(server().keysWithoutTtl()).as("keys that would stay for ever").isEmpty();
  }

  final TestClient another() {
    return closing(TestClient.start(server().newNode()));
  }

  final TestClient closing(TestClient started) {
    clients.add(started);
    return started;
  }

  final void needs(Feature feature) {
    assumeTrue(server().features().contains(feature), () -> "this kind of node has no " + feature);
  }

  static LockKeys fresh() {
    return TestClient.keys(freshName());
  }

  static String freshName() {
    return "name" + NAMES.incrementAndGet();
  }

  static String fenceKey(LockKeys keys) {
    return fenceKey(keys, 0);
  }

  static String fenceKey(LockKeys keys, int index) {
    return keys.lockKey(index) + ":fence";
  }

  final void assertHolder(LockKeys keys, String leaseId) {
    for (int i = 0; i < keys.size(); i++) {
      assertThat(server().value(keys.lockKey(i))).as(keys.lockKey(i)).isEqualTo(leaseId);
      assertThat(server().ttlMillis(keys.lockKey(i))).as("time to live").isPositive();
    }
  }

  final void assertFree(LockKeys keys) {
    for (int i = 0; i < keys.size(); i++) {
      assertThat(server().value(keys.lockKey(i))).as(keys.lockKey(i)).isNull();
    }
  }

  final void assertFence(LockKeys keys, long token) {
    for (int i = 0; i < keys.size(); i++) {
      assertThat(server().field(fenceKey(keys, i), "fence")).isEqualTo(Long.toString(token));
      assertThat(server().ttlMillis(fenceKey(keys, i)))
          .as("life of the fence key")
          .isBetween(100_000L, 2 * TestClient.MAX_LEASE.toMillis() + 60_000);
    }
  }

  static void assertCode(NodeReply reply, Code code) {
    assertThat(reply.code()).as(reply.toString()).isEqualTo(code);
    assertThat(reply.error()).as(reply.toString()).isNull();
    if (code != Code.RELEASED) { // The usual release does not read the clock.
      assertThat(reply.nodeMicros()).as("node time in " + reply).isPositive();
    }
  }

  static String mark(String leaseId) {
    try {
      byte[] sha =
          MessageDigest.getInstance("SHA-1").digest(leaseId.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(sha).substring(0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
