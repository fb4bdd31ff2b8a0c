package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.spi.Time;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;

/** Lines of which thousands may come at once. */
class BurstLogTest {
  private final List<String> lines = new ArrayList<>();
  private long nowNanos;
  private boolean broken;

  private final Time time =
      new Time() {
        @Override
        public long nanos() {
          return nowNanos;
        }

        @Override
        public long wallMillis() {
          return 0;
        }

        @Override
        public Cancellable schedule(Runnable task, long delayNanos) {
          throw new UnsupportedOperationException();
        }
      };

  private final BurstLog bursts =
      new BurstLog(
          (Logger)
              Proxy.newProxyInstance(
                  BurstLogTest.class.getClassLoader(),
                  new Class<?>[] {Logger.class},
                  (self, method, args) -> {
                    if (broken) {
                      throw new IllegalStateException("disk full");
                    }
                    return args == null ? true : lines.add(method.getName() + " " + args[0]);
                  }),
          time);

  private void add(int count) {
    for (int i = 0; i < count; i++) {
      bursts.add(true, "lines of a test", () -> "line");
    }
  }

  @Test
  void lines_beyondTheLimitOfAWindow_areCounted_andTheNextWindowBeginsAnew() {
    add(1000);
    assertThat(lines).hasSize(BurstLog.LINES).containsOnly("warn line");
    bursts.review(false);
    assertThat(lines).as("the window lasts").hasSize(BurstLog.LINES);
    nowNanos = BurstLog.WINDOW_NANOS;
    bursts.review(false);
    assertThat(lines).last().isEqualTo("warn 995 more lines of a test");
    lines.clear();
    add(1);
    assertThat(lines).containsExactly("warn line");
  }

  @Test
  void lines_thatWereCounted_areToldWhenTheClientIsClosed() {
    add(7);
    bursts.review(true);
    assertThat(lines).last().isEqualTo("warn 2 more lines of a test");
  }

  @Test
  void logger_thatThrows_harmsNoCaller() {
    broken = true;
    add(7);
    bursts.review(true);
    broken = false;
    nowNanos = 2 * BurstLog.WINDOW_NANOS;
    add(1);
    assertThat(lines).contains("warn line");
  }
}
