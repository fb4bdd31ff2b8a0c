package dev.redlock.election;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.election.LeaderElection.StopReason;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class TenureTest {
  private static Tenure tenure(BooleanSupplier valid) {
    return new Tenure(
        (Lease)
            Proxy.newProxyInstance(
                TenureTest.class.getClassLoader(),
                new Class<?>[] {Lease.class},
                (lease, method, args) -> valid.getAsBoolean()));
  }

  @Test
  void begin_leaseValid_startsWork_andStopSaysSo() {
    Tenure tenure = tenure(() -> true);
    assertThat(tenure.begin()).isTrue();
    assertThat(tenure.stop(StopReason.LEASE_LOST)).isTrue();
  }

  @Test
  void begin_leaseOver_startsNoWork() {
    Tenure tenure = tenure(() -> false);
    assertThat(tenure.begin()).isFalse();
    assertThat(tenure.stop(StopReason.LEASE_LOST)).isFalse();
  }

  /**
   * The validity is read from a clock that the user may supply. The queue of the lock stops the
   * work, and must not wait for that clock.
   */
  @Test
  void stop_clockBlocksInBegin_doesNotWait_andWorkIsNotStarted() {
    Tenure[] tenure = new Tenure[1];
    tenure[0] =
        tenure(
            () -> {
              CompletableFuture<Boolean> stopped =
                  CompletableFuture.supplyAsync(() -> tenure[0].stop(StopReason.LEASE_LOST));
              assertThat(stopped.orTimeout(30, TimeUnit.SECONDS).join()).isFalse();
              return true;
            });
    assertThat(tenure[0].begin()).isFalse();
  }
}
