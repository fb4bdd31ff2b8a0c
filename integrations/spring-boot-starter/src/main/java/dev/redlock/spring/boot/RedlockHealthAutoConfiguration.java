package dev.redlock.spring.boot;

import dev.redlock.Redlock;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;

/** The health of the client, if {@code spring-boot-health} is there. */
@AutoConfiguration(after = RedlockAutoConfiguration.class)
@ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnSingleCandidate(Redlock.class)
@ConditionalOnEnabledHealthIndicator("redlock")
public class RedlockHealthAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(name = "redlockHealthIndicator")
  HealthIndicator redlockHealthIndicator(Redlock redlock) {
    return new RedlockHealthIndicator(redlock);
  }
}
