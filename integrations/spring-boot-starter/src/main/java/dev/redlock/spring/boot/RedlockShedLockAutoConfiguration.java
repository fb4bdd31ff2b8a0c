package dev.redlock.spring.boot;

import dev.redlock.Redlock;
import dev.redlock.shedlock.RedlockLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** The lock provider for ShedLock, if {@code redlock-shedlock} is there. */
@AutoConfiguration(after = RedlockAutoConfiguration.class)
@ConditionalOnClass({LockProvider.class, RedlockLockProvider.class})
@ConditionalOnSingleCandidate(Redlock.class)
public class RedlockShedLockAutoConfiguration {

  @Bean
  @ConditionalOnMissingBean(LockProvider.class)
  RedlockLockProvider redlockLockProvider(Redlock redlock) {
    return new RedlockLockProvider(redlock);
  }
}
