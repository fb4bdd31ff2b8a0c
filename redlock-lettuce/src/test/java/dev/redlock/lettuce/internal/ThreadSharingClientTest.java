package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.resource.ClientResources;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ThreadSharingClientTest {
  private final ClientResources shared = ClientResources.create();
  private final ThreadSharingClient client = new ThreadSharingClient(shared);

  @AfterEach
  void end() throws Exception {
    shared.shutdown(0, 1, TimeUnit.SECONDS).get();
  }

  /** The event loops end after the close. A channel that is made later would stay open. */
  @Test
  void close_whileAnAttemptIsUnderWay_waitsForIt() throws Exception {
    CompletableFuture<String> attempt = new CompletableFuture<>();
    var unused = client.connect(lettuce -> attempt);
    CompletableFuture<Boolean> attemptWasOver =
        client.close().thenApply(closed -> attempt.isDone()).toCompletableFuture();
    attempt.complete("made");
    assertThat(attemptWasOver.get()).isTrue();
  }

  @Test
  void close_whileAnAttemptHangs_completes() throws Exception {
    client.connect(lettuce -> new CompletableFuture<>());
    client.close().toCompletableFuture().get();
  }

  @Test
  void connect_afterClose_isRefused() {
    client.close();
    assertThatThrownBy(() -> client.connect(lettuce -> new CompletableFuture<>()))
        .isInstanceOf(IllegalStateException.class);
  }
}
