package dev.redlock.spring;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.ssl.SslBundle;

/**
 * The addresses of masters. If there is no bean of this type, the properties {@code redlock.nodes},
 * {@code redlock.username}, {@code redlock.password} and {@code redlock.ssl.bundle} apply. If there
 * are several beans, the client uses the nodes of all.
 */
public interface RedlockConnectionDetails extends ConnectionDetails {

  /** The URIs of the masters: {@code redis://host:port}, or {@code rediss://} for TLS. */
  List<String> nodes();

  /** The user of all these masters; null for that of the URI. */
  default @Nullable String username() {
    return null;
  }

  /** The password of all these masters; null for that of the URI. */
  default @Nullable String password() {
    return null;
  }

  /**
   * Trust and keys for {@code rediss://}; null for those of the platform. The client asks at each
   * new connection, so the bundle may be reloaded; whether there is one must not change.
   */
  default @Nullable SslBundle sslBundle() {
    return null;
  }

  /**
   * Whether these masters are started for this application and end with it, as containers of a test
   * do. If all masters are temporary, they vote at once, unless {@code redlock.restart-guard} says
   * otherwise.
   */
  default boolean temporary() {
    return false;
  }
}
