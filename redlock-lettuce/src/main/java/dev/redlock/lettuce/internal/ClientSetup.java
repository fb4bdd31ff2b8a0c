package dev.redlock.lettuce.internal;

import static dev.redlock.redis.internal.OperatorLog.log;
import static java.util.Objects.requireNonNull;

import dev.redlock.lettuce.Credentials;
import dev.redlock.lettuce.CredentialsSource;
import dev.redlock.lettuce.LettuceOptions;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;

/** Translates the options of a node into those of a Lettuce client. */
final class ClientSetup {
  private ClientSetup() {}

  /**
   * What is the same for each connection of a client: fixed timeouts, and that the client never
   * reconnects by itself. Lettuce would ask for credentials, trust and keys on an event loop then.
   * New credentials of a source that has updates are sent on the connection at once, between two
   * requests: a server that ends connections with old credentials then ends none.
   */
  static ClientOptions base(LettuceOptions options) {
    Duration timeout = options.connectTimeout();
    ClientOptions.Builder builder =
        ClientOptions.builder()
            .protocolVersion(ProtocolVersion.RESP3)
            .autoReconnect(false)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            // Each round has its own deadline. Lettuce's timer has a tick of 100 ms.
            .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
            .socketOptions(SocketOptions.builder().connectTimeout(timeout).tcpNoDelay(true).build())
            .reauthenticateBehavior(ClientOptions.ReauthenticateBehavior.ON_NEW_CREDENTIALS);
    withoutMaintenanceEvents(builder);
    return builder.build();
  }

  /**
   * Asks for what one connection needs, each time, because passwords and certificates are replaced:
   * credentials, trust and keys. This may block: the user's suppliers may, and so may their files.
   *
   * @param uri receives the credentials, and the longest time from connect to login
   * @param patience how long TLS handshake and login may take, each
   * @return trust and keys, read from their files
   */
  static SslOptions prepare(
      RedisURI uri, LettuceOptions options, Duration patience, BlockingCalls calls)
      throws Exception {
    uri.setTimeout(patience);
    CredentialsSource source = options.credentials();
    if (source != null) {
      Credentials now = CleanThreads.await(source.credentials().toCompletableFuture());
      if (now == null) {
        throw new IOException("the provider of credentials gave none");
      }
      Flow.Publisher<Credentials> updates = source.updates();
      uri.setCredentialsProvider(new Resolved(lettuces(now), updates, updates != null, calls));
    }
    return uri.isSsl() ? new ReadSslOptions(options.sslOptions(), patience) : SslOptions.create();
  }

  /**
   * Switches off that Lettuce extends timeouts during the maintenance of a Redis service, as it
   * does since 7.0: the timeouts belong to the protocol. By reflection, because 6.x has no such
   * option.
   */
  private static void withoutMaintenanceEvents(ClientOptions.Builder builder) {
    try {
      Class<?> type =
          Class.forName(
              "io.lettuce.core.MaintNotificationsConfig",
              true,
              ClientOptions.class.getClassLoader());
      Object disabled = type.getMethod("disabled").invoke(null);
      ClientOptions.Builder.class
          .getMethod("maintNotificationsConfig", type)
          .invoke(builder, disabled);
    } catch (ClassNotFoundException | NoSuchMethodException e) {
      log.debug("this version of Lettuce has no maintenance events");
    } catch (IllegalAccessException | InvocationTargetException e) {
      log.warn("Lettuce's maintenance events cannot be switched off: {}", e.toString());
    }
  }

  private static RedisCredentials lettuces(Credentials given) {
    return RedisCredentials.just(given.username(), given.password());
  }

  /**
   * Credentials that are known, because Lettuce asks for them on an event loop. A stream of further
   * ones begins on a thread of its own.
   */
  private record Resolved(
      RedisCredentials resolveCredentialsNow,
      Flow.@Nullable Publisher<Credentials> updates,
      boolean supportsStreaming,
      BlockingCalls calls)
      implements RedisCredentialsProvider.ImmediateRedisCredentialsProvider {
    @Override
    public Flux<RedisCredentials> credentials() {
      Executor threads = calls.executor("the stream of credentials");
      return JdkFlowAdapter.flowPublisherToFlux(requireNonNull(updates))
          .map(ClientSetup::lettuces)
          .subscribeOn(Schedulers.fromExecutor(threads));
    }
  }

  /** Trust and keys that are read, because Lettuce asks for them on an event loop. */
  private static final class ReadSslOptions extends SslOptions {
    private final SslContextBuilder context;
    private final SSLParameters parameters;

    ReadSslOptions(@Nullable SslOptions given, Duration patience)
        throws IOException, GeneralSecurityException {
      super(SslOptions.builder().handshakeTimeout(patience));
      SslOptions options = given == null ? SslOptions.create() : given;
      context = options.createSslContextBuilder();
      parameters = options.createSSLParameters();
      if (given == null) {
        TrustManagerFactory platform =
            TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        platform.init((KeyStore) null); // Otherwise Netty reads its file.
        context.trustManager(platform);
      }
    }

    @Override
    public SslContextBuilder createSslContextBuilder() {
      return context;
    }

    @Override
    public SSLParameters createSSLParameters() {
      return parameters;
    }
  }
}
