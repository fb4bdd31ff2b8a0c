package dev.redlock.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.redlock.Lease;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.Redlock;
import dev.redlock.RedlockClosedException;
import dev.redlock.harness.ForwardingLockNode;
import dev.redlock.harness.memory.InMemoryLockNode;
import dev.redlock.operations.LockListing;
import dev.redlock.operations.LockState;
import dev.redlock.operations.LockState.Status;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Held locks can be listed and watched without an acquire. */
class ListingTest {
  private static final Duration WAIT = Duration.ofSeconds(20);

  private final InMemoryLockNode[] nodes = {
    InMemoryLockNode.create("a"), InMemoryLockNode.create("b"), InMemoryLockNode.create("c")
  };
  private final Redlock holder = client("pod-3");
  private final Redlock operator = client("");

  private Redlock client(String label) {
    Redlock client =
        Redlock.builder()
            .nodes(Stream.of(nodes).map(InMemoryLockNode::another).toArray(LockNode[]::new))
            .restartGuard(RestartGuard.OFF)
            .nodeTimeout(Duration.ofSeconds(1))
            .label(label)
            .build();
    await()
        .atMost(WAIT)
        .until(
            () ->
                client.operations().nodes().stream()
                    .allMatch(node -> node.state() == NodeState.State.VOTING));
    return client;
  }

  @AfterEach
  void close() {
    holder.close();
    operator.close();
  }

  private static List<LockListing.Entry> all(LockListing listing) {
    List<LockListing.Entry> all = new ArrayList<>();
    try (listing) {
      for (List<LockListing.Entry> page = page(listing); !page.isEmpty(); page = page(listing)) {
        all.addAll(page);
      }
    }
    return all;
  }

  private static List<LockListing.Entry> page(LockListing listing) {
    return listing.next().toCompletableFuture().join();
  }

  private static List<String> names(List<LockListing.Entry> locks) {
    return locks.stream().map(LockListing.Entry::name).sorted().toList();
  }

  @Test
  void list_ofAllNames_hasEachHeldLockOnceWithItsHolder() {
    List<String> held = List.of("buy_{42}", "orders-1", "orders-2", "x:y %{", "ü");
    List<Lease> leases = held.stream().map(name -> holder.lock(name).acquire(WAIT)).toList();
    holder.lock("released").acquire(WAIT).close();
    List<LockListing.Entry> listed = all(operator.operations().list("*"));
    assertThat(names(listed)).isEqualTo(held);
    assertThat(listed)
        .allSatisfy(
            lock -> {
              assertThat(lock.holderLabel()).isEqualTo("pod-3");
              assertThat(lock.holder()).hasSize(8);
              assertThat(lock.remaining()).isPositive();
              assertThat(lock.storedBy()).isBetween(2, 3);
              assertThat(lock.waiting()).isEmpty();
            });
    LockListing.Entry first =
        listed.stream().filter(lock -> lock.name().equals("orders-1")).findFirst().orElseThrow();
    assertThat(first.highestTokenSeen()).isEqualTo(leases.get(1).fencingToken().value());
    assertThat(names(all(operator.operations().list("orders-?"))))
        .containsExactly("orders-1", "orders-2");
    assertThat(names(all(operator.operations().list("x:y %{")))).containsExactly("x:y %{");
    assertThat(all(operator.operations().list("nothing*"))).isEmpty();
    leases.forEach(Lease::close);
  }

  @Test
  void list_ofManyLocks_hasPagesOfAHundred() {
    List<Lease> leases =
        IntStream.range(0, 250).mapToObj(i -> holder.lock("many-" + i).acquire(WAIT)).toList();
    List<Integer> sizes = new ArrayList<>();
    List<LockListing.Entry> all = new ArrayList<>();
    try (LockListing listing = operator.operations().list("many-*")) {
      for (List<LockListing.Entry> page = page(listing); !page.isEmpty(); page = page(listing)) {
        sizes.add(page.size());
        all.addAll(page);
      }
      assertThat(page(listing)).isEmpty();
    }
    assertThat(sizes).containsExactly(100, 100, 50);
    assertThat(all.stream().map(LockListing.Entry::name).distinct()).hasSize(250);
    leases.forEach(Lease::close);
  }

  @Test
  void list_byHostilePatterns_matchesWholeNamesOnly() {
    List<String> held = List.of("[ab]", "a*", "back\\slash", "lock-😀", "{x}", "\u001b[2J", "%41");
    List<Lease> leases = held.stream().map(name -> holder.lock(name).acquire(WAIT)).toList();
    assertThat(names(all(operator.operations().list("[ab]")))).containsExactly("[ab]");
    assertThat(names(all(operator.operations().list("a\\*")))).containsExactly("a*");
    assertThat(names(all(operator.operations().list("*\\\\*")))).containsExactly("back\\slash");
    assertThat(names(all(operator.operations().list("lock-?")))).containsExactly("lock-😀");
    assertThat(names(all(operator.operations().list("{?}")))).containsExactly("{x}");
    assertThat(names(all(operator.operations().list("%4?")))).containsExactly("%41");
    assertThat(all(operator.operations().list(""))).isEmpty();
    assertThat(all(operator.operations().list("\\"))).isEmpty();
    List<LockListing.Entry> escape = all(operator.operations().list("\u001b*"));
    assertThat(names(escape)).containsExactly("\u001b[2J");
    assertThat(escape.toString()).as("shown on a terminal").doesNotContain("\u001b");
    leases.forEach(Lease::close);
  }

  @Test
  void list_whileANodeIsDown_findsWhatTheOthersStore() {
    List<Lease> leases =
        IntStream.range(0, 5).mapToObj(i -> holder.lock("n" + i).acquire(WAIT)).toList();
    for (InMemoryLockNode node : nodes) {
      await().atMost(WAIT).until(() -> leases.stream().allMatch(l -> isStored(node, l)));
    }
    // The client repairs the lease. A listing at this moment may not contain it.
    nodes[0].delete("n1");
    nodes[1].kill();
    await()
        .atMost(WAIT)
        .until(
            () ->
                names(all(operator.operations().list("*")))
                    .equals(List.of("n0", "n1", "n2", "n3", "n4")));
    leases.forEach(Lease::close);
  }

  private static boolean isStored(InMemoryLockNode node, Lease lease) {
    return node.holder(lease.names().get(0)) != null;
  }

  @Test
  void list_withoutAQuorum_failsAndNamesTheNodes() {
    nodes[0].kill();
    nodes[2].kill();
    try (LockListing listing = operator.operations().list("*")) {
      assertThatThrownBy(() -> page(listing))
          .isInstanceOf(CompletionException.class)
          .cause()
          .isInstanceOf(QuorumUnavailableException.class)
          .hasMessageContaining("a SILENT (a does not reply)");
    }
  }

  @Test
  void list_showsWhichProcessesWait() {
    Lease lease = holder.lock("stock").acquire(WAIT);
    var waits = operator.lock("stock").acquireAsync(WAIT);
    await()
        .atMost(WAIT)
        .until(
            () ->
                all(operator.operations().list("stock")).stream().anyMatch(lock -> sum(lock) == 1));
    lease.close();
    waits.join().close();
  }

  private static int sum(LockListing.Entry lock) {
    return lock.waiting().values().stream().mapToInt(Integer::intValue).sum();
  }

  @Test
  void list_closed_failsAndLeavesNothingWaiting() {
    LockListing listing = operator.operations().list("*");
    listing.close();
    assertThatThrownBy(() -> page(listing)).hasCauseInstanceOf(IllegalStateException.class);
    LockListing open = operator.operations().list("*");
    List<CompletionStage<List<LockListing.Entry>>> asked =
        IntStream.range(0, 50).mapToObj(i -> open.next()).toList();
    operator.close();
    for (CompletionStage<List<LockListing.Entry>> stage : asked) {
      try {
        assertThat(stage.toCompletableFuture().orTimeout(20, TimeUnit.SECONDS).join()).isEmpty();
      } catch (CompletionException e) {
        assertThat(e.getCause()).isInstanceOf(RedlockClosedException.class);
      }
    }
    assertThatThrownBy(() -> operator.operations().list("*"))
        .isInstanceOf(RedlockClosedException.class);
  }

  private static final class Seen implements Flow.Subscriber<LockState> {
    final List<LockState> states = new CopyOnWriteArrayList<>();
    volatile Flow.Subscription subscription;
    volatile boolean complete;
    volatile Throwable error;
    private final long demand;

    Seen(long demand) {
      this.demand = demand;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
      subscription = given;
      given.request(demand);
    }

    @Override
    public void onNext(LockState state) {
      states.add(state);
    }

    @Override
    public void onError(Throwable failure) {
      error = failure;
    }

    @Override
    public void onComplete() {
      complete = true;
    }

    void until(Status status) {
      await()
          .atMost(WAIT)
          .until(() -> !states.isEmpty() && states.get(states.size() - 1).status() == status);
    }
  }

  @Test
  void watch_ofALockThatIsTakenAndFreed_tellsEachState() {
    Seen seen = new Seen(Long.MAX_VALUE);
    operator.operations().watch("stock").subscribe(seen);
    seen.until(Status.FREE);
    Lease lease = holder.lock("stock").acquire(WAIT);
    seen.until(Status.HELD);
    assertThat(seen.states.get(seen.states.size() - 1).holderLabel()).isEqualTo("pod-3");
    lease.close();
    seen.until(Status.FREE);
    try (Lease own = operator.lock("stock").acquire(WAIT)) {
      seen.until(Status.HELD);
      assertThat(own.isValid()).isTrue();
    }
    seen.until(Status.FREE);
    for (int i = 1; i < seen.states.size(); i++) {
      assertThat(seen.states.get(i)).isNotEqualTo(seen.states.get(i - 1));
    }
    operator.close();
    await().atMost(WAIT).until(() -> seen.complete);
  }

  /** Counts how often it is told that no caller waits for a lock any more. */
  private static final class Counting extends ForwardingLockNode {
    private final AtomicInteger idle;

    Counting(LockNode node, AtomicInteger idle) {
      super(node);
      this.idle = idle;
    }

    @Override
    public void idle(LockKeys keys) {
      idle.incrementAndGet();
      super.idle(keys);
    }
  }

  @Test
  void watch_thatEnds_doesNotEndTheHintsOfACallerThatWaits() {
    AtomicInteger idle = new AtomicInteger();
    try (Lease held = holder.lock("stock").acquire(WAIT);
        Redlock waiting =
            Redlock.builder()
                .nodes(
                    Stream.of(nodes)
                        .map(node -> new Counting(node.another(), idle))
                        .toArray(LockNode[]::new))
                .restartGuard(RestartGuard.OFF)
                .build()) {
      assertThat(held.isValid()).isTrue();
      assertThat(waiting.awaitReady(WAIT)).isTrue();
      var caller = waiting.lock("stock").acquireAsync(WAIT);
      Seen seen = new Seen(Long.MAX_VALUE);
      waiting.operations().watch("stock").subscribe(seen);
      seen.until(Status.HELD);
      seen.subscription.cancel();
      assertThat(idle).hasValue(0);
      assertThat(caller).isNotDone();
    }
  }

  @Test
  void watch_withoutDemand_tellsTheNewestStateLater() {
    Seen seen = new Seen(1);
    operator.operations().watch("stock").subscribe(seen);
    seen.until(Status.FREE);
    Lease lease = holder.lock("stock").acquire(WAIT);
    lease.close();
    try (Lease last = holder.lock("stock").acquire(WAIT)) {
      String fence = Long.toString(last.fencingToken().value());
      await()
          .atMost(WAIT)
          .until(
              () -> {
                seen.subscription.request(1);
                return seen.states.stream()
                    .anyMatch(s -> Long.toString(s.highestTokenSeen()).equals(fence));
              });
      seen.until(Status.HELD);
    }
    seen.subscription.cancel();
  }

  @Test
  void watch_bySubscribersThatBreakTheRules_endsOnlyTheirs() {
    Seen wrong = new Seen(0);
    operator.operations().watch("stock").subscribe(wrong);
    await().atMost(WAIT).until(() -> wrong.error instanceof IllegalArgumentException);
    Seen good = new Seen(Long.MAX_VALUE);
    operator
        .operations()
        .watch("stock")
        .subscribe(
            new Flow.Subscriber<>() {
              @Override
              public void onSubscribe(Flow.Subscription given) {
                given.request(1);
                throw new StackOverflowError("on purpose");
              }

              @Override
              public void onNext(LockState state) {
                throw new IllegalStateException("on purpose");
              }

              @Override
              public void onError(Throwable failure) {}

              @Override
              public void onComplete() {}
            });
    operator.operations().watch("stock").subscribe(good);
    good.until(Status.FREE);
    assertThat(wrong.states).isEmpty();
  }
}
