package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.testkit.InMemoryLockNode;
import dev.redlock.testkit.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How long a late timer waits, and the timers that fire meanwhile. */
class LateTimersTest {
  private static final Logger LOG = LoggerFactory.getLogger(LateTimersTest.class);
  private static final Duration MILLI = Duration.ofMillis(1);

  private final VirtualTime time = new VirtualTime();
  private final LateTimers timers =
      new LateTimers(
          new NodeSet(List.of(InMemoryLockNode.create("a")), new FailureLog(LOG), LOG), time, LOG);
  private final AtomicInteger ran = new AtomicInteger();

  private void fire(Duration late) {
    timers.fired(time.nanos() - late.toNanos(), ran::incrementAndGet);
  }

  @Test
  void timer_inTime_runsAtOnce() {
    fire(Duration.ZERO);
    assertThat(ran).hasValue(1);
  }

  @Test
  void timer_late_runsAfterTheGrace() {
    fire(Duration.ofMillis(100));
    time.pass(Duration.ofMillis(9));
    assertThat(ran).hasValue(0);
    time.pass(MILLI);
    assertThat(ran).hasValue(1);
  }

  @Test
  void timers_inTimeWhileALateOneWaits_runWithItAndDoNotProlongTheWait() {
    fire(Duration.ofMillis(100));
    for (int i = 0; i < 9; i++) {
      time.pass(MILLI);
      fire(Duration.ZERO);
    }
    time.pass(MILLI);
    assertThat(ran).hasValue(10);
    fire(Duration.ZERO);
    assertThat(ran).as("the load continues, and the wait ends").hasValue(11);
  }

  @Test
  void timer_lateWhileAnotherWaits_waitsForAReadingOfItsOwn() {
    fire(Duration.ofMillis(100));
    time.pass(Duration.ofMillis(5));
    fire(Duration.ofMillis(3));
    time.pass(Duration.ofMillis(5));
    assertThat(ran).hasValue(1);
    time.pass(Duration.ofMillis(10));
    assertThat(ran).hasValue(2);
  }

  @Test
  void timer_clientIsPausedAgainWhileItWaits_getsTheGraceAnew() {
    fire(Duration.ofMillis(100));
    time.pause(Duration.ofMillis(100), Duration.ofMillis(5));
    time.pass(Duration.ofMillis(9));
    assertThat(ran).hasValue(0);
    time.pass(MILLI);
    assertThat(ran).hasValue(1);
  }

  @Test
  void timer_clientIsPausedAgainAndAgain_waitsOnceMoreAndNoLonger() {
    fire(Duration.ofMillis(100));
    time.pause(Duration.ofMillis(100), Duration.ofMillis(5));
    time.pause(Duration.ofMillis(100), Duration.ofMillis(5));
    time.pass(Duration.ZERO);
    assertThat(ran).hasValue(1);
  }
}
