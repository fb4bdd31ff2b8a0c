package dev.redlock.redis.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeStatus.State;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A node with an objection must not vote, whatever its age and the guard. */
class ObjectionTest {
  private static final NodeIdentity OLD_MASTER =
      new NodeIdentity(
          "run",
          "redis",
          "7",
          9999,
          "master",
          false,
          "noeviction",
          "r",
          0,
          false,
          "",
          0,
          "",
          false,
          0,
          0,
          "");

  @Test
  void objection_toAnOldMaster_keepsItOutUntilItIsWithdrawn() {
    for (RestartGuard guard : RestartGuard.values()) {
      ConnectionStates states = new ConnectionStates(guard, Duration.ofSeconds(30), true, 0);
      Probe probe = new Probe(OLD_MASTER, new Probe.Marker(1, 99_000_000_000L));
      states.onConnected(1);
      states.onProbed(probe, "is the same server as another", 2);
      assertThat(states.status().state()).isEqualTo(State.QUARANTINED);
      assertThat(states.status().cause()).isEqualTo("is the same server as another");
      assertThat(states.status().untilNanos()).isZero();
      assertThat(states.refused()).isTrue();
      states.onTick(Duration.ofHours(1).toNanos());
      assertThat(states.status().state()).isEqualTo(State.QUARANTINED);
      states.onProbed(probe, null, Duration.ofHours(1).toNanos() + 1);
      assertThat(states.status().state()).isEqualTo(State.VOTING);
    }
  }
}
