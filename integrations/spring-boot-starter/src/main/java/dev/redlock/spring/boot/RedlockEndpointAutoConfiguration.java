package dev.redlock.spring.boot;

import dev.redlock.Redlock;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/**
 * The endpoint {@code redlock}, if the Actuator is there and exposes it. Is processed before the
 * client is made, whose events it needs.
 */
@AutoConfiguration
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnProperty(prefix = "redlock", name = "enabled", matchIfMissing = true)
@ConditionalOnAvailableEndpoint(RedlockEndpoint.class)
public class RedlockEndpointAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean
  HeldLeases redlockHeldLeases() {
    return new HeldLeases();
  }

  @Bean
  @ConditionalOnMissingBean
  RedlockEndpoint redlockEndpoint(
      ObjectProvider<Redlock> clients, HeldLeases held, RedlockProperties properties) {
    Redlock redlock = clients.getIfUnique();
    if (redlock == null) {
      throw new IllegalStateException(
          "the endpoint redlock shows one client; make one bean of "
              + Redlock.class.getName()
              + " @Primary");
    }
    return new RedlockEndpoint(redlock, held, properties.endpoint().breakEnabled());
  }
}
