package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WaiterTest {
  private final LockConfig config = LockConfig.of(TestNodes.options().build());

  @Test
  void waiter_tellsTheShellWhatItWantsAndSinceWhen() {
    Waiter w = new TestNodes.Caller(config, 77, 5, false);
    assertThat(w.keys()).isSameAs(TestNodes.KEYS);
    assertThat(w.config()).isSameAs(config);
    assertThat(w.submittedNanos()).isEqualTo(77);
  }

  @Test
  void waiter_ofASingleTry_doesNotWait() {
    assertThat(new TestNodes.Caller(config, 77, 5, false).waits()).isTrue();
    assertThat(new TestNodes.Caller(config, 77, 5, true).waits()).isFalse();
  }
}
