package dev.redlock.spring.boot;

import dev.redlock.micrometer.LockObservationConvention;
import dev.redlock.micrometer.ObservedRedlock;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/**
 * Makes each call of a lock of the auto-configured client an observation, if {@code
 * redlock-micrometer} and a bean of {@link ObservationRegistry} are there.
 */
@AutoConfiguration(before = RedlockAutoConfiguration.class)
@ConditionalOnClass({ObservedRedlock.class, ObservationRegistry.class})
@ConditionalOnProperty(
    name = {"redlock.enabled", "redlock.observation.enabled"},
    matchIfMissing = true)
public class RedlockObservationAutoConfiguration {

  @Bean
  ClientDecorator redlockObservationDecorator(
      ObjectProvider<ObservationRegistry> registries,
      ObjectProvider<LockObservationConvention> conventions) {
    return client -> {
      ObservationRegistry registry = registries.getIfUnique();
      if (registry == null) {
        return client;
      }
      LockObservationConvention convention = conventions.getIfUnique();
      return convention == null
          ? ObservedRedlock.of(client, registry)
          : ObservedRedlock.of(client, registry, convention);
    };
  }
}
