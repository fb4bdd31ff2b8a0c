package dev.redlock.it.failures;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Lease;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.harness.ForkedJvm;
import dev.redlock.it.Clients;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A process that is stopped while it holds the lock, for longer than its lease (hazard H1). */
@RedisTest(nodes = 5)
class PausedHolderIT {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration LEASE = Duration.ofSeconds(1);

  /** Some milliseconds, plus the delay of a busy machine. */
  private static final Duration SOON = Duration.ofSeconds(1);

  @Test
  void holder_stoppedBeyondItsLease_isToldWhenItRunsAgain_andItsLateWriteIsRejected(
      RedisNodes nodes) {
    try (RedisNodes registers = RedisNodes.start(1);
        Register register = new Register(registers.get(0).uri());
        Redlock redlock = Clients.start(nodes);
        ForkedJvm holder =
            ForkedJvm.of(Holder.class)
                .args(String.join(",", nodes.uris()), registers.get(0).uri())
                .start()) {
      Event held =
          Event.parse(holder.awaitLine(line -> line.contains(" holding "), PATIENCE)).orElseThrow();
      holder.pause();
      long next;
      try (Lease mine = redlock.lock("paused").acquire(Duration.ofSeconds(20))) {
        next = mine.fencingToken().value();
        assertThat(next).isGreaterThan(held.number("token"));
        assertThat(register.read(next)).hasValue(0);
        assertThat(register.write(next, 42)).isTrue();
        register.write(register.read() + 42);
        long resumed = System.nanoTime();
        holder.resume();
        // One thread is notified, and another checks the lease itself. The order of the two is not
        // defined.
        Map<String, Event> news = new HashMap<>();
        while (news.size() < 3) {
          // The client logs the loss to the same output, at any moment.
          String line = holder.awaitLine(text -> Event.parse(text).isPresent(), PATIENCE);
          Event event = Event.parse(line).orElseThrow();
          news.put(event.what(), event);
        }
        Event ended = news.get("ended");
        assertThat(ended.text("how")).isEqualTo("EXPIRED");
        System.out.printf(
            "paused holder: notified %.1f ms after it ran again%n",
            (ended.atNanos() - resumed) / 1e6);
        assertThat(ended.atNanos()).isBetween(resumed, resumed + SOON.toNanos());
        assertThat(news.get("checked").number("last"))
            .as("the last call of ensureValid that returned normally began before it ran again")
            .isLessThan(resumed);
        assertThat(news.get("wrote").text("accepted")).isEqualTo("false");
        assertThat(mine.isValid()).isTrue();
      }
      assertThat(register.finalValue(Register.CHECKED)).isEqualTo(42);
      assertThat(register.finalValue(Register.UNCHECKED))
          .as("without a check of tokens, the late write replaces the other")
          .isEqualTo(7);
      assertThat(holder.awaitExit(PATIENCE)).isZero();
    }
  }

  /** Holds the lock, checks its lease all the time, and writes once after its end. */
  static final class Holder {
    private Holder() {}

    private static synchronized void tell(String what, Object... fields) {
      System.out.println(Event.of(System.nanoTime(), "holder", what, fields));
    }

    public static void main(String[] args) throws Exception {
      Register register = new Register(args[1]);
      Redlock redlock =
          Redlock.builder()
              .nodes(args[0].split(",", -1))
              .restartGuard(RestartGuard.OFF)
              .defaults(LockOptions.builder().leaseTime(LEASE).build())
              .build();
      Clients.voting(redlock, 5);
      Lease lease = redlock.lock("paused").acquire(Duration.ofSeconds(10));
      CountDownLatch told = new CountDownLatch(1);
      lease
          .whenEnded()
          .thenAccept(
              how -> {
                tell("ended", "how", how);
                told.countDown();
              });
      long read = register.read();
      tell("holding", "token", lease.fencingToken().value());
      long last = 0;
      try {
        while (true) {
          long begin = System.nanoTime();
          lease.ensureValid();
          last = begin;
          Thread.sleep(1);
        }
      } catch (LeaseLostException e) {
        tell("checked", "last", last);
      }
      told.await();
      long token = lease.fencingToken().value();
      register.write(read + 7);
      tell("wrote", "accepted", register.write(token, 7));
      System.exit(0);
    }
  }
}
