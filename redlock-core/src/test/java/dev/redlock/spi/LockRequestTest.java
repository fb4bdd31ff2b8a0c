package dev.redlock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockRequest.Acquire;
import dev.redlock.spi.LockRequest.Extend;
import dev.redlock.spi.LockRequest.Release;
import java.util.List;
import org.junit.jupiter.api.Test;

class LockRequestTest {
  private static final LockKeys KEYS = LockKeys.of("redlock", List.of("a"));

  @Test
  void toString_showsNoLeaseId() {
    List<LockRequest> all =
        List.of(
            new Acquire(KEYS, "secret", 12, 30_000, null),
            new Extend(KEYS, "secret", 12, 30_000),
            new Release(KEYS, "secret", 12, true, 0, null),
            new Release(KEYS, "secret", 12, false, 0, null));
    assertThat(all)
        .extracting(LockRequest::toString)
        .containsExactly("Acquire[a]", "Extend[a]", "Release[a]", "Roll-back[a]");
  }
}
