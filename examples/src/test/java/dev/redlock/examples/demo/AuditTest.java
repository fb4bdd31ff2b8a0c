package dev.redlock.examples.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class AuditTest {

  @Test
  void audit_ofSalesOneAfterTheOther_findsNothing() {
    Audit audit = Audit.of(List.of("100 1 7", "99 2 8", "98 1 9"), 100, 97);

    assertThat(audit).isEqualTo(new Audit(3, 0, true, true));
  }

  @Test
  void audit_ofCouponSoldTwice_countsItAndMissesItInTheStock() {
    Audit audit = Audit.of(List.of("100 1 7", "100 2 8", "99 1 9"), 100, 98);

    assertThat(audit).isEqualTo(new Audit(3, 1, false, true));
  }

  @Test
  void audit_ofTokenThatRepeats_saysThatTokensDoNotRise() {
    assertThat(Audit.of(List.of("100 1 7", "99 2 7"), 100, 98).tokensRise()).isFalse();
  }

  @Test
  void audit_ofStockWrittenBackByALateHolder_findsIt() {
    // One read 100, slept while the other sold 100, 99 and 98, and then wrote 99.
    Audit audit = Audit.of(List.of("100 2 8", "99 2 9", "98 2 10", "100 1 7"), 100, 99);

    assertThat(audit).isEqualTo(new Audit(4, 1, false, false));
  }
}
