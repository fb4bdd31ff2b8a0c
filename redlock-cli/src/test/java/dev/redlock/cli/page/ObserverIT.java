package dev.redlock.cli.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@RedisTest(nodes = 3)
@Timeout(120)
class ObserverIT {
  private static final Duration EVERY = Duration.ofSeconds(2);
  private Redlock client;

  @BeforeEach
  void connect(RedisNodes nodes) {
    client = client(nodes.uris().toArray(new String[0]));
    assertThat(client.awaitReady(Duration.ofSeconds(20))).isTrue();
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void lease_keepsTheTimeWhenItWasFirstSeen_andItsSuccessorHasItsOwn(RedisNodes nodes) {
    Observer observer = new Observer(client.operations(), "*");
    try (Lease lease = client.lock("seen").acquire(Duration.ofSeconds(20))) {
      // A look may miss a lock that a node stores only after it was scanned.
      await().until(() -> nodes.stream().allMatch(ObserverIT::storesTheLock));
      assertThat(observer.look(1000, EVERY)).contains("\"name\":\"seen\"", "\"since\":1000,");
      assertThat(observer.look(5000, EVERY))
          .contains("\"since\":1000,")
          .contains("\"strip\":\"VV\"");
      assertThat(lease.isValid()).isTrue();
    }
    try (Lease lease = client.lock("seen").acquire(Duration.ofSeconds(20))) {
      assertThat(observer.look(9000, EVERY)).contains("\"since\":9000,");
      assertThat(lease.isValid()).isTrue();
    }
  }

  private static boolean storesTheLock(RedisNode node) {
    return node.keys().stream().anyMatch(key -> key.name().equals("redlock:{seen}"));
  }

  @Test
  void readThatFails_forgetsNotSinceWhenALockIsHeld(RedisNodes nodes) {
    Observer observer = new Observer(client.operations(), "*");
    try (Lease lease = client.lock("seen").acquire(Duration.ofSeconds(20))) {
      assertThat(observer.look(1000, EVERY)).contains("\"since\":1000,");
      nodes.get(0).pause();
      nodes.get(1).pause();
      assertThat(observer.look(2000, EVERY)).contains("\"problem\":\"locks not listed");
      nodes.get(0).resume();
      nodes.get(1).resume();
      await().until(() -> observer.look(3000, EVERY).contains("\"since\":1000,"));
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void majorityDown_isAProblemAndNotAnEmptyList(RedisNodes nodes) {
    nodes.get(0).kill();
    nodes.get(1).kill();
    assertThat(new Observer(client.operations(), "*").look(1, EVERY))
        .contains("\"problem\":\"locks not listed", "\"locks\":[]");
  }

  /** An address of the list names a database that another deployment uses. */
  @Test
  void nodeOfAnotherDeployment_isShownWithWhatItShows_andIsNoMember(RedisNodes nodes) {
    String wrong = nodes.get(2).uri() + "/1";
    try (Redlock other = client(wrong);
        Redlock slip = client(nodes.get(0).uri(), nodes.get(1).uri(), wrong)) {
      assertThat(other.awaitReady(Duration.ofSeconds(20))).isTrue();
      Observer observer = new Observer(slip.operations(), "*");
      await().until(() -> observer.look(1, EVERY).contains("it shows deployment "));
      assertThat(observer.look(2, EVERY)).contains("\"members\":3,\"needed\":2");
    }
  }

  private static Redlock client(String... uris) {
    return Redlock.builder()
        .nodes(uris)
        .label("pod-3")
        .restartGuard(RestartGuard.OFF)
        .nodeTimeout(Duration.ofSeconds(1))
        .build();
  }
}
