package dev.redlock.bench.scenario;

import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.bench.system.Held;
import dev.redlock.bench.system.Peer;
import dev.redlock.bench.system.RedlockClient;
import dev.redlock.bench.system.Waiting;
import dev.redlock.election.LeaderElection;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.LockRequest.QueueEntry;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Processes that waited for a name and died, a moment before its holder releases it: the time until
 * a living client has the free lock. {@code new} is a client that asks after the release, {@code
 * behind} one that waits behind all of them, {@code every-second} the first of as many living
 * clients that wait among them. The others are with 100 that died:
 *
 * <ul>
 *   <li>{@code returning}: ten new processes in place of the dead ask after the release.
 *   <li>{@code home-restarted}: the home node loses its queue while a client waits behind the dead.
 *   <li>{@code names}: the lock is on three names, and the client waits behind the dead.
 *   <li>{@code election}: an instance of an election waits behind the dead for the leadership.
 *   <li>{@code try}: the client calls {@code tryAcquire} every 50 ms.
 * </ul>
 *
 * <p>The places of the dead are those that clients request, on each node, so that the queues of
 * nodes that are not the home node refuse too.
 */
final class DeadWaiters {
  private static final long LIFE_MILLIS = 4_000;
  private static final long PATIENCE_MICROS = 25_000;
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final int MANY = 100;

  /** Until a client that asks is queued. */
  private static final Duration SETTLE = Duration.ofMillis(200);

  private final Run run;
  private final Peer peer;
  private final boolean fair;
  private int names;

  DeadWaiters(Run run, Peer peer) {
    this.run = run;
    this.peer = peer;
    fair = peer == Peer.REDLOCK_FAIR;
  }

  void measure() throws Exception {
    try (RedisNodes nodes = RedisNodes.start(5);
        RedlockClient holder = connect(nodes);
        RedlockClient living = connect(nodes);
        Places places = new Places(nodes)) {
      for (int i = 0; i < 20; i++) { // Warm-up.
        holder.acquire("warm").release();
        living.acquire("warm").release();
      }
      for (int repeat = 0; repeat < run.times(3, 10); repeat++) {
        for (int dead : new int[] {0, 10, 100, 300}) {
          String name = "dead-" + names++;
          Held held = holder.acquire(name);
          places.request(name, dead, fair);
          held.release();
          add("new", dead, () -> living.acquire(name));

          String other = "dead-" + names++;
          held = holder.acquire(other);
          CompletableFuture<?> waiting;
          places.request(other, dead, fair);
          waiting = living.acquireAsync(other).toCompletableFuture();
          Waiting.pause(SETTLE);
          held.release();
          add("behind", dead, () -> (Held) waiting.get(30, TimeUnit.SECONDS));
        }
        everySecond(nodes, holder, places);
        returning(nodes, holder, places);
        names(holder, living, places);
        election(holder, living, places);
        tries(holder, living, places);
      }
      homeRestarted(nodes, holder, living, places);
    }
  }

  private void everySecond(RedisNodes nodes, RedlockClient holder, Places places) throws Exception {
    int dead = 10;
    String name = "dead-" + names++;
    List<RedlockClient> clients = new ArrayList<>();
    try {
      Held held = holder.acquire(name);
      CompletableFuture<Held> first = new CompletableFuture<>();
      for (int i = 0; i < dead; i++) {
        places.request(name, 1, fair);
        RedlockClient client = connect(nodes);
        clients.add(client);
        acquire(client, name, first);
        Waiting.pause(Duration.ofMillis(10));
      }
      held.release();
      add("every-second", dead, () -> first.get(30, TimeUnit.SECONDS));
    } finally {
      clients.forEach(RedlockClient::close);
    }
  }

  /** All but the first of these leases are released at once. */
  private static void acquire(RedlockClient client, String name, CompletableFuture<Held> first) {
    client
        .acquireAsync(name)
        .whenComplete(
            (lease, failure) -> {
              if (lease != null && !first.complete(lease)) {
                lease.releaseAsync();
              }
            });
  }

  private void returning(RedisNodes nodes, RedlockClient holder, Places places) throws Exception {
    String name = "dead-" + names++;
    List<RedlockClient> clients = new ArrayList<>();
    try {
      for (int i = 0; i < 10; i++) {
        clients.add(connect(nodes));
      }
      Held held = holder.acquire(name);
      places.request(name, MANY, fair);
      held.release();
      CompletableFuture<Held> first = new CompletableFuture<>();
      for (RedlockClient client : clients) {
        acquire(client, name, first);
      }
      add("returning", MANY, () -> first.get(30, TimeUnit.SECONDS));
    } finally {
      clients.forEach(RedlockClient::close);
    }
  }

  private void names(RedlockClient holder, RedlockClient living, Places places) throws Exception {
    int first = names;
    names += 3;
    List<String> three = List.of("dead-" + first, "dead-" + (first + 1), "dead-" + (first + 2));
    Lease held = holder.redlock().lock(three).acquire(LONG);
    places.request(three, MANY, fair);
    CompletableFuture<Lease> waiting =
        living.redlock().lock(three).acquireAsync(LONG).toCompletableFuture();
    Waiting.pause(SETTLE);
    held.close();
    add("names", MANY, () -> waiting.get(30, TimeUnit.SECONDS)::close);
  }

  private void election(RedlockClient holder, RedlockClient living, Places places)
      throws Exception {
    String name = "dead-" + names++;
    CompletableFuture<Lease> leads = new CompletableFuture<>();
    LeaderElection.Work work =
        new LeaderElection.Work() {
          @Override
          public CompletionStage<?> startWork(Lease lease) {
            leads.complete(lease);
            return CompletableFuture.completedFuture(null);
          }

          @Override
          public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
            return CompletableFuture.completedFuture(null);
          }
        };
    Held held = holder.acquire(name);
    places.request(name, MANY, fair);
    LockOptions options = LockOptions.builder().fair(fair).build();
    try (LeaderElection election =
        LeaderElection.builder(living.redlock(), name, work).options(options).build()) {
      election.start();
      Waiting.pause(SETTLE);
      held.release();
      add(
          "election",
          MANY,
          () -> {
            leads.get(30, TimeUnit.SECONDS);
            return () -> {};
          });
    }
  }

  private void tries(RedlockClient holder, RedlockClient living, Places places) throws Exception {
    String name = "dead-" + names++;
    Held held = holder.acquire(name);
    places.request(name, MANY, fair);
    held.release();
    add(
        "try",
        MANY,
        () -> {
          long start = System.nanoTime();
          while (System.nanoTime() - start < LONG.toNanos()) {
            Optional<Lease> lease = living.redlock().lock(name).tryAcquire();
            if (lease.isPresent()) {
              return lease.get()::close;
            }
            Waiting.pause(Duration.ofMillis(50));
          }
          throw new IllegalStateException("no try succeeded");
        });
  }

  private void homeRestarted(
      RedisNodes nodes, RedlockClient holder, RedlockClient living, Places places)
      throws Exception {
    String name = "dead-" + names++;
    Held held = holder.acquire(name);
    places.request(name, MANY, fair);
    CompletableFuture<Held> waiting = living.acquireAsync(name).toCompletableFuture();
    String queue = LockKeys.of("redlock", List.of(name)).queueKey();
    Waiting.until(
        "the client is queued", LONG, () -> nodes.stream().anyMatch(n -> isLonger(n, queue)));
    RedisNode home = nodes.stream().filter(n -> isLonger(n, queue)).findFirst().orElseThrow();
    home.restart();
    Waiting.pause(SETTLE);
    held.release();
    add("home-restarted", MANY, () -> waiting.get(30, TimeUnit.SECONDS));
  }

  private static boolean isLonger(RedisNode node, String queue) {
    return Long.parseLong(String.valueOf(node.command("ZCARD", queue))) > MANY;
  }

  private RedlockClient connect(RedisNodes nodes) {
    return RedlockClient.connect(nodes.uris(), LockOptions.builder().fair(fair).build());
  }

  private interface Acquire {
    Held get() throws Exception;
  }

  private void add(String who, int dead, Acquire acquire) throws Exception {
    long start = System.nanoTime();
    Held lease = acquire.get();
    double millis = (System.nanoTime() - start) / 1e6;
    lease.release();
    String scenario = "crowd-dead-" + who + "-" + dead;
    run.add(scenario, peer, "free-until-acquired", "ms", millis);
    run.say("bench: %s %s: %.0f ms".formatted(scenario, peer.label(), millis));
  }

  /** Requests places for processes that do not exist. */
  private static final class Places implements AutoCloseable {
    private final List<LockNode> nodes;
    private final RedlockClient connected;
    private int processes;

    Places(RedisNodes servers) {
      nodes = LettuceNodes.standalone(servers.uris(), LettuceOptions.builder().build());
      connected = RedlockClient.of(Redlock.builder().nodes(nodes.toArray(LockNode[]::new)));
    }

    void request(String name, int count, boolean fair) throws InterruptedException {
      request(List.of(name), count, fair);
    }

    void request(List<String> locked, int count, boolean fair) throws InterruptedException {
      LockKeys keys = LockKeys.of("redlock", locked);
      CountDownLatch replies = new CountDownLatch(count * nodes.size());
      for (int i = 0; i < count; i++) {
        QueueEntry entry =
            new QueueEntry(
                keys.member("gone-" + processes++),
                0,
                fair ? 4 * PATIENCE_MICROS : PATIENCE_MICROS,
                fair ? LIFE_MILLIS + LONG.toMillis() : LIFE_MILLIS,
                false);
        nodes.forEach(
            node ->
                node.send(new LockRequest.Enqueue(keys, entry, 0), reply -> replies.countDown()));
      }
      if (!replies.await(30, TimeUnit.SECONDS)) {
        throw new IllegalStateException(replies.getCount() + " places were not confirmed");
      }
      if (count > 1) { // A client only estimates the clock by which it arrives behind them.
        Waiting.pause(SETTLE);
      }
    }

    @Override
    public void close() {
      connected.close();
    }
  }
}
