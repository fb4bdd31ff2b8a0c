package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.operations.NodeState;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxBuilder;
import io.vertx.core.VertxOptions;
import io.vertx.core.internal.VertxInternal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;

/**
 * A Vert.x instance for one test. Its event loops must never be blocked for 50 ms, without the time
 * in which they were runnable and the machine did not run them, in code of this library or of its
 * tests.
 */
final class CheckedVertx implements AutoCloseable {
  private static final long BLOCKED_NANOS = 50_000_000;

  /** In a process that has just started, the first event of each kind loads its classes. */
  private static final long COLD_NANOS = 150_000_000;

  private final Vertx vertx;
  private final List<String> blocked = new CopyOnWriteArrayList<>();
  private final Watch watch;
  private String culprit = "";

  private CheckedVertx(Vertx vertx) {
    this.vertx = vertx;
    watch = new Watch(vertx, "dev.redlock.", BLOCKED_NANOS, blocked::add);
  }

  /**
   * Calls the taker with the stack of each event loop that the library blocked. For processes that
   * start while others do.
   */
  static Watch watch(Vertx vertx, Consumer<String> taker) {
    return new Watch(vertx, "dev.redlock.vertx.internal.", COLD_NANOS, taker);
  }

  /** Samples the event loops until it is closed. */
  static final class Watch implements AutoCloseable {
    private final RunShare share = new RunShare();
    private volatile boolean closed;

    private Watch(Vertx vertx, String code, long limitNanos, Consumer<String> taker) {
      Thread sampler = new Thread(this::sample, "sleeper");
      sampler.setDaemon(true);
      sampler.start();
      ((VertxInternal) vertx)
          .blockedThreadChecker()
          .setThreadBlockedHandler(
              event -> check(event.thread(), event.duration(), code, limitNanos, taker));
    }

    private void check(
        Thread thread, long nanos, String code, long limitNanos, Consumer<String> taker) {
      long own = share.own(thread, nanos);
      StackTraceElement[] stack = thread.getStackTrace();
      // Vert.x and the cluster managers block event loops too when they start and end.
      boolean ours = Arrays.stream(stack).anyMatch(e -> e.getClassName().startsWith(code));
      if (own >= limitNanos && ours && thread.getName().startsWith("vert.x-eventloop")) {
        taker.accept(
            Arrays.stream(stack)
                .map(e -> "\n  " + e)
                .collect(Collectors.joining("", thread + " for " + own / 1_000_000 + " ms", "")));
      }
    }

    private void sample() {
      while (!closed) {
        share.sample();
        BusIT.parkMillis(5);
      }
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  static VertxOptions options() {
    return new VertxOptions()
        .setEventLoopPoolSize(2)
        .setBlockedThreadCheckInterval(10)
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

  /** The event loops that were blocked so far. */
  List<String> blocked() {
    return blocked;
  }

  /**
   * From now on this class blocks event loops on purpose: at the end there must be reports, and all
   * of them must name it. Nothing is removed, because a report can arrive after its cause is over.
   */
  void expectBlockedBy(Class<?> culprit) {
    this.culprit = culprit.getName();
  }

  /** A client whose nodes vote. */
  VertxRedlock client(RedlockOptions options) {
    return voting(VertxRedlock.create(vertx, options));
  }

  static VertxRedlock voting(VertxRedlock client) {
    get(client.ready());
    Awaitility.await()
        .atMost(20, TimeUnit.SECONDS)
        .pollInterval(5, TimeUnit.MILLISECONDS)
        .untilAsserted(
            () ->
                assertThat(client.redlock().operations().nodes())
                    .allMatch(n -> n.state() == NodeState.State.VOTING));
    return client;
  }

  /** With more runnable threads than cores, short times measure the scheduler. */
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
    watch.close();
    if (culprit.isEmpty()) {
      assertThat(blocked).as("blocked event loops").isEmpty();
    } else {
      assertThat(blocked)
          .as("event loops that " + culprit + " blocked")
          .isNotEmpty()
          .allMatch(stack -> stack.contains(culprit));
    }
  }
}
