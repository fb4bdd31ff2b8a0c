package dev.redlock.spi;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.LockRequest.Acquire;
import dev.redlock.spi.LockRequest.Extend;
import dev.redlock.spi.LockRequest.QueueEntry;
import dev.redlock.spi.LockRequest.Release;
import java.util.List;
import org.junit.jupiter.api.Test;

class LockRequestTest {
  private static final LockKeys KEYS = LockKeys.of("redlock", List.of("a"));

  @Test
  void acquire_factories_fillTheNamedParts() {
    QueueEntry entry = new QueueEntry("p", 7, 5_000);
    Acquire plain = Acquire.of(KEYS, "id", 12, 30_000);
    assertThat(plain).isEqualTo(new Acquire(KEYS, "id", 12, 30_000, null));
    assertThat(plain.withQueueEntry(entry)).isEqualTo(new Acquire(KEYS, "id", 12, 30_000, entry));
    assertThat(plain.withQueueEntry(entry).withQueueEntry(null)).isEqualTo(plain);
  }

  @Test
  void release_factories_fillTheNamedParts() {
    assertThat(Release.of(KEYS, "id", 12)).isEqualTo(new Release(KEYS, "id", 12, true, 0, null));
    assertThat(Release.rollBack(KEYS, "id", 12).keeping(300).leavingQueue("p"))
        .isEqualTo(new Release(KEYS, "id", 12, false, 300, "p"));
  }

  @Test
  void toString_showsNoLeaseId() {
    List<LockRequest> all =
        List.of(
            Acquire.of(KEYS, "secret", 12, 30_000),
            new Extend(KEYS, "secret", 12, 30_000),
            Release.of(KEYS, "secret", 12),
            Release.rollBack(KEYS, "secret", 12));
    assertThat(all)
        .extracting(LockRequest::toString)
        .containsExactly("Acquire[a]", "Extend[a]", "Release[a]", "Roll-back[a]");
  }
}
