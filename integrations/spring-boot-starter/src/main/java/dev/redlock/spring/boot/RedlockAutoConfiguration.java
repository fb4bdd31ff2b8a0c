package dev.redlock.spring.boot;

import dev.redlock.Redlock;
import dev.redlock.spring.LockOptionsResolver;
import dev.redlock.spring.RedlockBuilderCustomizer;
import dev.redlock.spring.RedlockConnectionDetails;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/** The client from {@code redlock.*}, and its shutdown. */
@AutoConfiguration(after = SslAutoConfiguration.class)
@ConditionalOnProperty(prefix = "redlock", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(RedlockProperties.class)
public class RedlockAutoConfiguration {
  private static final Logger log = LoggerFactory.getLogger(RedlockAutoConfiguration.class);

  @Bean
  @ConditionalOnMissingBean
  RedlockConnectionDetails redlockConnectionDetails(
      RedlockProperties properties, ObjectProvider<SslBundles> bundles) {
    return new PropertiesConnectionDetails(properties, bundle(properties, bundles));
  }

  /** The bundle as it is when it is asked for: Spring Boot may reload it. Null without one. */
  private static @Nullable Supplier<SslBundle> bundle(
      RedlockProperties properties, ObjectProvider<SslBundles> bundles) {
    String name = properties.ssl().bundle();
    if (name == null || name.isBlank()) {
      return null;
    }
    SslBundles all = bundles.getIfAvailable();
    try {
      if (all != null) {
        AtomicReference<SslBundle> current = new AtomicReference<>(all.getBundle(name));
        all.addBundleUpdateHandler(
            name,
            reloaded -> {
              current.set(reloaded);
              log.info("SSL bundle '{}' was reloaded: new connections to the nodes use it", name);
            });
        return current::get;
      }
    } catch (NoSuchSslBundleException e) {
      // The code below reports it with the key.
    }
    throw RedlockProperties.invalid(
        "redlock.ssl.bundle",
        name,
        "there is no such bundle; allowed are "
            + (all == null ? List.of() : all.getBundleNames())
            + ", as configured under spring.ssl.bundle");
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static DurationsWithUnit redlockDurationsWithUnit() {
    return new DurationsWithUnit();
  }

  /** Closed by {@link RedlockLifecycle}; a second close has no effect. */
  @Bean
  @ConditionalOnMissingBean
  Redlock redlock(
      RedlockProperties properties,
      ObjectProvider<RedlockConnectionDetails> details,
      ObjectProvider<RedlockBuilderCustomizer> customizers,
      ObjectProvider<ClientDecorator> decorators) {
    Redlock client =
        new ClientFactory(properties)
            .client(details.orderedStream().toList(), customizers.orderedStream().toList());
    ClientDecorator decorator = decorators.getIfAvailable();
    return decorator == null ? client : decorator.decorate(client);
  }

  /** The name of the application is a part of the default label. */
  @Bean
  RedlockBuilderCustomizer redlockApplicationName(Environment environment) {
    String name = environment.getProperty("spring.application.name", "");
    return builder -> builder.application(name);
  }

  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnSingleCandidate(Redlock.class)
  LockOptionsResolver redlockLockOptionsResolver(RedlockProperties properties, Redlock redlock) {
    return new ClientFactory(properties).resolver(redlock);
  }

  @Bean
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  @ConditionalOnBean(value = Redlock.class, search = SearchStrategy.CURRENT)
  RedlockLifecycle redlockLifecycle(RedlockProperties properties) {
    Duration gracePeriod = properties.shutdown().gracePeriod();
    if (gracePeriod.isNegative()) {
      throw RedlockProperties.invalid(
          "redlock.shutdown.grace-period", gracePeriod, "must not be negative");
    }
    return new RedlockLifecycle(gracePeriod);
  }
}
