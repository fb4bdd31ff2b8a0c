package dev.redlock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.spi.LockNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryContext;
import io.vertx.core.eventbus.Message;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two clients on one event bus. Like two processes, they share only the nodes. */
@RedisTest(nodes = 3)
class BusIT {
  private static final Duration LONG = Duration.ofSeconds(20);

  private static final long FLOOD_MILLIS = 4_000;

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

  /** A client whose nodes send no invalidations: only the bus or a timer wakes its waiters. */
  static VertxRedlock deaf(Vertx vertx, RedisNodes nodes, RedlockOptions options) {
    return CheckedVertx.voting(
        VertxRedlock.create(
            vertx,
            options,
            builder -> {
              for (LockNode node : LettuceNodes.standalone(nodes.uris())) {
                builder.nodes(new DeafNode(node));
              }
            }));
  }

  private VertxRedlock deaf(RedisNodes nodes) {
    return deaf(vertx, nodes, options());
  }

  private static void eventually(java.util.concurrent.Callable<Boolean> condition) {
    Awaitility.await()
        .atMost(10, TimeUnit.SECONDS)
        .pollInterval(5, TimeUnit.MILLISECONDS)
        .until(condition);
  }

  /** Hands the lock over between the clients; returns the duration of each hand-over. */
  static long[] handOvers(VertxRedlock a, VertxRedlock b, String name, int count) {
    long[] micros = new long[count];
    VertxLease held = CheckedVertx.get(a.acquire(name, LONG));
    long token = held.fencingToken().value();
    for (int i = 0; i < count; i++) {
      Future<VertxLease> next = (i % 2 == 0 ? b : a).acquire(name, LONG);
      parkMillis(15); // Wait until it waits.
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
  void release_waiterWithoutInvalidations_isWokenByTheBus(RedisNodes nodes) {
    long[] micros = handOvers(deaf(nodes), deaf(nodes), "a", 20);
    assertThat(micros[10]).as("median of " + Arrays.toString(micros)).isLessThan(500_000);
  }

  /** A message of the bus, with its address. */
  private record Sent(String address, JsonObject body) {}

  /** All messages that any member of the bus sends from now on. */
  private List<Sent> tap() {
    List<Sent> sent = new CopyOnWriteArrayList<>();
    vertx
        .eventBus()
        .addOutboundInterceptor(
            (DeliveryContext<Object> delivery) -> {
              Message<Object> m = delivery.message();
              if (m.body() instanceof JsonObject json) {
                sent.add(new Sent(m.address(), json));
              }
              delivery.next();
            });
    return sent;
  }

  @Test
  void release_withoutAWaiter_sendsNoMessage(RedisNodes nodes) {
    RedlockOptions always = options().setReleaseHints("always");
    VertxRedlock one = deaf(vertx, nodes, always);
    deaf(vertx, nodes, always);
    List<Sent> sent = tap();
    for (int i = 0; i < 50; i++) {
      CheckedVertx.get(one.acquire("a", LONG).compose(VertxLease::release));
    }
    CheckedVertx.get(vertx.timer(50));
    assertThat(sent).isEmpty();
  }

  @Test
  void release_afterTheWaiterHasGone_sendsOneMoreMessageAtMost(RedisNodes nodes) {
    VertxRedlock holder = deaf(nodes);
    VertxRedlock waiter = deaf(nodes);
    List<Sent> sent = tap();
    VertxLease held = CheckedVertx.get(holder.acquire("a", LONG));
    Future<VertxLease> next = waiter.acquire("a", LONG);
    eventually(() -> sent.size() == 1);
    assertThat(sent.get(0).address()).isEqualTo("redlock.released");
    assertThat(sent.get(0).body().getString("type")).isEqualTo("waiting");
    held.release();
    CheckedVertx.get(CheckedVertx.get(next).release());
    CheckedVertx.get(holder.acquire("a", LONG).compose(VertxLease::release));
    eventually(() -> sent.get(sent.size() - 1).body().getString("type").equals("idle"));
    int before = sent.size();
    CheckedVertx.get(holder.acquire("a", LONG).compose(VertxLease::release));
    CheckedVertx.get(vertx.timer(50));
    assertThat(sent).hasSize(before);
  }

  @Test
  void release_waiterWithInvalidations_sendsNoMessage(RedisNodes nodes) {
    VertxRedlock one = checked.client(options().setNodes(nodes.uris()));
    VertxRedlock two = checked.client(options().setNodes(nodes.uris()));
    List<Sent> sent = tap();
    handOvers(one, two, "a", 5);
    assertThat(sent).isEmpty();
  }

  @Test
  void message_ofARelease_hasTheSchemaAndNoLeaseId(RedisNodes nodes) {
    VertxRedlock holder = deaf(nodes);
    VertxRedlock waiter = deaf(nodes);
    List<Sent> sent = tap();
    VertxLease lease = CheckedVertx.get(holder.acquire("a", LONG));
    String id = storedId(nodes);
    Future<VertxLease> next = waiter.acquire("a", LONG);
    // It asks again after 3 s. The holder may not have read the first question before that.
    eventually(() -> sent.size() == 2);
    CheckedVertx.get(lease.release());
    Predicate<Sent> isHint = message -> message.body().getString("type").equals("released");
    eventually(() -> sent.stream().anyMatch(isHint));
    JsonObject asked = sent.get(0).body();
    assertThat(asked.fieldNames()).containsExactlyInAnyOrder("v", "type", "name", "to", "at");
    Sent hint = sent.stream().filter(isHint).findFirst().orElseThrow();
    assertThat(hint.address()).isEqualTo(asked.getString("to"));
    JsonObject message = hint.body();
    assertThat(message.fieldNames()).containsExactlyInAnyOrder("v", "type", "name", "token", "at");
    assertThat(message.getInteger("v")).isEqualTo(2);
    assertThat(message.getString("name")).isEqualTo("a");
    assertThat(message.getLong("token")).isEqualTo(lease.fencingToken().value());
    assertThat(sent.toString()).doesNotContain(id);
    CheckedVertx.get(CheckedVertx.get(next).release());
  }

  @Test
  void hints_never_areNeitherAskedForNorSent(RedisNodes nodes) {
    RedlockOptions never = options().setReleaseHints("never").setPollIntervalMillis(100);
    VertxRedlock one = deaf(vertx, nodes, never);
    VertxRedlock two = deaf(vertx, nodes, never);
    List<Sent> sent = tap();
    handOvers(one, two, "a", 4);
    assertThat(sent).isEmpty();
  }

  /** The lease id of the holder; a quorum of the nodes stores it. */
  private static String storedId(RedisNodes nodes) {
    for (int i = 0; i < 3; i++) {
      if (nodes.get(i).command("GET", "redlock:{a}") instanceof String id) {
        return id;
      }
    }
    throw new AssertionError("no node stores a lease of a");
  }

  @Test
  void handOver_busDropsEveryMessage_comesByTheTimer(RedisNodes nodes) {
    BusFault.DROPS.on(vertx);
    RedlockOptions polling = options().setPollIntervalMillis(200);
    handOvers(deaf(vertx, nodes, polling), deaf(vertx, nodes, polling), "a", 4);
  }

  @Test
  void handOver_busDuplicatesEveryMessage_isGrantedOnce(RedisNodes nodes) {
    long before = BusFault.DOUBLED.sum();
    BusFault.DOUBLES.on(vertx);
    handOvers(deaf(nodes), deaf(nodes), "a", 10);
    assertThat(BusFault.DOUBLED.sum() - before).isGreaterThanOrEqualTo(10);
  }

  @Tag("thorough")
  @Test
  void handOver_tenThousandForgedMessagesASecond_grantsNothingWrong(RedisNodes nodes) {
    VertxRedlock a = deaf(nodes);
    VertxRedlock b = deaf(nodes);
    BusFault.FLOODS.on(vertx);
    handOvers(a, b, "a", 20);
    Future<VertxLease> held = a.acquire("a", LONG);
    CheckedVertx.get(held);
    Future<VertxLease> waiter = b.acquire("a", LONG);
    long before = nodes.stream().mapToLong(n -> n.commandCount()).sum();
    long forged = BusFault.FORGED.sum();
    long start = System.nanoTime();
    CheckedVertx.get(vertx.timer(FLOOD_MILLIS));
    double seconds = (System.nanoTime() - start) / 1e9;
    assertThat(waiter.isComplete()).as("granted while another holds it").isFalse();
    assertThat(BusFault.FORGED.sum() - forged).as("forged messages").isGreaterThan(10_000);
    // At most 100 wake-ups, each one request to the home node and one to the node that is listened
    // to, whose scripts execute about six commands. A round for each message would be far beyond.
    long commands = nodes.stream().mapToLong(n -> n.commandCount()).sum() - before;
    assertThat(commands / seconds).as("commands in a second of flood").isLessThan(2_000);
    held.result().release();
    CheckedVertx.get(CheckedVertx.get(waiter).release());
  }

  @Test
  void oneServerUnderTwoUris_beginsNoDeployment(RedisNodes nodes) {
    List<String> uris = new ArrayList<>(nodes.uris());
    uris.set(1, uris.get(0).replace("127.0.0.1", "localhost"));
    VertxRedlock client = VertxRedlock.create(vertx, options().setNodes(uris));
    eventually(
        () ->
            client.redlock().operations().nodes().stream()
                .anyMatch(n -> n.cause().contains("cannot hold one server twice")));
    assertThat(client.redlock().operations().nodes())
        .anySatisfy(n -> assertThat(n.cause()).contains("is the same server as"));
    assertThat(
            CheckedVertx.get(Future.fromCompletionStage(client.redlock().operations().doctor()))
                .nodes())
        .as("findings of the doctor")
        .allSatisfy(n -> assertThat(n.server()).isNotNull());
  }
}
