package dev.redlock.it;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.operations.LockState;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/**
 * What clients leave in the tracking tables of the nodes (#36). An entry goes with the next change
 * of its key, so an entry of a key that does not exist stays until the next lease of its name.
 */
@RedisTest(nodes = 3)
class TrackingTableIT {
  /** The report on issue 36 was measured with 10,000. */
  private static final int NAMES = Integer.getInteger("redlock.test.names", 100);

  private static final int AT_ONCE = 300;

  /** The marker of the node, and names that this test did not think of. */
  private static final int LEFT = 10;

  /** The server looks for expired keys ten times a second. */
  private static final Duration EXPIRY = Duration.ofSeconds(10);

  private static final Duration PATIENCE = Duration.ofSeconds(30 + NAMES / 50);

  private static final LockOptions OPTIONS = Clients.options().build();

  private final RedisNodes nodes;

  TrackingTableIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @Test
  void inspect_ofFreeNames_leavesNoEntry() {
    try (Redlock redlock = Clients.patient(nodes)) {
      forEachName(i -> redlock.operations().inspect("inspected-" + i));
      forEachName(i -> redlock.lock("used-" + i).tryAcquireAsync().thenCompose(this::close));
      forEachName(i -> redlock.operations().inspect("used-" + i));
    }
    assertNothingIsLeft();
  }

  @Test
  void breakLock_ofFreeNames_leavesNoEntry() {
    try (Redlock redlock = Clients.patient(nodes)) {
      forEachName(i -> redlock.operations().breakLock("broken-" + i));
    }
    assertNothingIsLeft();
  }

  @Test
  void watch_ofFreeNames_leavesNoEntryWhenItEnds() {
    ConcurrentLinkedQueue<Flow.Subscription> subscriptions = new ConcurrentLinkedQueue<>();
    AtomicInteger seen = new AtomicInteger();
    try (Redlock redlock = Clients.patient(nodes)) {
      for (int i = 0; i < NAMES; i++) {
        redlock.operations().watch("watched-" + i).subscribe(new Watcher(subscriptions, seen));
      }
      Eventually.holds(() -> seen.get() == NAMES, PATIENCE, nodes);
      for (int i = 0; i < NAMES / 2; i++) { // The close of the client ends the others.
        subscriptions.remove().cancel();
      }
    }
    assertNothingIsLeft();
  }

  @Test
  void wait_thatTimesOut_leavesNoEntry() {
    waitInVain(i -> List.of("held-" + i));
    assertNothingIsLeft();
  }

  @Test
  void wait_forSeveralNamesOfWhichOneIsFree_leavesNoEntryWhenItTimesOut() {
    waitInVain(i -> List.of("free-" + i, "held-" + i));
    assertNothingIsLeft();
  }

  /** Each wait is for names of which one is held. */
  private void waitInVain(IntFunction<List<String>> names) {
    try (Redlock holder = Clients.patient(nodes);
        Redlock waiter = Clients.patient(nodes)) {
      List<Lease> leases = new ArrayList<>();
      for (int i = 0; i < NAMES; i++) {
        leases.add(holder.lock("held-" + i, OPTIONS).acquire(PATIENCE));
      }
      forEachName(
          i ->
              waiter
                  .lock(names.apply(i), OPTIONS)
                  .acquireAsync(Duration.ofMillis(50))
                  .handle((lease, failure) -> null));
      leases.forEach(Lease::close);
    }
  }

  @Test
  void wait_thatEndsWithTheLock_leavesNoEntry() {
    try (Redlock holder = Clients.patient(nodes);
        Redlock waiter = Clients.patient(nodes)) {
      forEachName(
          i -> {
            Lease lease = holder.lock("handed-over-" + i, OPTIONS).acquire(PATIENCE);
            CompletionStage<?> done =
                waiter
                    .lock("handed-over-" + i, OPTIONS)
                    .acquireAsync(PATIENCE)
                    .thenCompose(Lease::releaseAsync);
            return lease.releaseAsync().thenCombine(done, (released, both) -> null);
          });
    }
    assertNothingIsLeft();
  }

  @Test
  void try_ofHeldNames_leavesNoEntry() {
    try (Redlock holder = Clients.patient(nodes);
        Redlock other = Clients.patient(nodes)) {
      List<Lease> leases = new ArrayList<>();
      for (int i = 0; i < NAMES; i++) {
        leases.add(holder.lock("tried-" + i, OPTIONS).acquire(PATIENCE));
      }
      forEachName(i -> other.lock("tried-" + i, OPTIONS).tryAcquireAsync());
      leases.forEach(Lease::close);
    }
    assertNothingIsLeft();
  }

  @Test
  void pair_alsoOfAnExpiredLease_leavesNoEntry() {
    LockOptions expires =
        Clients.options().leaseTime(Duration.ofMillis(1500)).autoExtend(false).build();
    try (Redlock redlock = Clients.patient(nodes)) {
      forEachName(i -> redlock.lock("pair-" + i).tryAcquireAsync().thenCompose(this::close));
      forEachName(
          i ->
              redlock
                  .lock("expired-" + i, expires)
                  .acquireAsync(PATIENCE)
                  .thenCompose(Lease::whenEnded));
      Eventually.holds(() -> Clients.owesNothing(redlock), PATIENCE, nodes);
    }
    assertNothingIsLeft();
  }

  private CompletionStage<Void> close(java.util.Optional<Lease> lease) {
    return lease.orElseThrow().releaseAsync();
  }

  /** Starts the operation for each name, some at a time, and waits for all of them. */
  private static void forEachName(IntFunction<CompletionStage<?>> operation) {
    Semaphore room = new Semaphore(AT_ONCE);
    List<CompletableFuture<?>> all = new ArrayList<>();
    for (int i = 0; i < NAMES; i++) {
      room.acquireUninterruptibly();
      CompletableFuture<?> done = operation.apply(i).toCompletableFuture();
      done.whenComplete((value, failure) -> room.release());
      all.add(done);
    }
    all.forEach(CompletableFuture::join);
  }

  /** Deletes the keys that exist, as their expiry would. The entries of all others stay. */
  private void assertNothingIsLeft() {
    for (RedisNode node : nodes) {
      String delete = "for _, k in ipairs(redis.call('KEYS', ARGV[1])) do redis.call('DEL', k) end";
      node.command("EVAL", delete, "0", "redlock:{*");
      // KEYS shows no key that has expired, but the server removes it some time later.
      Eventually.holds(
          () -> entries(node) <= LEFT,
          EXPIRY,
          () -> entries(node) + " entries on node " + node.index() + ", at most " + LEFT);
    }
  }

  private static int entries(RedisNode node) {
    String stats = String.valueOf(node.command("INFO", "stats"));
    return stats
        .lines()
        .filter(line -> line.startsWith("tracking_total_keys:"))
        .mapToInt(line -> Integer.parseInt(line.substring(line.indexOf(':') + 1).strip()))
        .findFirst()
        .orElseThrow();
  }

  /** Counts the first states. */
  private static final class Watcher implements Flow.Subscriber<LockState> {
    private final ConcurrentLinkedQueue<Flow.Subscription> subscriptions;
    private final AtomicInteger seen;

    Watcher(ConcurrentLinkedQueue<Flow.Subscription> subscriptions, AtomicInteger seen) {
      this.subscriptions = subscriptions;
      this.seen = seen;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscriptions.add(subscription);
      subscription.request(1);
    }

    @Override
    public void onNext(LockState state) {
      seen.incrementAndGet();
    }

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onComplete() {}
  }
}
