package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.lettuce.LettuceOptions;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
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

  @Test
  void sslOptionsOfASupplier_areAskedForAtEachConnection() throws Exception {
    AtomicReference<SslOptions> current = new AtomicReference<>(protocol("TLSv1.2"));
    LettuceOptions options = LettuceOptions.builder().sslOptions(current::get).build();
    SslOptions ofClient = ClientSetup.withoutReconnecting(options).getSslOptions();
    assertThat(ofClient.createSSLParameters().getProtocols()).containsExactly("TLSv1.2");

    AtomicInteger contexts = new AtomicInteger();
    current.set(
        protocol("TLSv1.3").mutate().sslContext(context -> contexts.incrementAndGet()).build());

    assertThat(ofClient.createSSLParameters().getProtocols()).containsExactly("TLSv1.3");
    ofClient.createSslContextBuilder();
    assertThat(contexts).hasValue(1);
  }

  private static SslOptions protocol(String name) {
    return SslOptions.builder().protocols(name).build();
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
