package dev.redlock.election;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.election.LeaderElection.StopReason;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class StartGateTest {
  private static StartGate gate(BooleanSupplier valid) {
    return new StartGate(
        (Lease)
            Proxy.newProxyInstance(
                StartGateTest.class.getClassLoader(),
                new Class<?>[] {Lease.class},
                (lease, method, args) -> valid.getAsBoolean()));
  }

  @Test
  void start_leaseValid_startsWork_andStopSaysSo() {
    StartGate gate = gate(() -> true);
    assertThat(gate.start()).isTrue();
    assertThat(gate.stop(StopReason.LEASE_LOST)).isTrue();
  }

  @Test
  void start_leaseOver_startsNoWork() {
    StartGate gate = gate(() -> false);
    assertThat(gate.start()).isFalse();
    assertThat(gate.stop(StopReason.LEASE_LOST)).isFalse();
  }

  /**
   * The validity is read from a clock that the user may supply. The queue of the lock stops the
   * work, and must not wait for that clock.
   */
  @Test
  void stop_clockBlocksInStart_doesNotWait_andWorkIsNotStarted() {
    StartGate[] gate = new StartGate[1];
    gate[0] =
        gate(
            () -> {
              CompletableFuture<Boolean> stopped =
                  CompletableFuture.supplyAsync(() -> gate[0].stop(StopReason.LEASE_LOST));
              assertThat(stopped.orTimeout(30, TimeUnit.SECONDS).join()).isFalse();
              return true;
            });
    assertThat(gate[0].start()).isFalse();
  }
}
