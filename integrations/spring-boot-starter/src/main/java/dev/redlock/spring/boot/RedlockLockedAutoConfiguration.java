package dev.redlock.spring.boot;

import dev.redlock.Redlock;
import dev.redlock.spring.LockOptionsResolver;
import dev.redlock.spring.LockedMethodProcessor;
import dev.redlock.spring.ValidationFirst;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * {@code @Locked} methods. Is there also without a client: then the application must not start with
 * such methods, because they would run without their lock.
 */
@AutoConfiguration
public class RedlockLockedAutoConfiguration {

  /** One in each context: that of a parent does not see the beans of its children. */
  @Bean
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedMethodProcessor redlockLockedMethodProcessor(
      BeanFactory beans, Environment environment) {
    return new LockedMethodProcessor(
        beans.getBeanProvider(Redlock.class),
        beans.getBeanProvider(LockOptionsResolver.class),
        environment);
  }

  @Bean
  @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static ValidationFirst redlockValidationFirst() {
    return new ValidationFirst();
  }
}
