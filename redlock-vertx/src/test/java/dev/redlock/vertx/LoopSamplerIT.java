package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Verifies that the sampler finds blocked event loops. */
class LoopSamplerIT {
  private static final long STALL_MILLIS = 60;
  private static final Object MONITOR = new Object();

  /** Ways to block a thread. */
  enum Stall {
    SLEEPING("TIMED_WAITING") {
      @Override
      void stand() throws InterruptedException {
        Thread.sleep(STALL_MILLIS);
      }
    },
    BLOCKED("BLOCKED") {
      @Override
      void stand() {
        Thread owner =
            new Thread(
                () -> {
                  synchronized (MONITOR) {
                    BusIT.parkMillis(STALL_MILLIS);
                  }
                });
        owner.start();
        while (owner.getState() != Thread.State.TIMED_WAITING
            && owner.getState() != Thread.State.TERMINATED) {
          Thread.onSpinWait();
        }
        synchronized (MONITOR) {
          assertThat(owner).isNotNull();
        }
      }
    };

    private final String state;

    Stall(String state) {
      this.state = state;
    }

    abstract void stand() throws InterruptedException;
  }

  @ParameterizedTest
  @EnumSource(Stall.class)
  void sampler_loopStandsStillInOurCode_isSeenWithItsState(Stall stall) {
    Vertx vertx = Vertx.vertx(CheckedVertx.options());
    try (LoopSampler sampler = new LoopSampler()) {
      Awaitility.await()
          .atMost(30, TimeUnit.SECONDS)
          .pollInterval(1, TimeUnit.MILLISECONDS)
          .until(() -> sampler.samples() > 5 || loopAsked(vertx, () -> {}));
      assertThat(sampler.stalled()).as("of an idle loop").isEmpty();
      Awaitility.await()
          .atMost(
              30,
              TimeUnit.SECONDS) // One sample is enough; the long timeout is for a starved machine.
          .pollInSameThread()
          .pollDelay(1, TimeUnit.MILLISECONDS)
          .until(
              () -> {
                loopAsked(vertx, stall::stand);
                return !sampler.stalled().isEmpty();
              });
      assertThat(sampler.stalled()).allMatch(stack -> stack.startsWith(stall.state));
    } finally {
      CheckedVertx.get(vertx.close());
    }
  }

  @Test
  void checker_loopStandsStillForTooLong_reportsIt() {
    try (CheckedVertx checked = CheckedVertx.start()) {
      checked.expectBlockedBy(LoopSamplerIT.class);
      Awaitility.await()
          .atMost(30, TimeUnit.SECONDS)
          .pollInSameThread()
          .pollDelay(1, TimeUnit.MILLISECONDS)
          .until(
              () -> {
                loopAsked(checked.vertx(), () -> Thread.sleep(900));
                return checked.blocked().stream().anyMatch(stack -> stack.contains("Thread.sleep"));
              });
    }
  }

  private interface Task {
    void run() throws InterruptedException;
  }

  /** Blocks an event loop in this way; always returns false. */
  private static boolean loopAsked(Vertx vertx, Task task) {
    Promise<Void> done = Promise.promise();
    vertx.setTimer(
        1,
        fired -> {
          try {
            task.run();
            done.complete();
          } catch (InterruptedException e) {
            done.fail(e);
          }
        });
    CheckedVertx.get(done.future());
    return false;
  }
}
