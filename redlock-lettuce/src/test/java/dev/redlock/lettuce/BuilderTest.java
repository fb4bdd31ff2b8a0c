package dev.redlock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.InvalidOptionException;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.operations.LockListing;
import dev.redlock.operations.NodeState;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The builder of core with this adapter on the class path. */
class BuilderTest {
  private static final String NOWHERE = "redis://127.0.0.1:1";

  @Test
  void nodesOfUris_areMadeByThisAdapter_inTheirOrder() {
    try (Redlock redlock = Redlock.builder().nodes("redis://127.0.0.1:2", NOWHERE).build()) {
      assertThat(redlock.operations().nodes())
          .extracting(NodeState::node)
          .containsExactly("127.0.0.1:2", "127.0.0.1:1");
    }
  }

  @Test
  void nodesOfUris_areMadeAlsoOnAThreadWhoseLoaderSeesNoAdapter() {
    CompletableFuture<Redlock> built = new CompletableFuture<>();
    Thread thread = new Thread(() -> built.complete(Redlock.builder().nodes(NOWHERE).build()));
    thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
    thread.start();
    built.join().close();
  }

  @Test
  void operations_areFoundAlsoOnAThreadWhoseLoaderDoesNotSeeThem() {
    try (Redlock redlock = Redlock.builder().nodes(NOWHERE).build()) {
      CompletableFuture<LockListing> listed = new CompletableFuture<>();
      Thread thread = new Thread(() -> listed.complete(redlock.operations().list("*")));
      thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
      thread.start();
      listed.join().close();
    }
  }

  @Test
  void uriTwice_isRejected() {
    assertThatThrownBy(Redlock.builder().nodes(NOWHERE, NOWHERE)::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("127.0.0.1:1 is configured twice");
  }

  private static void assertRejected(ThrowingCallable call, String option, @Nullable String value) {
    assertThatExceptionOfType(InvalidOptionException.class)
        .isThrownBy(call)
        .satisfies(e -> assertThat(e.option()).isEqualTo(option))
        .satisfies(e -> assertThat(e.value()).isEqualTo(value));
  }

  @Test
  void rejectedOption_isNamed_andAUriIsNoValue() {
    assertRejected(Redlock.builder()::build, "nodes", null);
    assertRejected(Redlock.builder().nodes("redis://:secret@a:x")::build, "nodes", null);
    assertRejected(() -> Redlock.builder().label("\n"), "label", "\n");
    RedlockBuilder builder = Redlock.builder().nodes(NOWHERE).keyPrefix("{x}");
    assertRejected(builder::build, "keyPrefix", "{x}");
    assertRejected(builder.leaseTime(Duration.ofMillis(1))::build, "leaseTime", "1 ms");
    builder.leaseTime(Duration.ofHours(1)).maxLeaseTime(Duration.ofHours(2));
    assertRejected(builder::build, "maxLeaseTime", "2 h");
  }

  @Test
  void maxLeaseTimeOfTheClient_alone_bringsTheDefaultLeaseTimeDown() {
    Duration longest = Duration.ofSeconds(20);
    try (Redlock redlock = Redlock.builder().nodes(NOWHERE).maxLeaseTime(longest).build()) {
      LockOptions defaults = redlock.defaultOptions();
      assertThat(defaults.leaseTime()).isEqualTo(longest);
      assertThat(defaults.drift()).isEqualTo(Duration.ofMillis(202));
      LockOptions fair = defaults.toBuilder().fair(true).build();
      assertThat(redlock.lock("mine", fair).options().leaseTime()).isEqualTo(longest);
    }
    RedlockBuilder longer = Redlock.builder().nodes(NOWHERE).maxLeaseTime(longest);
    assertThatThrownBy(longer.leaseTime(Duration.ofSeconds(21))::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("leaseTime 21 s ");
  }
}
