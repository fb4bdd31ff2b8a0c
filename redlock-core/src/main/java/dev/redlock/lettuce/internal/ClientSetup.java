package dev.redlock.lettuce.internal;

import dev.redlock.lettuce.LettuceOptions;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.protocol.ProtocolVersion;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the options of a node mean to a client of Lettuce, whatever it is for. */
public final class ClientSetup {
  private static final Logger log = LoggerFactory.getLogger(ClientSetup.class);

  private ClientSetup() {}

  /** For connections that are made by whoever uses them, and never anew by Lettuce itself. */
  public static ClientOptions withoutReconnecting(LettuceOptions options) {
    ClientOptions.Builder builder =
        ClientOptions.builder()
            .autoReconnect(false)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .protocolVersion(ProtocolVersion.RESP3)
            // Each round has its own deadline; Lettuce's has a tick of 100 ms.
            .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build());
    connecting(builder, options);
    return builder.build();
  }

  /** How connections are made, and that nobody stretches their time-outs. */
  public static void connecting(ClientOptions.Builder builder, LettuceOptions options) {
    Duration timeout = options.connectTimeout();
    SslOptions ssl = options.sslOptions() == null ? SslOptions.create() : options.sslOptions();
    builder
        .socketOptions(SocketOptions.builder().connectTimeout(timeout).tcpNoDelay(true).build())
        .sslOptions(ssl.mutate().handshakeTimeout(timeout).build());
    withoutMaintenanceEvents(builder);
  }

  /** Sets who logs in, and for how long a connection may take from first to last. */
  public static RedisURI dressed(RedisURI uri, LettuceOptions options, Duration patience) {
    uri.setTimeout(patience);
    if (options.credentials() != null) {
      uri.setCredentialsProvider(options.credentials());
    }
    return uri;
  }

  /**
   * Since 7.0 Lettuce stretches time-outs when a Redis service announces maintenance, and asks the
   * server for such announcements. Ours are the protocol's, and not to be stretched. By reflection,
   * because 6.x has no such thing.
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
      log.debug("this Lettuce has no maintenance events");
    } catch (IllegalAccessException | InvocationTargetException e) {
      log.warn("Lettuce's maintenance events cannot be switched off: {}", e.toString());
    }
  }
}
