package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;

/**
 * A Vert.x of one test, whose event loops may at no time be blocked for half a second, not counting
 * the time in which they wanted to run and were not run. A thread that does nothing but sleep tells
 * whether the machine runs anybody at all: where it was late as well, the event loop is not to
 * blame.
 */
final class CheckedVertx implements AutoCloseable {
  private static final long STARVED_MILLIS = 100;
  private static final long BLOCKED_NANOS = 500_000_000;

  private final Vertx vertx;
  private final List<String> blocked = new CopyOnWriteArrayList<>();
  private final RunShare share = new RunShare();

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
          double denied = share.denied(thread);
          if (lateMillis > STARVED_MILLIS || duration * (1 - denied) < BLOCKED_NANOS) {
            System.out.printf(
                "starved: late by %d ms, not run for %.0f %% of %d ms: %s%n",
                lateMillis, 100 * denied, duration / 1_000_000, thread);
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
      share.look();
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
        .setMaxEventLoopExecuteTime(TimeUnit.NANOSECONDS.toMillis(BLOCKED_NANOS))
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

  /** Event loops that were blocked so far; a test that blocks one on purpose takes it out. */
  List<String> blocked() {
    return blocked;
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

  /** With more to run than there are cores, short times measure the scheduler. */
  static double loadAverage() {
    try {
      return Double.parseDouble(Files.readString(Path.of("/proc/loadavg")).split(" ")[0]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
