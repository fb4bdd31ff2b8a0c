package dev.redlock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.spring.Locked.NotAcquired;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.nio.CharBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;

/** Methods and calls that would run without a lock, or with a lock that no other call uses. */
@Timeout(60)
class LockedRejectionsTest {
  private static final Duration DEADLINE = MemoryNodes.DEADLINE;

  private final MemoryNodes nodes = new MemoryNodes();
  private final Redlock other = nodes.client();

  private final ApplicationContextRunner app = nodes.app();

  @AfterEach
  void disconnect() {
    other.close();
  }

  private <T> void with(Class<T> type, Consumer<T> body) {
    app.withBean(type)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(context.getBean(Redlock.class).awaitReady(DEADLINE)).isTrue();
              body.accept(context.getBean(type));
            });
  }

  // At start.

  static class LeaseTimeTooLong {
    @Locked(value = "x", leaseTime = "2h")
    public void run() {}
  }

  static class LeaseTimeAboveTheMaximum {
    @Locked(value = "x", leaseTime = "31s")
    public void run() {}
  }

  static class BareVariable {
    @Locked("order-#id")
    public void run(long id) {}
  }

  static class Streaming {
    @Locked("x")
    public Stream<String> run() {
      return Stream.of();
    }
  }

  static class Calling {
    @Locked("x")
    public Callable<String> run() {
      return () -> "";
    }
  }

  static class OwnPublisher {
    @Locked("x")
    public org.reactivestreams.Publisher<String> run() {
      return Mono.empty();
    }
  }

  static class FinalMethod {
    @Locked("x")
    public final void run() {}
  }

  static final class FinalClass {
    @Locked("x")
    public void run() {}
  }

  static class PrivateMethod {
    @Locked("x")
    @SuppressWarnings("UnusedMethod") // Spring reads it.
    private void run() {}
  }

  static class StaticMethod {
    @Locked("x")
    public static void run() {}
  }

  static class BadSyntax {
    @Locked("x-#{#}")
    public void run(long id) {}
  }

  static class UnknownVariable {
    @Locked("x-#{#idd}")
    public void run(long id) {}
  }

  static class NoName {
    @Locked
    public void run() {}
  }

  static class BadWait {
    @Locked(value = "x", waitTime = "soon")
    public void run() {}
  }

  static class WaitWithoutUnit {
    @Locked(value = "x", waitTime = "5")
    public void run() {}
  }

  static class HoldWithoutUnit {
    @Locked(value = "x", minimumHold = "${hold:30}")
    public void run() {}
  }

  static class HoldTooLong {
    @Locked(value = "x", minimumHold = "2h")
    public void run() {}
  }

  static class OtherClient {
    @Locked(value = "x", client = "other")
    public void run() {}
  }

  static class NoOtherwise {
    @Locked(value = "x", notAcquired = NotAcquired.RETURN)
    public void run() {}
  }

  static class SomeFuture {
    @Locked("x")
    public Future<String> run() {
      return CompletableFuture.completedFuture("");
    }
  }

  static Stream<Arguments> rejectedAtStart() {
    return Stream.of(
        Arguments.of(FinalMethod.class, "final"),
        Arguments.of(FinalClass.class, "final"),
        Arguments.of(PrivateMethod.class, "private"),
        Arguments.of(StaticMethod.class, "static"),
        Arguments.of(BadSyntax.class, "'x-#{#}'"),
        Arguments.of(UnknownVariable.class, "[#idd]"),
        Arguments.of(NoName.class, "no name"),
        Arguments.of(BadWait.class, "'soon'"),
        Arguments.of(WaitWithoutUnit.class, "waitTime '5' has no unit; write 5s or 5ms"),
        Arguments.of(HoldWithoutUnit.class, "minimumHold '${hold:30}' has no unit"),
        Arguments.of(HoldTooLong.class, "2 h is longer than leaseTime 30 s: raise the lease time"),
        Arguments.of(
            OtherClient.class, "no bean of dev.redlock.Redlock with the name or qualifier"),
        Arguments.of(NoOtherwise.class, "otherwise"),
        Arguments.of(SomeFuture.class, "java.util.concurrent.Future"),
        Arguments.of(LeaseTimeTooLong.class, "2 h"),
        Arguments.of(LeaseTimeAboveTheMaximum.class, "31 s"),
        Arguments.of(BareVariable.class, "#{#id}"),
        Arguments.of(Streaming.class, "java.util.stream.Stream"),
        Arguments.of(Calling.class, "java.util.concurrent.Callable"),
        Arguments.of(OwnPublisher.class, "org.reactivestreams.Publisher"));
  }

  @ParameterizedTest
  @MethodSource("rejectedAtStart")
  void method_thatWouldNotBeLockedAsItLooks_stopsTheStart(Class<?> type, String reason) {
    app.withBean(type)
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .hasStackTraceContaining("@Locked on")
                    .hasStackTraceContaining(reason));
  }

  @Test
  void bean_thatIsRegisteredAsAnObject_stopsTheStart() {
    app.withInitializer(context -> context.getBeanFactory().registerSingleton("names", new Names()))
        .run(
            context ->
                assertThat(context)
                    .getFailure()
                    .hasMessageContaining("'names'")
                    .hasMessageContaining("would take no lock"));
  }

  // In the call.

  static class Opaque {}

  /** The text of its array is an address in memory. */
  @SuppressWarnings("ArrayRecordComponent")
  record Box(int[] parts) {}

  @SuppressWarnings("JavaUtilDate") // What callers have.
  private static final Object DATE = new java.util.Date(0);

  enum Size {
    SMALL {
      @Override
      public String toString() {
        return "of this user";
      }
    }
  }

  static class Names {
    private final AtomicInteger calls = new AtomicInteger();

    public int calls() {
      return calls.get();
    }

    @Locked("part-#{#value}")
    public List<String> part(Object value, Lease lease) {
      calls.incrementAndGet();
      return lease.names();
    }

    @Locked("#{#value}")
    public List<String> whole(Object value, Lease lease) {
      calls.incrementAndGet();
      return lease.names();
    }

    @Locked("path-#{#value.toString()}")
    public List<String> explicit(Object value, Lease lease) {
      return lease.names();
    }

    @Locked("#{#value.missing}")
    public void broken(Object value) {
      calls.incrementAndGet();
    }

    @Locked("x-#{id}")
    public void propertyOfTheBean(Object id) {
      calls.incrementAndGet();
    }
  }

  static Stream<Arguments> badValues() {
    BiConsumer<Names, Object> part = (names, value) -> names.part(value, null);
    BiConsumer<Names, Object> whole = (names, value) -> names.whole(value, null);
    return Stream.of(
        Arguments.of("opaque", part, new Opaque(), "toString"),
        Arguments.of("opaque", whole, new Opaque(), "toString"),
        Arguments.of("opaque element", whole, List.of(new Opaque()), "toString"),
        Arguments.of("array", part, new String[] {"a"}, "java.lang.String[]"),
        Arguments.of("set", part, Set.of("a", "b"), "order"),
        Arguments.of("map", whole, Map.of("a", 1), "order"),
        Arguments.of("nested", whole, List.of(List.of("a")), "order"),
        Arguments.of("null element", whole, Arrays.asList("a", null), "null"),
        Arguments.of("no name", whole, List.of(), "Names.whole: [#value] gives no name"),
        Arguments.of("date", part, DATE, "java.util.Date"),
        Arguments.of("dates", whole, List.of(DATE), "java.util.Date"),
        Arguments.of("record", part, new Box(new int[] {1}), "LockedRejectionsTest$Box"),
        Arguments.of("address", part, InetAddress.getLoopbackAddress(), "java.net.Inet4Address"),
        Arguments.of("path", part, Path.of("a", "b"), "toString()"),
        Arguments.of("empty", part, Optional.empty(), "null"),
        Arguments.of("null", part, null, "null"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("badValues")
  void value_thatGivesNoStableName_isAnErrorInThatCall(
      String what, BiConsumer<Names, Object> call, Object value, String reason) {
    with(
        Names.class,
        names -> {
          assertThatThrownBy(() -> call.accept(names, value))
              .as(what)
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining(reason);
          assertThat(names.calls()).isZero();
        });
  }

  @Test
  void value_withATextOfItsOwn_isTheName() {
    with(
        Names.class,
        names -> {
          assertThat(names.part(Optional.of(7), null)).containsExactly("part-7");
          assertThat(names.part(Size.SMALL, null)).containsExactly("part-SMALL");
          assertThat(names.part(new UUID(0, 7), null))
              .containsExactly("part-00000000-0000-0000-0000-000000000007");
          assertThat(names.part(LocalDate.EPOCH, null)).containsExactly("part-1970-01-01");
          assertThat(names.part(ZoneOffset.UTC, null)).containsExactly("part-Z");
          assertThat(names.part(new BigDecimal("7.0"), null)).containsExactly("part-7.0");
          assertThat(names.part(CharBuffer.wrap("b"), null)).containsExactly("part-b");
          assertThat(names.explicit(Path.of("a"), null)).containsExactly("path-a");
          assertThat(names.whole(new long[] {2, 1}, null)).containsExactly("1", "2");
          // Values are not evaluated as expressions.
          assertThat(names.part("#{1 + 1}", null)).containsExactly("part-#{1 + 1}");
        });
  }

  @Test
  void expression_thatFails_failsTheCallAndDoesNotRunTheMethod() {
    with(
        Names.class,
        names -> {
          assertThatThrownBy(() -> names.broken("x")).hasMessageContaining("missing");
          assertThatThrownBy(() -> names.propertyOfTheBean("x")).hasMessageContaining("id");
          assertThat(names.calls()).isZero();
        });
  }

  // What methods return and throw.

  static class Results {
    @Locked("result")
    public Object later(Object value) {
      return value;
    }

    @Locked(value = "result", waitTime = "0s", notAcquired = NotAcquired.RETURN, otherwise = "-1")
    public Long number() {
      return 1L;
    }

    @Locked("result")
    public void error() {
      throw new StackOverflowError("hostile");
    }

    @Locked("result")
    public CompletionStage<String> stage(CompletionStage<String> stage) {
      return stage;
    }

    @Locked("result")
    public Mono<String> failing() {
      throw new StackOverflowError("hostile");
    }
  }

  @Test
  void result_thatIsCompleteOnlyLater_isAnErrorEvenIfTheMethodHidesItsType() {
    with(
        Results.class,
        results -> {
          assertThat(results.later("now")).isEqualTo("now");
          for (Object later : List.of(new CompletableFuture<>(), Mono.empty(), Stream.of())) {
            assertThatThrownBy(() -> results.later(later))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Results.later")
                .hasMessageContaining(later.getClass().getName());
          }
          nodes.awaitFree("result");
        });
  }

  @Test
  void otherwise_isConvertedToTheTypeOfTheMethod() {
    with(
        Results.class,
        results -> {
          try (Lease held = other.lock("result").acquire(DEADLINE)) {
            assertThat(results.number()).isEqualTo(-1L);
            assertThat(held.isValid()).isTrue();
          }
        });
  }

  @Test
  void method_thatThrowsAnError_releases() {
    with(
        Results.class,
        results -> {
          assertThatThrownBy(results::error).isInstanceOf(StackOverflowError.class);
          nodes.awaitFree("result");
          assertThatThrownBy(() -> results.failing().block(DEADLINE))
              .hasMessageContaining("hostile");
          nodes.awaitFree("result");
        });
  }

  @Test
  void stage_thatThrowsWhenItIsObserved_failsTheCallAndReleases() {
    CompletableFuture<String> hostile =
        new CompletableFuture<>() {
          @Override
          public CompletableFuture<String> whenComplete(
              java.util.function.BiConsumer<? super String, ? super Throwable> action) {
            throw new IllegalStateException("hostile");
          }
        };
    with(
        Results.class,
        results -> {
          CompletableFuture<String> result = results.stage(hostile).toCompletableFuture();
          assertThatThrownBy(() -> result.get(30, TimeUnit.SECONDS)).hasRootCauseMessage("hostile");
          nodes.awaitFree("result");
        });
  }

  @Test
  void stage_thatIsNull_failsTheCallAndReleases() {
    with(
        Results.class,
        results -> {
          CompletableFuture<String> result = results.stage(null).toCompletableFuture();
          assertThatThrownBy(() -> result.get(30, TimeUnit.SECONDS))
              .hasMessageContaining("returned null");
          nodes.awaitFree("result");
        });
  }
}
