package dev.redlock.spring.boot;

import dev.redlock.micrometer.RedlockMetrics;
import dev.redlock.spring.RedlockBuilderCustomizer;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/**
 * The meters of the client, if {@code redlock-micrometer} is there. Spring Boot binds them to its
 * registries, because they are a {@link MeterBinder}.
 */
@AutoConfiguration(before = RedlockAutoConfiguration.class)
@ConditionalOnClass({RedlockMetrics.class, MeterBinder.class})
@ConditionalOnProperty(prefix = "redlock", name = "enabled", matchIfMissing = true)
public class RedlockMetricsAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  RedlockMetrics redlockMetrics() {
    return RedlockMetrics.create();
  }

  @Bean
  RedlockBuilderCustomizer redlockMetricsCustomizer(RedlockMetrics metrics) {
    return builder -> builder.listener(metrics);
  }
}
