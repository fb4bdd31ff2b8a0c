package dev.redlock;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** The builder of core alone: its tests have no adapter on the class path. */
class RedlockBuilderTest {

  @Test
  void nodesOfUris_withoutAnAdapter_areRejectedWithTheModuleThatIsMissing() {
    assertThatThrownBy(Redlock.builder().nodes("redis://127.0.0.1:1")::build)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("found []")
        .hasMessageContaining("dev.redlock:redlock-lettuce");
  }

  @Test
  void noNodesAtAll_isRejectedForThat_andNotForAMissingAdapter() {
    assertThatThrownBy(Redlock.builder()::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("0 are configured");
  }
}
