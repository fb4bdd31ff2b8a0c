package dev.redlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Redlock;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.RestartGuard;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The threads that bring events to a queue handle them. No thread handles the events of others
 * without a limit.
 */
@Timeout(60)
class LockActorTest {
  private static final int EVENTS = 20_000;

  private final InMemoryLockNode node = InMemoryLockNode.create("a");
  private final Client client =
      (Client) Redlock.builder().nodes(node).restartGuard(RestartGuard.OFF).build();
  private final LockActor actor =
      new LockActor(client.context(), LockKeys.of("redlock", List.of("name")));

  /** Written by one thread at a time, as the queue promises. */
  private final List<Integer> handled = new ArrayList<>();

  private int handledByCaller;

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void caller_whileOthersBringEvents_handlesABoundedNumberOfThem() throws Exception {
    CountDownLatch inside = new CountDownLatch(1);
    CountDownLatch allAreQueued = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(EVENTS);
    Thread caller =
        new Thread(
            () ->
                actor.post(
                    (machine, now, wall) -> {
                      inside.countDown();
                      awaitOrFail(allAreQueued);
                    }));
    caller.start();
    awaitOrFail(inside);
    for (int i = 0; i < EVENTS; i++) {
      int number = i;
      actor.post(
          (machine, now, wall) -> {
            handled.add(number);
            handledByCaller += Thread.currentThread() == caller ? 1 : 0;
            done.countDown();
          });
    }
    allAreQueued.countDown();
    awaitOrFail(done);
    caller.join();
    assertThat(handledByCaller).isLessThanOrEqualTo(LockActor.LIMIT_IN_A_ROW);
    assertThat(handled).isEqualTo(IntStream.range(0, EVENTS).boxed().toList());
  }

  @Test
  void event_thatThrows_leavesTheQueueUsable() {
    actor.post(
        (machine, now, wall) -> {
          throw new AssertionError("of an event");
        });
    actor.post((machine, now, wall) -> recurse(0));
    boolean[] next = new boolean[1];
    actor.post((machine, now, wall) -> next[0] = true);
    assertThat(next[0]).isTrue();
  }

  /** As after a late reply that added a release. */
  @Test
  void retiredQueue_thatAsksANodeAgain_isKnownUntilItRetiresAgain() {
    actor.post((machine, now, wall) -> {});
    assertThat(actor.isRetired()).isTrue();
    assertThat(client.context().locks.all()).isEmpty();
    node.hang();
    actor.post((machine, now, wall) -> machine.stopListening(now));
    assertThat(client.context().locks.all()).containsExactly(actor);
    client.close();
    assertThat(client.context().locks.all()).isEmpty();
  }

  private static int recurse(int depth) {
    return depth < 0 ? 0 : recurse(depth + 1) + 1;
  }

  private static void awaitOrFail(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
