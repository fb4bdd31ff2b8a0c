package dev.redlock.examples.shop;

import dev.redlock.spring.RedlockConnectionDetails;
import dev.redlock.testkit.RedisNodes;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.ConfigurableEnvironment;
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

  /** Prints what a visitor can try. */
  @Bean
  ApplicationListener<ApplicationReadyEvent> invitation() {
    return ready -> {
      ConfigurableEnvironment environment = ready.getApplicationContext().getEnvironment();
      String shop = "http://127.0.0.1:" + environment.getProperty("local.server.port");
      System.out.println("shop: open. Buy a coupon, and look at the locks:");
      System.out.println("  curl -X POST " + shop + "/coupons/spring");
      System.out.println("  curl " + shop + "/actuator/redlock");
    };
  }

  @Bean
  RedlockConnectionDetails masterAddresses(RedisNodes masters) {
    return masters::uris;
  }
}
