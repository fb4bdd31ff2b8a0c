package dev.redlock.lettuce.internal;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.redlock.Redlock;
import io.netty.util.HashedWheelTimer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

@Timeout(120)
class SharedTimerTest {
  /** More than Netty's limit of timers, from which on it logs an error. */
  private static final int CLIENTS = 70;

  @Test
  void clients_shareOneTimer_whichEndsWithTheLastClient() {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    Logger netty = (Logger) LoggerFactory.getLogger(HashedWheelTimer.class);
    netty.addAppender(lines);
    Set<Thread> before = timers();
    List<Redlock> clients = new ArrayList<>();
    try {
      for (int i = 0; i < CLIENTS; i++) {
        clients.add(Redlock.builder().nodes("redis://127.0.0.1:1").build());
      }
      assertThat(timers()).hasSizeLessThanOrEqualTo(before.size() + 1);
    } finally {
      clients.forEach(Redlock::close);
      netty.detachAppender(lines);
    }
    assertThat(before).containsAll(timers());
    assertThat(lines.list).isEmpty();
  }

  /** Those of resources that other tests have made may be among them. */
  private static Set<Thread> timers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("lettuce-timer") && thread.isAlive())
        .collect(Collectors.toSet());
  }
}
