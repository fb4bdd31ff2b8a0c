package dev.redlock.spring.boot;

import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.spring.LockOptionsResolver;
import dev.redlock.spring.integration.RedlockLockRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.support.locks.LockRegistry;

/** The lock registry, if Spring Integration is there. */
@AutoConfiguration(after = RedlockAutoConfiguration.class)
@ConditionalOnClass(LockRegistry.class)
@ConditionalOnSingleCandidate(Redlock.class)
public class RedlockIntegrationAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(LockRegistry.class)
  RedlockLockRegistry redlockLockRegistry(
      Redlock redlock, LockOptionsResolver resolver, RedlockProperties properties) {
    boolean capped = properties.defaults().holdCap() != null;
    return new RedlockLockRegistry(
        redlock,
        properties.registry().prefix(),
        names -> capped ? resolver.options(names) : uncapped(resolver.options(names)));
  }

  /** A leader of Spring Integration holds its lock for as long as it leads. */
  private static LockOptions uncapped(LockOptions options) {
    return options.holdCap().equals(LockOptions.defaults().holdCap())
        ? options.toBuilder().noHoldCap().build()
        : options;
  }
}
