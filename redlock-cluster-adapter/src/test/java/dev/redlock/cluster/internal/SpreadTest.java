package dev.redlock.cluster.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.spi.LockKeys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SpreadTest {
  private static LockKeys keys(String... names) {
    return LockKeys.of("redlock", List.of(names));
  }

  /** Masters with one contiguous range each, which begin at these slots. */
  private static Topology topology(List<Integer> starts) {
    List<Topology.Range> ranges = new ArrayList<>();
    for (int i = 0; i < starts.size(); i++) {
      int last = i + 1 < starts.size() ? starts.get(i + 1) - 1 : Slots.COUNT - 1;
      Topology.Server master = new Topology.Server("m" + i, List.of(new Address("h", 7000 + i)));
      ranges.add(new Topology.Range(starts.get(i), last, master));
    }
    return Topology.of(ranges, List.of(), Topology.Roles.UNKNOWN);
  }

  /**
   * As {@code redis-cli --cluster create} cuts the slots: it rounds the last slot of each range.
   */
  private static Topology asRedisCliCuts(int masters) {
    List<Integer> starts = new ArrayList<>(List.of(0));
    double perMaster = (double) Slots.COUNT / masters;
    for (int i = 1; i < masters; i++) {
      starts.add((int) Math.round(i * perMaster - 1) + 1);
    }
    return topology(starts);
  }

  /** Cut by integer division. */
  private static Topology cutDown(int masters) {
    List<Integer> starts = new ArrayList<>();
    for (int i = 0; i < masters; i++) {
      starts.add(i * Slots.COUNT / masters);
    }
    return topology(starts);
  }

  private static int shared(Spread spread, Topology topology) {
    int all = 0;
    for (int node = 0; node < spread.nodes(); node++) {
      all += spread.sharedPositions(node, topology).length;
    }
    return all;
  }

  @ParameterizedTest
  @CsvSource({
    "3,3", "3,4", "3,5", "3,6", "3,7", "3,9", "3,12", "3,100", "5,5", "5,6", "5,9", "5,10"
  })
  void slotsOfEachName_inTheUsualLayouts_areOnDifferentMasters(int nodes, int masters) {
    Spread spread = Spread.over(nodes);
    assertThat(shared(spread, asRedisCliCuts(masters))).isZero();
    assertThat(shared(spread, cutDown(masters))).isZero();
  }

  @Test
  void twoMasters_threeNodes_eachNameHasOneSecondVote() {
    Spread spread = Spread.over(3);
    assertThat(shared(spread, asRedisCliCuts(2))).isEqualTo(spread.length());
    assertThat(shared(spread, asRedisCliCuts(1))).isEqualTo(2 * spread.length());
  }

  @Test
  void sharer_isTheFirstNodeOnTheSameMaster_andNoneIfTheSlotIsNotServed() {
    Spread spread = Spread.over(3);
    Topology halves = topology(List.of(0, 8192));
    assertThat(spread.sharer(1, spread.first(1), halves)).as("slots 0 and 5461").isZero();
    assertThat(spread.sharer(2, spread.first(2), halves)).as("slot 10923").isEqualTo(-1);
    assertThat(spread.sharer(2, spread.last(2), halves)).as("10921 and 16383").isEqualTo(1);
    Topology none = Topology.of(List.of(), List.of(), Topology.Roles.UNKNOWN);
    assertThat(spread.sharer(1, spread.first(1), none)).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"orders:42", "a_{tag}_b", "näme", "x~1.abc", "{}", "a}b{c"})
  void lockKey_isTranslatedAsItsNameIs_andBack(String name) {
    Spread spread = Spread.over(5);
    String key = keys(name).lockKey(0);
    for (int node = 0; node < 5; node++) {
      String own = spread.keyAt(node, key);
      assertThat(own).isEqualTo(spread.keysAt(node, keys(name)).lockKey(0));
      assertThat(spread.nodeOf(own)).isEqualTo(node);
      assertThat(spread.original(own)).isEqualTo(key);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void keysOfManyNames_areInTheRangeOfTheirNode_atOnePosition_andDiffer(int nodes) {
    Spread spread = Spread.over(nodes);
    Set<String> all = new HashSet<>();
    Set<Integer> positions = new HashSet<>();
    for (int i = 0; i < 5_000; i++) {
      LockKeys keys = keys("orders:" + i);
      int position = Slots.of(keys, 0) % spread.length();
      positions.add(position);
      for (int node = 0; node < nodes; node++) {
        LockKeys its = spread.keysAt(node, keys);
        assertThat(Slots.of(its, 0)).isEqualTo(spread.first(node) + position);
        assertThat(Slots.of(its, 0)).isBetween(spread.first(node), spread.last(node));
        assertThat(all.add(its.lockKey(0))).as(its.lockKey(0)).isTrue();
        assertThat(spread.nodeOf(its.lockKey(0))).isEqualTo(node);
        assertThat(spread.original(its.lockKey(0))).isEqualTo(keys.lockKey(0));
      }
    }
    assertThat(positions).as("names spread over the positions").hasSizeGreaterThan(2_500);
  }

  /** All clients, of all versions, must store a name under these keys. */
  @Test
  void keysOfAName_neverChange() {
    assertThat(lockKeys(Spread.over(3), "orders:42")).containsExactlyElementsOf(ORDERS_OF_3);
    assertThat(lockKeys(Spread.over(5), "buy_{42}")).containsExactlyElementsOf(BUY_OF_5);
  }

  private static final List<String> ORDERS_OF_3 =
      List.of(
          "redlock:{orders:42~0.ADL}", "redlock:{orders:42~1.4x7}", "redlock:{orders:42~2.1KB}");
  private static final List<String> BUY_OF_5 =
      List.of(
          "redlock:{42~0.767}:buy_{}",
          "redlock:{42~1.2YY}:buy_{}",
          "redlock:{42~2.4ge}:buy_{}",
          "redlock:{42~3.4x0}:buy_{}",
          "redlock:{42~4.5oB}:buy_{}");

  private static List<String> lockKeys(Spread spread, String name) {
    List<String> all = new ArrayList<>();
    for (int node = 0; node < spread.nodes(); node++) {
      all.add(spread.keysAt(node, keys(name)).lockKey(0));
    }
    return all;
  }

  @Test
  void namesWithOneTag_shareTheirSlots_andKeepTheirOrder() {
    Spread spread = Spread.over(3);
    LockKeys keys = keys("a_{7}", "a!_{7}", "{7}z");
    for (int node = 0; node < 3; node++) {
      LockKeys its = spread.keysAt(node, keys);
      assertThat(its.names()).isEqualTo(keys.names());
      for (int i = 0; i < keys.size(); i++) {
        assertThat(spread.original(its.lockKey(i))).isEqualTo(keys.lockKey(i));
        assertThat(Slots.of(its, i)).isEqualTo(Slots.of(its, 0));
      }
    }
  }

  @Test
  void keysBesideTheLockKey_leadBackToTheirLock() {
    Spread spread = Spread.over(3);
    LockKeys keys = keys("a{b", "c"); // Not a tag of its own: the brace is encoded.
    LockKeys its = spread.keysAt(2, keys);
    assertThat(spread.nodeOf(its.wakeKey("p"))).isEqualTo(2);
    assertThat(spread.original(its.wakeKey("p"))).isEqualTo(keys.wakeKey("p"));
    assertThat(spread.original(its.watchKey("p"))).isEqualTo(keys.watchKey("p"));
    assertThat(LockKeys.lockKeyOf(spread.original(its.wakeKey("p")))).isEqualTo(keys.lockKey(0));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"redlock:{a}", "redlock:{~}", "redlock:{a~3.abc}", "redlock:{a~x.abc}", "x", "}"})
  void keyOfNoNode_isNone(String key) {
    assertThat(Spread.over(3).nodeOf(key)).isEqualTo(-1);
  }

  @Test
  void oneNode_usesTheKeysOfTheName() {
    LockKeys keys = keys("a");
    assertThat(Spread.NONE.keysAt(0, keys)).isSameAs(keys);
    assertThat(Spread.NONE.nodeOf("redlock:{a~1.abc}")).isZero();
    assertThat(Spread.NONE.original("redlock:{a~1.abc}")).isEqualTo("redlock:{a~1.abc}");
    assertThat(Spread.NONE.last(0)).isEqualTo(16_383);
  }

  @Test
  void oneNodeOfEachName_carriesItsHints() {
    Spread spread = Spread.over(5);
    int[] carried = new int[5];
    for (int i = 0; i < 1_000; i++) {
      int carriers = 0;
      for (int node = 0; node < 5; node++) {
        int slot = Slots.of(spread.keysAt(node, keys("n" + i)), 0);
        if (spread.carriesHints(node, slot)) {
          carried[node]++;
          carriers++;
        }
      }
      assertThat(carriers).isEqualTo(1);
    }
    assertThat(Arrays.stream(carried).min().getAsInt()).as("about 200 each").isGreaterThan(100);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 1, 2, 4, 6, 7})
  void numberOfNodes_otherThanThreeOrFive_isRefusedWithIt(int nodes) {
    assertThatThrownBy(() -> Spread.over(nodes))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("not over " + nodes);
  }
}
