package dev.redlock.examples.shop;

import java.util.OptionalInt;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** {@code GET /coupons/NAME} tells how many are left, {@code POST} buys one. */
@RestController
class ShopController {
  private final Coupons coupons;

  ShopController(Coupons coupons) {
    this.coupons = coupons;
  }

  @GetMapping("/coupons/{name}")
  ResponseEntity<String> remaining(@PathVariable("name") String name) {
    OptionalInt remaining = coupons.remaining(name);
    return remaining.isEmpty()
        ? ResponseEntity.notFound().build()
        : ResponseEntity.ok(remaining.getAsInt() + "\n");
  }

  @PostMapping("/coupons/{name}")
  ResponseEntity<String> buy(@PathVariable("name") String name) {
    if (coupons.remaining(name).isEmpty()) {
      return ResponseEntity.notFound().build();
    }
    OptionalInt left = coupons.sell(name, null);
    return left.isEmpty()
        ? ResponseEntity.status(HttpStatus.GONE).body("sold out\n")
        : ResponseEntity.ok("sold, " + left.getAsInt() + " left\n");
  }
}
