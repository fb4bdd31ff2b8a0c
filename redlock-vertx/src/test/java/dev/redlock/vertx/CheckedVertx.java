package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;

/**
 * A Vert.x of one test, whose event loops may at no time be blocked for half a second. A thread
 * that does nothing but sleep tells whether the machine runs anybody at all: where it was late as
 * well, the event loop is not to blame.
 */
final class CheckedVertx implements AutoCloseable {
  private static final long STARVED_MILLIS = 100;

  private final Vertx vertx;
  private final List<String> blocked = new CopyOnWriteArrayList<>();

  /** The longest delays of the sleeping thread, this second and the one before; written by it. */
  private volatile long lateMillis;

  private volatile boolean closed;

  private CheckedVertx(Vertx vertx) {
    this.vertx = vertx;
    Thread sleeper = new Thread(this::sleep, "sleeper");
    sleeper.setDaemon(true);
    sleeper.start();
    BlockedThreads.on(
        vertx,
        (thread, duration) -> {
          if (lateMillis > STARVED_MILLIS) {
            System.out.println("starved for " + lateMillis + " ms: " + thread);
            return;
          }
          StringBuilder out = new StringBuilder(thread + " for " + duration);
          for (StackTraceElement e : thread.getStackTrace()) {
            out.append("\n  ").append(e);
          }
          blocked.add(out.toString());
        });
  }

  private void sleep() {
    long before = 0;
    long now = 0;
    long turn = System.nanoTime();
    while (!closed) {
      long start = System.nanoTime();
      BusIT.parkMillis(10);
      now = Math.max(now, (System.nanoTime() - start) / 1_000_000 - 10);
      lateMillis = Math.max(before, now);
      if (System.nanoTime() - turn > 1_000_000_000L) {
        turn = System.nanoTime();
        before = now;
        now = 0;
      }
    }
  }

  static VertxOptions options() {
    return new VertxOptions()
        .setEventLoopPoolSize(2)
        .setBlockedThreadCheckInterval(250)
        .setMaxEventLoopExecuteTime(500)
        .setMaxEventLoopExecuteTimeUnit(TimeUnit.MILLISECONDS);
  }

  static CheckedVertx start() {
    return start(BusFault.NONE);
  }

  static CheckedVertx start(BusFault fault) {
    CheckedVertx started = new CheckedVertx(Vertx.builder().with(options()).build());
    fault.on(started.vertx);
    return started;
  }

  static CheckedVertx clustered(VertxBuilder builder) {
    return new CheckedVertx(get(builder.buildClustered(), 60));
  }

  Vertx vertx() {
    return vertx;
  }

  /** A client whose nodes vote. */
  VertxRedlock client(RedlockOptions options) {
    return voting(VertxRedlock.create(vertx, options));
  }

  static VertxRedlock voting(VertxRedlock client) {
    Awaitility.await()
        .atMost(20, TimeUnit.SECONDS)
        .pollInterval(5, TimeUnit.MILLISECONDS)
        .until(() -> client.redlock().nodes().stream().allMatch(n -> n.state().equals("VOTING")));
    return client;
  }

  static <T> T get(Future<T> future) {
    return get(future, 20);
  }

  static <T> T get(Future<T> future, long seconds) {
    try {
      return future.toCompletionStage().toCompletableFuture().get(seconds, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException r) {
        throw r;
      }
      throw new AssertionError(e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("no result within " + seconds + " s", e);
    }
  }

  @Override
  public void close() {
    get(vertx.close());
    closed = true;
    assertThat(blocked).as("blocked event loops").isEmpty();
  }
}
