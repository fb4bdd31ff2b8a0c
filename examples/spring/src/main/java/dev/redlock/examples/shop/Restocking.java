package dev.redlock.examples.shop;

import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Fills the stock up now and then, in one of the instances of the shop. */
@Component
class Restocking {
  private static final Logger log = LoggerFactory.getLogger(Restocking.class);

  private final Coupons coupons;
  private final int stock;

  Restocking(Coupons coupons, @Value("${shop.stock}") int stock) {
    this.coupons = coupons;
    this.stock = stock;
  }

  @Scheduled(
      initialDelayString = "${shop.restock-every}",
      fixedDelayString = "${shop.restock-every}")
  @SchedulerLock(name = "restock", lockAtMostFor = "1h", lockAtLeastFor = "1s")
  void restock() {
    coupons.restock("spring", stock, null);
    log.info("restocked: {} coupons", stock);
  }
}
