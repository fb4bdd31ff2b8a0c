package dev.redlock.spring.boot;

import dev.redlock.spring.RedlockConnectionDetails;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;

/** The masters of {@code redlock.nodes}. */
record PropertiesConnectionDetails(RedlockProperties properties, @Nullable SslBundle sslBundle)
    implements RedlockConnectionDetails {

  @Override
  public List<String> nodes() {
    return properties.getNodes();
  }

  @Override
  public @Nullable String username() {
    return properties.getUsername();
  }

  @Override
  public @Nullable String password() {
    return properties.getPassword();
  }

  @Override
  public String toString() {
    return "redlock.nodes"; // The password is not for logs.
  }
}
