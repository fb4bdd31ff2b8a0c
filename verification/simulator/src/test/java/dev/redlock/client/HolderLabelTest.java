package dev.redlock.client;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A refused client learns the label of the holder, and never its lease id. */
class HolderLabelTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final InMemoryLockNode node = InMemoryLockNode.create("a");
  private final Redlock holder = client("orders-7f9c/pod-3 ü");
  private final Redlock other = client("");

  private Redlock client(String label) {
    Redlock client =
        Redlock.builder()
            .nodes(node.another())
            .restartGuard(RestartGuard.OFF)
            .nodeTimeout(Duration.ofSeconds(1))
            .label(label)
            .build();
    assertThat(client.awaitReady(WAIT)).isTrue();
    return client;
  }

  @AfterEach
  void close() {
    holder.close();
    other.close();
  }

  private void refusedByTheHolder() {
    String stored = requireNonNull(node.holder("stock"));
    String secret = stored.substring(0, stored.indexOf('~'));
    assertThatThrownBy(() -> other.lock("stock").acquire(Duration.ZERO))
        .isInstanceOf(LockTimeoutException.class)
        .hasMessageContaining("'orders-7f9c/pod-3 ü'")
        .hasMessageNotContaining(secret)
        .satisfies(
            e ->
                assertThat(((LockTimeoutException) e).report().votes().get(0).holderLabel())
                    .isEqualTo("orders-7f9c/pod-3 ü"));
  }

  @Test
  void refusal_namesTheHolder_alsoAfterAHandOff() {
    Lease lease = holder.lock("stock").acquire(WAIT);
    refusedByTheHolder();
    CompletableFuture<Lease> next = holder.lock("stock").acquireAsync(WAIT);
    lease.close();
    next.join();
    refusedByTheHolder();
    next.join().close();
    try (Lease unlabelled = other.lock("stock").acquire(WAIT)) {
      assertThat(unlabelled.isValid()).isTrue();
      assertThat(node.holder("stock")).isNotNull().doesNotContain("~");
    }
  }

  @Test
  void inspect_showsTheLabel() {
    try (Lease lease = holder.lock("stock").acquire(WAIT)) {
      var view = other.operations().inspect("stock").toCompletableFuture().join().nodes().get(0);
      assertThat(view.holderLabel()).isEqualTo("orders-7f9c/pod-3 ü");
      assertThat(view.holder()).hasSize(8);
      assertThat(lease.isValid()).isTrue();
    }
    var free = other.operations().inspect("stock").toCompletableFuture().join().nodes().get(0);
    assertThat(free.holderLabel()).isNull();
  }
}
