package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.lettuce.LettuceOptions;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
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
  void everyClient_boundsConnecting_andListensToNoMaintenance() {
    ClientOptions options = ClientSetup.base(OPTIONS);
    assertThat(options.getSocketOptions().getConnectTimeout()).isEqualTo(TIMEOUT);
    assertThat(listensToMaintenance(options)).isFalse();
    assertThat(listensToMaintenance(options.mutate().build())).isFalse();
    assertThat(options.getReauthenticateBehaviour())
        .isEqualTo(ClientOptions.ReauthenticateBehavior.ON_NEW_CREDENTIALS);
  }

  @Test
  void sslOptionsOfASupplier_areAskedForAtEachConnection_andThenAreAtHand() throws Exception {
    AtomicReference<SslOptions> current = new AtomicReference<>(protocol("TLSv1.2"));
    LettuceOptions options = LettuceOptions.builder().sslOptions(current::get).build();
    SslOptions first = prepare("rediss://h", options);
    assertThat(first.createSSLParameters().getProtocols()).containsExactly("TLSv1.2");
    assertThat(first.getHandshakeTimeout()).isEqualTo(TIMEOUT);

    AtomicInteger contexts = new AtomicInteger();
    current.set(
        protocol("TLSv1.3").mutate().sslContext(context -> contexts.incrementAndGet()).build());

    SslOptions second = prepare("rediss://h", options);
    assertThat(contexts).as("made before an event loop asks").hasValue(1);
    assertThat(second.createSSLParameters().getProtocols()).containsExactly("TLSv1.3");
    assertThat(second.createSslContextBuilder()).isNotNull();
    assertThat(contexts).hasValue(1);
  }

  @Test
  void connectionWithoutTls_asksForNoTrust() throws Exception {
    LettuceOptions options =
        LettuceOptions.builder()
            .sslOptions(
                () -> {
                  throw new AssertionError("asked");
                })
            .build();
    assertThat(prepare("redis://h", options)).isNotNull();
  }

  private static SslOptions prepare(String uri, LettuceOptions options) throws Exception {
    return ClientSetup.prepare(
        RedisURI.create(uri), options, TIMEOUT, new BlockingCalls(Runnable::run));
  }

  private static SslOptions protocol(String name) {
    return SslOptions.builder().protocols(name).build();
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
    ClientOptions options = ClientSetup.base(OPTIONS);
    assertThat(options.isAutoReconnect()).isFalse();
    assertThat(options.getDisconnectedBehavior())
        .isEqualTo(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS);
  }
}
