package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.lettuce.LettuceOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ThreadSharingClientTest {
  private final Limits limits = new Limits();
  private final ClientResources shared = ClientResources.builder().timer(limits).build();
  private final ThreadSharingClient client =
      new ThreadSharingClient(
          new SharedResources(shared, Runnable::run), LettuceOptions.defaults());

  @AfterEach
  void end() throws Exception {
    shared.shutdown(0, 1, TimeUnit.SECONDS).get();
  }

  /** The event loops end after the close. A channel that is made later would stay open. */
  @Test
  void close_whileAnAttemptIsUnderWay_waitsForIt() throws Exception {
    CompletableFuture<String> attempt = new CompletableFuture<>();
    var unused = connect(attempt);
    CompletableFuture<Boolean> attemptWasOver =
        client.close().thenApply(closed -> attempt.isDone()).toCompletableFuture();
    attempt.complete("made");
    assertThat(attemptWasOver.get()).isTrue();
  }

  @Test
  void close_whileAnAttemptHangs_completes() throws Exception {
    var unused = connect(new CompletableFuture<>());
    CompletableFuture<Void> closed = client.close().toCompletableFuture();
    limits.pass();
    closed.get();
  }

  @Test
  void connect_afterClose_isRefused() {
    var unused = client.close();
    assertThat(connect(new CompletableFuture<>()).toCompletableFuture()).isCompletedExceptionally();
  }

  private <C> CompletionStage<C> connect(CompletableFuture<C> attempt) {
    return client.connect(
        RedisURI.create("redis://h"), Duration.ofSeconds(1), (lettuce, uri) -> attempt);
  }

  /** A timer whose time passes only when a test says so. */
  private static final class Limits implements Timer {
    private final Queue<TimerTask> tasks = new ConcurrentLinkedQueue<>();

    void pass() throws Exception {
      for (TimerTask task = tasks.poll(); task != null; task = tasks.poll()) {
        task.run(new Limit(this, task));
      }
    }

    @Override
    public io.netty.util.Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
      tasks.add(task);
      return new Limit(this, task);
    }

    @Override
    public Set<io.netty.util.Timeout> stop() {
      return Set.of();
    }
  }

  private record Limit(Timer timer, TimerTask task) implements io.netty.util.Timeout {
    @Override
    public boolean isExpired() {
      return false;
    }

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public boolean cancel() {
      return true;
    }
  }
}
