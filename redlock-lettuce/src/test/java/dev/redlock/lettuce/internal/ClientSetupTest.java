package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.lettuce.LettuceOptions;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import java.lang.reflect.Method;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ClientSetupTest {
  private static final Duration TIMEOUT = Duration.ofMillis(321);
  private static final LettuceOptions OPTIONS =
      LettuceOptions.builder().connectTimeout(TIMEOUT).build();

  @Test
  void everyClient_alsoThatOfACluster_boundsConnectingAndListensToNoMaintenance() {
    ClusterClientOptions.Builder cluster = ClusterClientOptions.builder();
    ClientSetup.connecting(cluster, OPTIONS);
    assertBounded(cluster.build());
    assertBounded(ClientSetup.withoutReconnecting(OPTIONS));
  }

  private static void assertBounded(ClientOptions options) {
    assertThat(options.getSocketOptions().getConnectTimeout()).isEqualTo(TIMEOUT);
    assertThat(options.getSslOptions().getHandshakeTimeout()).isEqualTo(TIMEOUT);
    assertThat(listensToMaintenance(options)).isFalse();
    assertThat(options.getReauthenticateBehaviour())
        .isEqualTo(ClientOptions.ReauthenticateBehavior.ON_NEW_CREDENTIALS);
  }

  /** Lettuce 6 has no such option. */
  private static boolean listensToMaintenance(ClientOptions options) {
    for (Method method : ClientOptions.class.getMethods()) {
      if (method.getName().equals("getMaintNotificationsConfig")) {
        try {
          Object config = method.invoke(options);
          return (boolean) config.getClass().getMethod("maintNotificationsEnabled").invoke(config);
        } catch (ReflectiveOperationException e) {
          throw new LinkageError(e.getMessage(), e);
        }
      }
    }
    return false;
  }

  @Test
  void withoutReconnecting_sendsNothingAgain_andRefusesWhatItCannotSend() {
    ClientOptions options = ClientSetup.withoutReconnecting(OPTIONS);
    assertThat(options.isAutoReconnect()).isFalse();
    assertThat(options.getDisconnectedBehavior())
        .isEqualTo(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS);
  }
}
