package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.Redlock;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.spi.LockNode;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.json.JsonObject;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two clients on one event bus, as two processes would be: all they share is the nodes. */
@RedisTest(nodes = 3)
class BusIT {
  private static final Duration LONG = Duration.ofSeconds(20);

  private CheckedVertx checked;
  private Vertx vertx;

  @BeforeEach
  void start() {
    checked = CheckedVertx.start();
    vertx = checked.vertx();
  }

  @AfterEach
  void stop() {
    checked.close();
  }

  private static RedlockOptions options() {
    return new RedlockOptions()
        .setRestartGuard("off")
        .setNodeTimeoutMillis(500)
        .setPollIntervalMillis(10_000);
  }

  /** A client whose nodes push nothing: only the bus, or a timer, wakes its waiters. */
  static VertxRedlock deaf(Vertx vertx, RedisNodes nodes, RedlockOptions options) {
    return CheckedVertx.voting(
        VertxRedlock.create(
            vertx,
            options,
            builder -> {
              for (LockNode node : LettuceNodes.standalone(nodes.uris())) {
                builder.node(new DeafNode(node));
              }
            }));
  }

  private VertxRedlock deaf(RedisNodes nodes) {
    return deaf(vertx, nodes, options());
  }

  private List<JsonObject> listen(String address) {
    List<JsonObject> heard = new CopyOnWriteArrayList<>();
    vertx.eventBus().<JsonObject>consumer(address, m -> heard.add(m.body()));
    return heard;
  }

  private static void eventually(java.util.concurrent.Callable<Boolean> condition) {
    Awaitility.await()
        .atMost(10, TimeUnit.SECONDS)
        .pollInterval(5, TimeUnit.MILLISECONDS)
        .until(condition);
  }

  /** Hands the lock over between the clients; returns how long each hand-over took. */
  static long[] handOvers(VertxRedlock a, VertxRedlock b, String name, int count) {
    long[] micros = new long[count];
    VertxLease held = CheckedVertx.get(a.acquire(name, LONG));
    long token = held.fencingToken().value();
    for (int i = 0; i < count; i++) {
      Future<VertxLease> next = (i % 2 == 0 ? b : a).acquire(name, LONG);
      parkMillis(15); // Until it waits.
      assertThat(next.isComplete()).as("granted while another holds it").isFalse();
      long start = System.nanoTime();
      held.release();
      held = CheckedVertx.get(next);
      micros[i] = (System.nanoTime() - start) / 1_000;
      assertThat(held.fencingToken().value()).isGreaterThan(token);
      token = held.fencingToken().value();
    }
    CheckedVertx.get(held.release());
    Arrays.sort(micros);
    return micros;
  }

  static void parkMillis(long millis) {
    long until = System.nanoTime() + millis * 1_000_000;
    while (System.nanoTime() - until < 0) {
      java.util.concurrent.locks.LockSupport.parkNanos(until - System.nanoTime());
    }
  }

  @Test
  void release_waiterWithoutPushes_isWokenByTheBus(RedisNodes nodes) {
    long[] micros = handOvers(deaf(nodes), deaf(nodes), "a", 20);
    assertThat(micros[10]).as("median of " + Arrays.toString(micros)).isLessThan(500_000);
  }

  /** Whether a message to one would find anybody; who is found does not take this for a notice. */
  private boolean somebodyListens(String address) {
    try {
      CheckedVertx.get(
          vertx.eventBus().request(address, "probe", new DeliveryOptions().setSendTimeout(20)));
      return true;
    } catch (ReplyException e) {
      return e.failureType() != ReplyFailure.NO_HANDLERS;
    }
  }

  /** Whether the node has refused somebody who wanted this lock. */
  private static boolean isWanted(RedisNode node) {
    return "1".equals(node.command("HGET", "redlock:{a}:fence", "wanted"));
  }

  @Test
  void release_addressPerName_isWokenByTheBus(RedisNodes nodes) {
    RedlockOptions perName = options().setAddressPerName(true);
    VertxRedlock a = deaf(vertx, nodes, perName);
    VertxRedlock b = deaf(vertx, nodes, perName);
    VertxLease held = CheckedVertx.get(a.acquire("a", LONG));
    Future<VertxLease> next = b.acquire("a", LONG);
    eventually(() -> somebodyListens("redlock.released.a")); // Only while somebody waits.
    List<JsonObject> heard = listen("redlock.released.a");
    long start = System.nanoTime();
    held.release();
    CheckedVertx.get(next);
    assertThat(System.nanoTime() - start).isLessThan(3_000_000_000L);
    eventually(() -> !heard.isEmpty());
  }

  @Test
  void message_ofARelease_hasTheSchemaAndNoLeaseId(RedisNodes nodes) {
    List<JsonObject> heard = listen("redlock.released");
    VertxRedlock client = deaf(nodes);
    VertxLease lease = CheckedVertx.get(client.acquire("a", LONG));
    CheckedVertx.get(lease.release());
    eventually(() -> heard.size() == 1);
    JsonObject message = heard.get(0);
    assertThat(message.fieldNames())
        .containsExactlyInAnyOrder("v", "type", "name", "mode", "token", "at");
    assertThat(message.getInteger("v")).isEqualTo(1);
    assertThat(message.getString("type")).isEqualTo("released");
    assertThat(message.getString("name")).isEqualTo("a");
    assertThat(message.getString("mode")).isEqualTo("quorum");
    assertThat(message.getLong("token")).isEqualTo(lease.fencingToken().value());
    assertThat(message.encode()).doesNotContain(lease.unwrap().id());
  }

  @Test
  void message_addressNull_isNotSent(RedisNodes nodes) {
    List<JsonObject> heard = listen("redlock.released");
    VertxRedlock client = deaf(vertx, nodes, options().setReleaseAddress(null));
    CheckedVertx.get(client.acquire("a", LONG).compose(VertxLease::release));
    CheckedVertx.get(vertx.timer(50));
    assertThat(heard).isEmpty();
  }

  @Test
  void message_ofAHandOff_saysSo(RedisNodes nodes) {
    List<JsonObject> heard = listen("redlock.released");
    VertxRedlock client = deaf(nodes);
    VertxLease first = CheckedVertx.get(client.acquire("a", LONG));
    Future<VertxLease> second = client.acquire("a", LONG);
    first.release();
    CheckedVertx.get(second);
    eventually(() -> heard.stream().anyMatch(m -> m.getString("type").equals("handedOff")));
    CheckedVertx.get(second.result().release());
  }

  @Test
  void events_ofALease_arePublishedWithoutItsId(RedisNodes nodes) {
    List<JsonObject> heard = listen("redlock.events");
    List<JsonObject> notices = listen("redlock.released");
    VertxRedlock client = deaf(vertx, nodes, options().setEventAddress("redlock.events"));
    VertxLease lease = CheckedVertx.get(client.acquire("a", LONG));
    assertThat(CheckedVertx.get(client.tryAcquire("a"))).isEmpty();
    CheckedVertx.get(lease.extend());
    Future<?> ended = lease.whenEnded();
    client.redlock().breakLock("a");
    CheckedVertx.get(ended);
    eventually(
        () ->
            heard.stream()
                .map(m -> m.getString("type"))
                .toList()
                .containsAll(List.of("acquired", "refused", "extended", "lost")));
    eventually(() -> notices.stream().anyMatch(m -> m.getString("type").equals("lost")));
    assertThat(heard.toString() + notices).doesNotContain(lease.unwrap().id());
  }

  @Test
  void handOver_busDropsEveryMessage_comesByTheTimer(RedisNodes nodes) {
    BusFault.DROPS.on(vertx);
    RedlockOptions polling = options().setPollIntervalMillis(200);
    handOvers(deaf(vertx, nodes, polling), deaf(vertx, nodes, polling), "a", 4);
  }

  @Test
  void handOver_busDoublesEveryMessage_isGrantedOnce(RedisNodes nodes) {
    List<JsonObject> heard = listen(BusFault.ADDRESS);
    BusFault.DOUBLES.on(vertx);
    handOvers(deaf(nodes), deaf(nodes), "a", 10);
    eventually(() -> heard.size() >= 20);
  }

  @Test
  void handOver_tenThousandForgedMessagesASecond_grantsNothingWrong(RedisNodes nodes) {
    VertxRedlock a = deaf(nodes);
    VertxRedlock b = deaf(nodes);
    BusFault.FLOODS.on(vertx);
    long[] micros = handOvers(a, b, "a", 20);
    Future<VertxLease> held = a.acquire("a", LONG);
    CheckedVertx.get(held);
    Future<VertxLease> waiter = b.acquire("a", LONG);
    CheckedVertx.get(vertx.timer(1_000));
    assertThat(waiter.isComplete()).as("granted while another holds it").isFalse();
    long before = nodes.stream().mapToLong(n -> n.commandCount()).sum();
    long forged = BusFault.FORGED.sum();
    long cpu = cpuNanos();
    long start = System.nanoTime();
    CheckedVertx.get(vertx.timer(3_000));
    double seconds = (System.nanoTime() - start) / 1e9;
    long cpuMicros = (cpuNanos() - cpu) / 1_000;
    forged = BusFault.FORGED.sum() - forged;
    long commands = nodes.stream().mapToLong(n -> n.commandCount()).sum() - before;
    System.out.printf(
        "flood: median hand-over %d µs; in %.2f s %d forged, %d commands, %d ms of processors%n",
        micros[10], seconds, forged, commands, cpuMicros / 1_000);
    // Sending, delivering and judging one, and all that it makes a waiter do. What takes a
    // processor for 10,000 a second is more than a flood may cost.
    assertThat(forged).as("forged messages").isPositive();
    assertThat(cpuMicros / forged).as("µs of processors for a forged message").isLessThan(100);
    if (CheckedVertx.loadAverage() < Runtime.getRuntime().availableProcessors()) {
      assertThat(forged / seconds).as("forged messages a second").isGreaterThan(8_000);
    }
    // At most 100 wake-ups, each one question to the door, whose script is some five commands.
    assertThat(commands / seconds).as("commands in a second of flood").isLessThan(1_500);
    held.result().release();
    CheckedVertx.get(CheckedVertx.get(waiter).release());
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  @Test
  void bridge_oneClientHearsTheNodes_wakesOneThatDoesNot(RedisNodes nodes) {
    List<JsonObject> heard = listen("redlock.released");
    RedlockOptions bridging = options().setNodes(nodes.uris()).setBridgeRedisHints(true);
    VertxRedlock bridge = checked.client(bridging);
    VertxRedlock deaf = deaf(nodes);
    // A holder that tells nobody, as one would that crashed.
    VertxRedlock mute = deaf(vertx, nodes, options().setReleaseAddress(null));
    VertxLease held = CheckedVertx.get(mute.acquire("a", LONG));
    List<Future<VertxLease>> waiters = new ArrayList<>();
    waiters.add(bridge.acquire("a", LONG));
    eventually(() -> nodes.stream().filter(BusIT::isWanted).count() >= 2);
    waiters.add(deaf.acquire("a", LONG));
    parkMillis(50);
    held.release();
    Future<Void> all =
        Future.all(waiters.stream().map(w -> w.compose(VertxLease::release)).toList()).mapEmpty();
    CheckedVertx.get(all, 8);
    eventually(() -> heard.stream().anyMatch(m -> m.getString("type").equals("hint")));
  }

  @Test
  void bridge_oneServerUnderTwoUris_hasOneVote(RedisNodes nodes) {
    List<String> uris = new ArrayList<>(nodes.uris());
    uris.set(1, uris.get(0).replace("127.0.0.1", "localhost"));
    RedlockOptions bridging = options().setNodes(uris).setBridgeRedisHints(true);
    VertxRedlock client = VertxRedlock.create(vertx, bridging);
    List<Redlock.NodeState> states = new ArrayList<>();
    eventually(
        () -> {
          states.clear();
          states.addAll(client.redlock().nodes());
          return states.stream()
              .allMatch(n -> List.of("VOTING", "QUARANTINED").contains(n.state()));
        });
    assertThat(states)
        .filteredOn(n -> n.state().equals("QUARANTINED"))
        .singleElement()
        .satisfies(n -> assertThat(n.cause()).contains("is the same server as"));
    assertThat(CheckedVertx.get(Future.fromCompletionStage(client.redlock().doctor())).nodes())
        .as("what the doctor found")
        .allSatisfy(n -> assertThat(n.server()).isNotNull());
  }
}
