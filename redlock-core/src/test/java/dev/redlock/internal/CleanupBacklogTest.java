package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.helpers.NOPLogger;

class CleanupBacklogTest {
  private static final int LIMIT = 50;

  private final CleanupBacklog backlog = new CleanupBacklog(3, LIMIT, NOPLogger.NOP_LOGGER);
  private final List<String> gaveUp = new ArrayList<>();

  /** Has one pending release at the first node for each release. */
  private final class Name implements CleanupBacklog.BacklogOwner {
    private final String name;
    private int pending;

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
      pending += by;
      backlog.add(this, new int[] {by, 0, 0}, pending > 0);
    }

    @Override
    public void giveUpOldest() {
      gaveUp.add(name);
      change(-1);
    }
  }

  @Test
  void tooMany_ownersWithTheOldestReleasesGiveUp_notTheNewest() {
    List<Name> names = new ArrayList<>();
    for (int i = 0; i < LIMIT + 10; i++) {
      names.add(new Name("n" + i));
      names.get(i).released();
    }

    assertThat(backlog.of(0)).isEqualTo(LIMIT);
    // The backlog remembers owners from a tenth of its limit on, so not the first few.
    assertThat(gaveUp).hasSize(10).startsWith("n4", "n5", "n6").doesNotContain("n49", "n59");
  }

  @Test
  void tooMany_oneNameWithAllOfThem_givesUpOneForEachNewOne() {
    Name only = new Name("only");
    for (int i = 0; i < 3 * LIMIT; i++) {
      only.released();
    }

    assertThat(backlog.of(0)).isEqualTo(LIMIT);
    assertThat(gaveUp).hasSize(2 * LIMIT);
  }

  @Test
  void confirmed_isNoBacklogOwnerAnyMore() {
    Deque<Name> oldest = new ArrayDeque<>();
    for (int i = 0; i < LIMIT; i++) {
      oldest.add(new Name("old" + i));
      oldest.getLast().released();
    }
    while (!oldest.isEmpty()) {
      oldest.remove().confirmed();
    }
    for (int i = 0; i <= LIMIT; i++) {
      new Name("new" + i).released();
    }

    assertThat(gaveUp).singleElement().asString().startsWith("new");
  }
}
