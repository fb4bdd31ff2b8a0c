package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.redlock.spi.Time;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class DeferredEventsTest {
  private final Queue<Runnable> timers = new ArrayDeque<>();
  private final List<Integer> brought = new ArrayList<>();
  private boolean broken;
  private final DeferredEvents events =
      new DeferredEvents(
          new Time() {
            @Override
            public long nanos() {
              return 0;
            }

            @Override
            public long wallMillis() {
              return 0;
            }

            @Override
            public Cancellable schedule(Runnable task, long delayNanos) {
              assertThat(delayNanos).isZero();
              if (broken) {
                throw new OutOfMemoryError("unable to create native thread");
              }
              timers.add(task);
              return () -> {};
            }
          });

  @Test
  void events_areBroughtInOrder_aFewForEachTurnOfTheTimer() {
    for (int i = 0; i < 100; i++) {
      int event = i;
      events.add(() -> brought.add(event));
    }
    assertThat(brought).isEmpty();
    while (!timers.isEmpty()) {
      assertThat(timers).hasSize(1);
      int before = brought.size();
      timers.remove().run();
      assertThat(brought.size() - before).isBetween(1, 50);
    }
    assertThat(brought).hasSize(100).isSorted();
  }

  @Test
  void anEvent_thatAddsAnother_isFollowedByIt() {
    events.add(() -> events.add(() -> brought.add(1)));
    while (!timers.isEmpty()) {
      timers.remove().run();
    }
    assertThat(brought).containsExactly(1);
    events.add(() -> brought.add(2));
    assertThat(timers).hasSize(1);
  }

  @Test
  void events_areBroughtAlthoughNoTimerStarts_andTheNextIsTriedAgain() {
    broken = true;
    for (int i = 0; i < 100; i++) {
      int event = i;
      events.add(() -> brought.add(event));
    }
    assertThat(brought).hasSize(100).isSorted();
    broken = false;
    events.add(() -> brought.add(100));
    assertThat(timers).hasSize(1);
  }

  @Test
  void anEventThatThrows_keepsNoOtherBack() {
    events.add(
        () -> {
          throw new IllegalStateException("event");
        });
    events.add(() -> brought.add(1));
    assertThatThrownBy(() -> timers.remove().run()).hasMessage("event");
    timers.remove().run();
    assertThat(brought).containsExactly(1);
  }
}
