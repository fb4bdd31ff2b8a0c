package dev.redlock.spring.boot;

import dev.redlock.spring.RedlockConnectionDetails;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;

/** The masters of {@code redlock.nodes}. */
record PropertiesConnectionDetails(
    RedlockProperties properties, @Nullable Supplier<SslBundle> bundle)
    implements RedlockConnectionDetails {

  @Override
  public List<String> nodes() {
    return properties.nodes();
  }

  @Override
  public @Nullable String username() {
    return properties.username();
  }

  @Override
  public @Nullable String password() {
    return properties.password();
  }

  @Override
  public @Nullable SslBundle sslBundle() {
    return bundle == null ? null : bundle.get();
  }

  @Override
  public String toString() {
    return "redlock.nodes"; // The password is not for logs.
  }
}
