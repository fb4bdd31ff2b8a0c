package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.helpers.NOPLogger;

class OwedCleanupsTest {
  private static final int MOST = 50;

  private final OwedCleanups owed = new OwedCleanups(3, MOST, NOPLogger.NOP_LOGGER);
  private final List<String> gaveUp = new ArrayList<>();

  /** Owes one order to the first node for each release. */
  private final class Name implements OwedCleanups.Debtor {
    private final String name;
    private int orders;

    Name(String name) {
      this.name = name;
    }

    void released() {
      change(1);
    }

    void confirmed() {
      change(-1);
    }

    private void change(int by) {
      orders += by;
      owed.add(this, new int[] {by, 0, 0}, orders > 0);
    }

    @Override
    public void giveUpOldest() {
      gaveUp.add(name);
      change(-1);
    }
  }

  @Test
  void tooMany_thoseWhoOweForLongestGiveUp_notTheNewest() {
    List<Name> names = new ArrayList<>();
    for (int i = 0; i < MOST + 10; i++) {
      names.add(new Name("n" + i));
      names.get(i).released();
    }

    assertThat(owed.of(0)).isEqualTo(MOST);
    // The first few owed before it was noted who does.
    assertThat(gaveUp).hasSize(10).startsWith("n4", "n5", "n6").doesNotContain("n49", "n59");
  }

  @Test
  void tooMany_oneNameWithAllOfThem_givesUpOneForEachNewOne() {
    Name only = new Name("only");
    for (int i = 0; i < 3 * MOST; i++) {
      only.released();
    }

    assertThat(owed.of(0)).isEqualTo(MOST);
    assertThat(gaveUp).hasSize(2 * MOST);
  }

  @Test
  void confirmed_isNoDebtorAnyMore() {
    Deque<Name> oldest = new ArrayDeque<>();
    for (int i = 0; i < MOST; i++) {
      oldest.add(new Name("old" + i));
      oldest.getLast().released();
    }
    while (!oldest.isEmpty()) {
      oldest.remove().confirmed();
    }
    for (int i = 0; i <= MOST; i++) {
      new Name("new" + i).released();
    }

    assertThat(gaveUp).singleElement().asString().startsWith("new");
  }
}
