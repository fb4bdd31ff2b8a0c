package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.LockOptions;
import org.junit.jupiter.api.Test;

class WaiterTest {
  private final LockOptions config = TestNodes.options().build();

  @Test
  void waiter_tellsTheShellWhatItWantsAndSinceWhen() {
    Waiter w = new TestNodes.Caller(config, 77, 5, false);
    assertThat(w.keys()).isSameAs(TestNodes.KEYS);
    assertThat(w.options()).isSameAs(config);
    assertThat(w.submittedNanos()).isEqualTo(77);
  }

  @Test
  void waiter_ofASingleTry_doesNotWait() {
    assertThat(new TestNodes.Caller(config, 77, 5, false).waits()).isTrue();
    assertThat(new TestNodes.Caller(config, 77, 5, true).waits()).isFalse();
  }
}
