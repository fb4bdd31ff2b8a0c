package dev.redlock.cluster.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.spi.LockKeys;
import io.lettuce.core.cluster.SlotHash;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SlotsTest {

  private static LockKeys keys(String... names) {
    return LockKeys.of("redlock", List.of(names));
  }

  @Test
  void allKeysOfOneName_shareASlot_forEveryName() {
    Random random = new Random(42);
    String alphabet = "ab{}:%\u0001é";
    for (int i = 0; i < 10_000; i++) {
      StringBuilder name = new StringBuilder("n");
      for (int j = random.nextInt(10); j >= 0; j--) {
        name.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      LockKeys keys = keys(name.toString());
      int slot = Slots.of(keys, 0);
      assertThat(SlotHash.getSlot(keys.fenceKeyBytes(0))).as(name.toString()).isEqualTo(slot);
      assertThat(SlotHash.getSlot(keys.queueKey())).as(name.toString()).isEqualTo(slot);
      assertThat(SlotHash.getSlot(keys.wakeKey("p"))).as(name.toString()).isEqualTo(slot);
      assertThat(SlotHash.getSlot(keys.watchKey("p"))).as(name.toString()).isEqualTo(slot);
      assertThat(SlotHash.getSlot(keys.lockKey(0) + ":freed")).as(name.toString()).isEqualTo(slot);
    }
  }

  @Test
  void ownTag_choosesTheSlot_onlyIfItIsWellFormed() {
    int tag = SlotHash.getSlot("42");
    assertThat(Slots.of(keys("buy_{42}"), 0)).isEqualTo(tag);
    assertThat(Slots.of(keys("42"), 0)).isEqualTo(tag);
    assertThat(Slots.of(keys("buy_{42"), 0)).isNotEqualTo(tag);
    assertThat(Slots.of(keys("{}{42}"), 0)).isNotEqualTo(tag);
    assertThat(Slots.of(keys("{42}{43}"), 0)).isNotEqualTo(tag);
  }

  @Test
  void severalNames_inDifferentSlots_areRejectedWithBothNamesAndSlots() {
    Slots.requireOne(keys("a_{x}", "b_{x}", "x"));
    assertThatThrownBy(() -> Slots.requireOne(keys("a", "b")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'a' is in slot " + SlotHash.getSlot("a"))
        .hasMessageContaining("'b' in slot " + SlotHash.getSlot("b"));
  }

  @Test
  void node_withoutUri_isRefused_andIsCalledByItsFirstAddress() {
    assertThatThrownBy(() -> ClusterLockNode.connect())
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(ClusterLockNode.connect("redis://u:p@b:2", "redis://u:p@a:1").name())
        .isEqualTo("cluster a:1");
  }
}
