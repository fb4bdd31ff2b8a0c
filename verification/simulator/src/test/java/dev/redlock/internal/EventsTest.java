package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What a client without a listener does for events. */
class EventsTest {
  private static final int TIMES = 200_000;

  @Test
  @SuppressWarnings("NullAway") // Without a listener the caller is not used.
  void refusals_withoutAListener_allocateNothing() {
    FailureLog failures = new FailureLog(LoggerFactory.getLogger("test"));
    Events events = new Events(List.of(), Runnable::run, new SystemTime(), failures);
    AcquireReport report =
        new AcquireReport(
            List.of("a"),
            AcquireVerdict.HELD,
            1,
            List.of(),
            Duration.ZERO,
            1,
            Duration.ZERO,
            0,
            null);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    events.left(null, AcquireVerdict.HELD, report); // Links what is linked at the first call.
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < TIMES; i++) {
      events.left(null, AcquireVerdict.HELD, report);
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(TIMES / 4);
  }
}
