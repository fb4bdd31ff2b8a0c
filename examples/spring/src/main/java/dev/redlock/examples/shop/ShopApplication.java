package dev.redlock.examples.shop;

import dev.redlock.spring.RedlockConnectionDetails;
import dev.redlock.testkit.RedisNodes;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * Sells coupons from a table, under a lock on three masters that the application starts itself. An
 * application in production names its masters in {@code redlock.nodes} instead.
 */
@SpringBootApplication
@EnableScheduling
@EnableSchedulerLock(defaultLockAtMostFor = "10m")
class ShopApplication {

  public static void main(String[] args) {
    SpringApplication.run(ShopApplication.class, args);
  }

  /** Three Redis servers on the loopback address, which end with the application. */
  @Bean(destroyMethod = "close")
  RedisNodes masters() {
    return RedisNodes.start(3);
  }

  @Bean
  RedlockConnectionDetails masterAddresses(RedisNodes masters) {
    return masters::uris;
  }
}
