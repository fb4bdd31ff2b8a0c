package dev.redlock.it.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.redlock.lettuce.LettuceLockNode;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many names in one lock: their cost on a master, and the same behaviour as with few names. */
class ManyNamesIT {
  private static final String ME = "lease-of-mine";
  private static final String OTHER = "lease-of-another";
  private static final long TTL = 10_000;
  private static final Pattern CALLS = Pattern.compile("cmdstat_evalsha:calls=(\\d+),usec=(\\d+),");

  /** The cheapest of several runs counts, because an interrupted script costs more. */
  private static final int RUNS = 30;

  private RedisNodes nodes;
  private RedisNode server;
  private TestClient client;
  private TestClient waiter;
  private long lastToken;

  @BeforeEach
  void connect() throws IOException {
    nodes = RedisNodes.start(1);
    server = nodes.get(0);
    connectClients(server.uri());
  }

  private void connectClients(String uri) {
    client = TestClient.start(LettuceLockNode.create(uri));
    waiter = TestClient.start(LettuceLockNode.create(uri));
  }

  @AfterEach
  void close() {
    client.close();
    waiter.close();
    nodes.close();
  }

  private static LockKeys names(int count) {
    return LockKeys.of("redlock", IntStream.range(0, count).mapToObj(i -> "name" + i).toList());
  }

  private long nextToken() {
    lastToken = Math.max(lastToken + 64, client.now());
    return lastToken;
  }

  /** The cost of one script call in µs, as the server measured it. */
  private long micros(Code expected, Supplier<NodeReply> call) {
    long before = spent();
    NodeReply reply = call.get();
    long after = spent();
    assertThat(reply.code()).as(reply.toString()).isEqualTo(expected);
    return after - before;
  }

  private long spent() {
    Matcher m = CALLS.matcher(String.valueOf(server.command("INFO", "commandstats")));
    return m.find() ? Long.parseLong(m.group(2)) : 0;
  }

  private record Costs(long acquire, long refused, long extend, long release) {
    long most() {
      return Math.max(Math.max(acquire, refused), Math.max(extend, release));
    }

    Costs least(Costs that) {
      return new Costs(
          Math.min(acquire, that.acquire),
          Math.min(refused, that.refused),
          Math.min(extend, that.extend),
          Math.min(release, that.release));
    }
  }

  private Costs costs(int count) {
    Costs least = null;
    for (int run = 0; run < RUNS; run++) {
      LockKeys keys = names(count);
      long token = nextToken();
      Costs now =
          new Costs(
              micros(Code.GRANTED, () -> client.acquire(keys, ME, token, TTL)),
              micros(Code.HELD, () -> waiter.acquire(keys, OTHER, token + 1, TTL)),
              micros(Code.EXTENDED, () -> client.extend(keys, ME, token, TTL)),
              micros(Code.RELEASED, () -> client.release(keys, ME, token)));
      least = least == null ? now : least.least(now);
    }
    return Objects.requireNonNull(least);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void script_onAThousandNames_costsAMasterLittle_andGrowsNoFasterThanTheirNumber(
      boolean tracking) {
    if (!tracking) {
      server.command(
          "ACL SETUSER deaf reset on >secret ~redlock:* -@all +@scripting +@string +@hash +@keyspace"
              .concat(" +time +info")
              .split(" ", -1));
      client.close();
      waiter.close();
      connectClients(server.uri().replace("redis://", "redis://deaf:secret@"));
    }
    boolean tracks = server.command("CLIENT", "LIST").toString().contains("flags=t");
    assertThat(tracks).as("tracking is on").isEqualTo(tracking);
    Costs one = costs(1);
    Costs ten = costs(10);
    Costs hundred = costs(100);
    Costs thousand = costs(LockKeys.MAX_NAMES);

    String told =
        String.format(
            Locale.ROOT,
            "tracking %s, µs: 1 %s, 10 %s, 100 %s, 1000 %s",
            tracking,
            one,
            ten,
            hundred,
            thousand);
    System.out.println(told);
    // Some 10 ms on a quiet machine. No master must stand still for half of a node timeout.
    assertThat(thousand.most()).as(told).isLessThanOrEqualTo(100_000);
    // Ten times the names, and a factor of two for a busy machine.
    assertThat(thousand.most()).as(told).isLessThanOrEqualTo(20 * hundred.most());
  }

  @Test
  void deletion_ofAnyOfAThousandNames_reachesWaiterAndHolder() {
    LockKeys keys = names(LockKeys.MAX_NAMES);
    long token = nextToken();
    assertThat(client.acquire(keys, ME, token, TTL).code()).isEqualTo(Code.GRANTED);
    assertThat(waiter.acquire(keys, OTHER, token + 1, TTL).code()).isEqualTo(Code.HELD);
    for (int i : new int[] {0, 499, 999}) {
      server.command("DEL", keys.lockKey(i));
    }
    for (TestClient told : List.of(client, waiter)) {
      await()
          .atMost(Duration.ofSeconds(3))
          .untilAsserted(
              () ->
                  assertThat(told.invalidated)
                      .contains(keys.lockKey(0), keys.lockKey(499), keys.lockKey(999)));
    }
  }

  @Test
  void keyOfAnotherType_amongAThousand_isNamed_andNothingIsWritten() {
    LockKeys keys = names(LockKeys.MAX_NAMES);
    for (String foreign : List.of(keys.lockKey(617), keys.lockKey(0) + ":fence")) {
      server.command("RPUSH", foreign, "foreign", "data");
      NodeReply reply = client.acquire(keys, ME, nextToken(), TTL);
      NodeError error = Objects.requireNonNull(reply.error());
      assertThat(error.kind()).isEqualTo(NodeError.Kind.FOREIGN_KEY);
      assertThat(error.message()).contains("'" + foreign + "'");
      assertThat(server.keys())
          .extracting(key -> key.name())
          .containsExactlyInAnyOrder(foreign, "redlock:%node");
      server.command("DEL", foreign);
    }
  }

  @Test
  void release_withForeignFencesAmongMany_freesTheRest_andWritesNoForeignKey() {
    LockKeys keys = names(30);
    long token = nextToken();
    assertThat(client.acquire(keys, ME, token, TTL).code()).isEqualTo(Code.GRANTED);
    List<String> foreign = new ArrayList<>();
    for (int i : new int[] {3, 20}) {
      String fence = keys.lockKey(i) + ":fence";
      server.command("DEL", fence);
      server.command("RPUSH", fence, "foreign", "data");
      foreign.add(fence);
    }
    NodeReply reply = client.release(keys, ME, token);
    assertThat(Objects.requireNonNull(reply.error()).message())
        .contains("'" + foreign.get(1) + "'");
    for (int i = 0; i < keys.size(); i++) {
      assertThat(server.command("GET", keys.lockKey(i))).isNull();
    }
    for (String key : foreign) {
      assertThat(server.command("TYPE", key)).isEqualTo("list");
      server.command("DEL", key);
    }
  }

  @Test
  void refusal_whenEachNameHasAnotherHolder_tellsOfOneOfThem() {
    LockKeys keys = names(40);
    for (int i = 0; i < 40; i++) {
      server.command("SET", keys.lockKey(i), "holder" + i, "PX", Integer.toString(5_000 + i));
    }
    NodeReply reply = waiter.acquire(keys, OTHER, nextToken(), TTL);
    assertThat(reply.code()).isEqualTo(Code.HELD);
    assertThat(reply.remainingMillis()).isBetween(1L, 5_040L);
    assertThat(reply.mark()).isNotNull();
    assertThat(waiter.extend(keys, OTHER, lastToken, TTL).code()).isEqualTo(Code.LOST);
  }
}
