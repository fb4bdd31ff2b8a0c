package dev.redlock.election;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.election.LeaderElection.State;
import dev.redlock.election.LeaderElection.StopReason;
import dev.redlock.internal.election.ElectionClient;
import dev.redlock.operations.Operations;
import dev.redlock.spi.Time;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/**
 * Tenures whose work cannot be started, or cannot be watched. A lease without work must end, and
 * work must not continue without its stop margin.
 */
class ElectionTest {
  private final Queue<Runnable> userTasks = new ArrayDeque<>();
  private final Queue<Runnable> timers = new ArrayDeque<>();
  private final List<StopReason> stops = new ArrayList<>();
  private int starts;
  private int releases;
  private boolean releaseThrows;

  /** What startWork returns. */
  private CompletionStage<?> started = CompletableFuture.completedFuture(null);

  /** What stopWork returns. */
  private CompletionStage<?> stopped = CompletableFuture.completedFuture(null);

  private LeaderElection electionWith(BooleanSupplier valid) {
    return electionWith(valid, () -> LockOptions.defaults().leaseTime());
  }

  private LeaderElection electionWith(BooleanSupplier valid, Supplier<Duration> left) {
    Lease lease =
        proxy(
            Lease.class,
            (self, method, args) ->
                switch (method.getName()) {
                  case "isValid" -> valid.getAsBoolean();
                  case "remainingValidity" -> left.get();
                  case "releaseAsync" -> {
                    releases++;
                    if (releaseThrows) {
                      throw new IllegalStateException("decorated");
                    }
                    yield CompletableFuture.completedFuture(null);
                  }
                  default -> throw new UnsupportedOperationException(method.getName());
                });
    DistributedLock lock =
        proxy(
            DistributedLock.class,
            (self, method, args) ->
                method.getName().equals("tryAcquireAsync")
                    ? CompletableFuture.completedFuture(Optional.of(lease))
                    : new CompletableFuture<Lease>());
    Time.Cancellable timer = () -> {};
    Redlock client =
        (Redlock)
            Proxy.newProxyInstance(
                ElectionTest.class.getClassLoader(),
                new Class<?>[] {Redlock.class, Operations.class, ElectionClient.class},
                (self, method, args) ->
                    switch (method.getName()) {
                      case "defaultOptions" -> LockOptions.defaults();
                      case "operations", "unwrap" -> self;
                      case "lock" -> lock;
                      case "schedule" -> {
                        timers.add((Runnable) args[0]);
                        yield timer;
                      }
                      case "executor" -> (Executor) userTasks::add;
                      case "isClosed" -> false;
                      case "onEnd", "onClosing", "report", "log" -> null;
                      default -> throw new UnsupportedOperationException(method.getName());
                    });
    return LeaderElection.builder(
            client,
            "a",
            new LeaderElection.Work() {
              @Override
              public CompletionStage<?> startWork(Lease under) {
                starts++;
                return started;
              }

              @Override
              public CompletionStage<?> stopWork(StopReason reason) {
                stops.add(reason);
                return stopped;
              }
            })
        .build();
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            ElectionTest.class.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private void runUserTasks() {
    while (!userTasks.isEmpty()) {
      try {
        userTasks.remove().run();
      } catch (RuntimeException ignored) {
        // As an executor does: it logs the exception and continues.
      }
    }
  }

  @Test
  void start_leaseValid_startsWorkAndKeepsTheLease() {
    LeaderElection election = electionWith(() -> true);
    election.start();
    runUserTasks();
    assertThat(starts).isEqualTo(1);
    assertThat(releases).isZero();
    assertThat(election.state()).isEqualTo(State.WORKING);
  }

  /** The lease may be extended after this check. Then only the tenure releases it. */
  @Test
  void start_leaseNotValidWhenWorkIsToStart_releasesTheLease() {
    LeaderElection election = electionWith(() -> false);
    election.start();
    runUserTasks();
    assertThat(starts).isZero();
    assertThat(stops).isEmpty();
    assertThat(releases).isEqualTo(1);
    assertThat(election.state()).isEqualTo(State.WAITING);
  }

  @Test
  void start_clockThrowsWhenWorkIsToStart_releasesTheLease() {
    LeaderElection election =
        electionWith(
            () -> {
              throw new IllegalStateException("clock");
            });
    election.start();
    runUserTasks();
    assertThat(starts).isZero();
    assertThat(stops).isEmpty();
    assertThat(releases).isEqualTo(1);
    assertThat(election.state()).isEqualTo(State.WAITING);
  }

  @Test
  void watch_clockThrowsWhileWorkRuns_stopsWorkAndReleasesTheLease() {
    boolean[] broken = {false};
    LeaderElection election =
        electionWith(
            () -> true,
            () -> {
              if (broken[0]) {
                throw new IllegalStateException("clock");
              }
              return LockOptions.defaults().leaseTime();
            });
    election.start();
    runUserTasks();
    broken[0] = true;
    timers.remove().run();
    runUserTasks();
    assertThat(starts).isEqualTo(1);
    assertThat(stops).containsExactly(StopReason.LEASE_ENDING);
    assertThat(releases).isEqualTo(1);
    assertThat(election.state()).isEqualTo(State.WAITING);
  }

  /** A stage of the user's own that calls its dependent whenever it likes. */
  private static final class ForeignStage extends CompletableFuture<Void> {
    private final List<BiConsumer<? super Void, ? super Throwable>> dependents = new ArrayList<>();

    @Override
    public CompletableFuture<Void> whenComplete(
        BiConsumer<? super Void, ? super Throwable> dependent) {
      dependents.add(dependent);
      return this;
    }

    void tell() {
      dependents.forEach(dependent -> dependent.accept(null, null));
    }
  }

  /** Without the fix the election forgets the second tenure, and its work is never stopped. */
  @Test
  void stop_workThatStopsTwice_endsNoOtherTenure() {
    ForeignStage foreign = new ForeignStage();
    stopped = foreign;
    LeaderElection election = electionWith(() -> true);
    election.start();
    runUserTasks();
    election.stop();
    runUserTasks();
    foreign.tell();
    assertThat(election.state()).isEqualTo(State.IDLE);
    election.start();
    runUserTasks();

    foreign.tell();

    assertThat(starts).isEqualTo(2);
    assertThat(election.state()).isEqualTo(State.WORKING);
    election.stop();
    runUserTasks();
    assertThat(stops).containsExactly(StopReason.STOPPED, StopReason.STOPPED);
  }

  private static final class Unprintable extends RuntimeException {
    private static final long serialVersionUID = 1;

    @Override
    public String getMessage() {
      throw new IllegalStateException("no message");
    }
  }

  @Test
  void startWork_failureThatCannotBeLogged_releasesTheLease() {
    started = CompletableFuture.failedFuture(new Unprintable());
    LeaderElection election = electionWith(() -> true);
    election.start();
    runUserTasks();
    assertThat(stops).containsExactly(StopReason.WORK_FAILED);
    assertThat(releases).isEqualTo(1);
  }

  /** The user may have decorated the lease. The client extends it all the same. */
  @Test
  void watch_extensionThrows_continuesToWatch() {
    Duration[] left = {LockOptions.defaults().leaseTime()};
    LeaderElection election = electionWith(() -> true, () -> left[0]);
    election.start();
    runUserTasks();
    left[0] = left[0].dividedBy(3);
    timers.remove().run();
    assertThat(election.state()).isEqualTo(State.RENEWING);

    left[0] = Duration.ofMillis(1);
    timers.remove().run();
    runUserTasks();

    assertThat(stops).containsExactly(StopReason.LEASE_ENDING);
  }

  @Test
  void stop_releaseThrows_completes() {
    releaseThrows = true;
    LeaderElection election = electionWith(() -> true);
    election.start();
    runUserTasks();
    CompletableFuture<Void> stop = election.stop().toCompletableFuture();
    runUserTasks();
    assertThat(stop).isCompleted();
    assertThat(election.state()).isEqualTo(State.IDLE);
    assertThat(election.lease()).isNull();
  }
}
