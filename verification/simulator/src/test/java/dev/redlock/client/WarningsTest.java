package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.harness.CapturedLog;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.internal.Waiting;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A forgotten lock is logged with its name and the place of its acquire. */
@Timeout(120)
class WarningsTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final CapturedLog log = new CapturedLog();

  @AfterEach
  void stop() {
    log.close();
  }

  private static RedlockBuilder client() {
    return Redlock.builder().nodes(InMemoryLockNode.create("a")).restartGuard(RestartGuard.OFF);
  }

  /** The warning, once it is there. */
  private ILoggingEvent warning(String part, Runnable meanwhile) {
    Waiting.until(
        "a warning of " + part,
        Duration.ofSeconds(60),
        () -> {
          meanwhile.run();
          return find(part).isPresent();
        });
    return find(part).orElseThrow();
  }

  private Optional<ILoggingEvent> find(String part) {
    return log.events(Level.WARN, part).stream().findAny();
  }

  @Test
  void owner_thatDiedHoldingAReentrantLock_isNamedWithTheLock() throws Exception {
    try (Redlock redlock = client().build()) {
      Thread owner =
          new Thread(() -> redlock.reentrantLock("orders:42").lock(), "the-thread-that-dies");
      owner.start();
      owner.join();
      ILoggingEvent warning = warning("the-thread-that-dies", () -> {});
      assertThat(warning.getFormattedMessage()).contains("orders:42").contains("released");
      redlock.lock("orders:42").acquire(WAIT).close();
    }
  }

  @Test
  void lease_thatBecameUnreachable_isNamedWithWhereItWasAcquired_whenAskedFor() {
    try (Redlock redlock = client().traceLeaks(true).build()) {
      forget(redlock);
      ILoggingEvent warning = warning("became unreachable", System::gc);
      assertThat(warning.getFormattedMessage()).contains("forgotten");
      assertThat(ThrowableProxyUtil.asString(warning.getThrowableProxy()))
          .contains("WarningsTest.forget(WarningsTest.java:");
    }
  }

  @Test
  void lease_thatBecameUnreachable_isNamedWithHowToLearnWhere() {
    try (Redlock redlock = client().build()) {
      forget(redlock);
      ILoggingEvent warning = warning("became unreachable", System::gc);
      assertThat(warning.getFormattedMessage()).contains("forgotten").contains("traceLeaks(true)");
      assertThat(warning.getThrowableProxy()).isNull();
    }
  }

  private static void forget(Redlock redlock) {
    assertThat(redlock.lock("forgotten").acquire(WAIT).isValid()).isTrue();
  }
}
