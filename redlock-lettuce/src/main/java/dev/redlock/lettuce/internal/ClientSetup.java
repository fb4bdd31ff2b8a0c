package dev.redlock.lettuce.internal;

import dev.redlock.lettuce.LettuceLockNode;
import dev.redlock.lettuce.LettuceOptions;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import javax.net.ssl.SSLParameters;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Translates the options of a node into those of a Lettuce client. */
public final class ClientSetup {
  private static final Logger log = LoggerFactory.getLogger(LettuceLockNode.class);

  private ClientSetup() {}

  /** Options of a client that never reconnects by itself. */
  public static ClientOptions withoutReconnecting(LettuceOptions options) {
    return withoutReconnecting(options, options.connectTimeout());
  }

  /**
   * Options of a client that never reconnects by itself.
   *
   * @param patience how long a TLS handshake may take
   */
  static ClientOptions withoutReconnecting(LettuceOptions options, Duration patience) {
    ClientOptions.Builder builder =
        ClientOptions.builder()
            .autoReconnect(false)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .protocolVersion(ProtocolVersion.RESP3)
            // Each round has its own deadline. Lettuce's timer has a tick of 100 ms.
            .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build());
    connecting(builder, options, patience);
    return builder.build();
  }

  /**
   * Sets how to connect, and fixed timeouts. New credentials of a provider that streams them are
   * sent on the connection at once, between two requests: a server that ends connections with old
   * credentials then ends none.
   */
  public static void connecting(ClientOptions.Builder builder, LettuceOptions options) {
    connecting(builder, options, options.connectTimeout());
  }

  private static void connecting(
      ClientOptions.Builder builder, LettuceOptions options, Duration patience) {
    Duration timeout = options.connectTimeout();
    builder
        .socketOptions(SocketOptions.builder().connectTimeout(timeout).tcpNoDelay(true).build())
        .sslOptions(new CurrentSslOptions(options, patience))
        .reauthenticateBehavior(ClientOptions.ReauthenticateBehavior.ON_NEW_CREDENTIALS);
    withoutMaintenanceEvents(builder);
  }

  /** Sets the credentials, and the longest time from connect to login. */
  public static RedisURI configured(RedisURI uri, LettuceOptions options, Duration patience) {
    uri.setTimeout(patience);
    if (options.credentials() != null) {
      uri.setCredentialsProvider(options.credentials());
    }
    return uri;
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

  /**
   * Trust and keys as they are when a connection is made, because certificates are replaced. An
   * object of Lettuce keeps the managers that it was given, and a client that reconnects by itself
   * keeps its options.
   */
  private static final class CurrentSslOptions extends SslOptions {
    private final LettuceOptions options;

    CurrentSslOptions(LettuceOptions options, Duration patience) {
      super(SslOptions.builder().handshakeTimeout(patience));
      this.options = options;
    }

    @Override
    public SslContextBuilder createSslContextBuilder()
        throws IOException, GeneralSecurityException {
      return current().createSslContextBuilder();
    }

    @Override
    public SSLParameters createSSLParameters() {
      return current().createSSLParameters();
    }

    private SslOptions current() {
      SslOptions given = options.sslOptions();
      return given == null ? SslOptions.create() : given;
    }
  }
}
