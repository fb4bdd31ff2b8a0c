package dev.redlock.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.harness.model.RecordScript;
import dev.redlock.redis.internal.scripts.RecordFields;
import dev.redlock.redis.internal.scripts.Script;
import dev.redlock.spi.NodeRecord;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Compares {@code record.lua} on a real server with {@link RecordScript#after}. */
@RedisTest(nodes = 1)
class RecordScriptIT {
  private static final String KEY = "redlock:%node";
  private static final int CHANGES = 5_000;
  private static final List<String> NAMES = List.of("a:1", "b:1", "c:1", "d:1");

  private final RedisNode server;
  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);

  RecordScriptIT(RedisNodes nodes) {
    server = nodes.get(0);
  }

  @Test
  void randomChanges_areMadeAsTheSpecificationSays_andNothingElseIsWritten() {
    System.out.println("record and script: seed=" + seed);
    Map<NodeRecord.Change.Kind, Integer> made = new EnumMap<>(NodeRecord.Change.Kind.class);
    NodeRecord stored = NodeRecord.NONE;
    for (int i = 0; i < CHANGES; i++) {
      if (i % 50 == 0) {
        server.flush();
        marker();
        server.command("HSET", KEY, "later", "field"); // Of a client of a later version.
        stored = NodeRecord.NONE;
      }
      NodeRecord.Change change = change(stored);
      long before = writes();
      NodeRecord replied = change(change);
      long now = replied.sinceMicros();
      if (change.kind() == NodeRecord.Change.Kind.FORGET && replied.equals(NodeRecord.NONE)) {
        made.merge(change.kind(), stored.equals(NodeRecord.NONE) ? 0 : 1, Integer::sum);
        marker();
        server.command("HSET", KEY, "later", "field");
        stored = replied;
        continue;
      }
      NodeRecord expected = RecordScript.after(stored, change, now);
      assertThat(replied).as("seed %s: %s after %s", seed, change, stored).isEqualTo(expected);
      boolean changed = !expected.equals(stored);
      assertThat(writes() - before)
          .as("writes of %s after %s", change, stored)
          .isEqualTo(changed ? 1 : 0);
      if (changed) {
        made.merge(change.kind(), 1, Integer::sum);
        if (now != stored.sinceMicros()) {
          assertThat(Math.abs(now - System.currentTimeMillis() * 1000)).isLessThan(60_000_000);
        }
      }
      stored = replied;
      if (i % 10 == 0) {
        assertThat(marker()).isEqualTo(stored);
      }
    }
    assertThat(server.command("HGET", KEY, "later")).isEqualTo("field");
    assertThat(made).hasSize(NodeRecord.Change.Kind.values().length);
    assertThat(made.values()).allMatch(times -> times > CHANGES / 500);
  }

  private NodeRecord.Change change(NodeRecord stored) {
    NodeRecord.Change.Kind kind =
        NodeRecord.Change.Kind.values()[random.nextInt(NodeRecord.Change.Kind.values().length)];
    long epoch = Math.max(random.nextInt(3) == 0 ? 0 : 1, stored.epoch() + random.nextInt(4) - 1);
    boolean same = stored.exists() && random.nextBoolean();
    NodeRecord given =
        new NodeRecord(
            identity(stored),
            random.nextInt(5) == 0 ? "" : NAMES.get(random.nextInt(NAMES.size())),
            same ? stored.epoch() : epoch,
            same ? stored.members() : names(1),
            names(0),
            Math.max(1, (same ? stored.epoch() : epoch) - random.nextInt(2)),
            epoch == 0 ? random.nextInt(2) : ballot(),
            ballot(),
            same ? stored.maxLeaseMillis() : 30_000 + random.nextInt(3),
            30_000 + random.nextInt(3),
            random.nextInt(9));
    return new NodeRecord.Change(kind, given);
  }

  /** Most often that of the node: it refuses others. */
  private String identity(NodeRecord stored) {
    boolean same = !stored.id().isEmpty() && random.nextInt(10) > 0;
    return same ? stored.id() : "d" + random.nextInt(4);
  }

  /** One of long ago, or a later one than that which a first record promises. */
  private long ballot() {
    return (random.nextBoolean() ? 1_700_000_000_000_000L : 2_700_000_000_000_000L)
        + random.nextInt(6);
  }

  private List<String> names(int atLeast) {
    int count = atLeast + random.nextInt(NAMES.size());
    int from = random.nextInt(NAMES.size());
    return IntStream.range(from, from + count)
        .mapToObj(i -> NAMES.get(i % NAMES.size()))
        .distinct()
        .toList();
  }

  @Test
  void serverWithoutAMarker_storesNothing() {
    server.flush();
    NodeRecord first = NodeRecord.first("d1", NAMES, 30_000).of("a:1");
    assertThat(change(new NodeRecord.Change(NodeRecord.Change.Kind.TELL, first)))
        .isEqualTo(NodeRecord.NONE);
    assertThat(server.key(KEY)).isEmpty();
  }

  @Test
  void markerThatLacksAField_orHasANumberOfAnotherForm_cannotBeRead_andStaysAsItIs() {
    NodeRecord first = NodeRecord.first("d1", NAMES, 30_000).of("a:1");
    for (String field :
        List.of(
            "name",
            "epoch",
            "members",
            "before",
            "floor",
            "ballot",
            "promised",
            "maxLeaseTime",
            "maxLeaseBefore",
            "deployment",
            "recordSince")) {
      server.flush();
      marker();
      assertThat(change(new NodeRecord.Change(NodeRecord.Change.Kind.TELL, first)).epoch())
          .isEqualTo(1);
      server.command("HDEL", KEY, field);
      if (field.equals("maxLeaseTime")) {
        assertThat(marker()).isEqualTo(NodeRecord.NONE); // The marker itself lacks it: another one.
        continue;
      }
      assertThat(marker()).as(field).isEqualTo(NodeRecord.UNREADABLE);
      assertThat(change(new NodeRecord.Change(NodeRecord.Change.Kind.TELL, first)))
          .isEqualTo(NodeRecord.UNREADABLE);
      server.command("HSET", KEY, field, "");
      boolean optional = List.of("name", "before").contains(field);
      assertThat(marker().exists()).as(field).isEqualTo(optional);
      server.command("HSET", KEY, field, "-1.5");
      boolean text = List.of("name", "members", "before", "deployment").contains(field);
      assertThat(marker().exists()).as(field).isEqualTo(text);
    }
  }

  @Test
  void wireVersion_isWrittenWithTheMarker_andItsAbsenceIsTheFirst() {
    server.flush();
    marker();
    assertThat(server.command("HGET", KEY, "wire")).isEqualTo("1");
    server.command("HDEL", KEY, "wire");
    assertThat(wire()).isEqualTo(1);
    server.command("HSET", KEY, "wire", "2");
    assertThat(wire()).isEqualTo(2);
  }

  @Test
  void recordOfSixtyThreeMembers_fits() {
    server.flush();
    marker();
    List<String> many =
        IntStream.range(0, 63).mapToObj(i -> "n" + (100 + i) + "x".repeat(41) + ":6379").toList();
    assertThat(many.get(0)).hasSize(50);
    NodeRecord first = NodeRecord.first("d1", many, 30_000).of(many.get(7));
    NodeRecord stored = change(new NodeRecord.Change(NodeRecord.Change.Kind.TELL, first));
    assertThat(stored.members()).isEqualTo(many);
    assertThat(marker()).isEqualTo(stored);
  }

  private NodeRecord change(NodeRecord.Change change) {
    List<String> words = new ArrayList<>(List.of("EVAL", text(Script.RECORD), "1", KEY));
    words.addAll(RecordFields.arguments(change));
    return record(reply(words), 0);
  }

  private NodeRecord marker() {
    return record(markerReply(), 8);
  }

  private long wire() {
    return Long.parseLong(markerReply().get(7).toString());
  }

  private List<?> markerReply() {
    return reply(List.of("EVAL", text(Script.MARKER), "1", KEY, "30000", "0", "id", ""));
  }

  private List<?> reply(List<String> words) {
    return (List<?>) server.command(words.toArray(String[]::new));
  }

  private static NodeRecord record(List<?> reply, int at) {
    List<Object> bytes =
        new ArrayList<>(reply.stream().map(one -> one.toString().getBytes(UTF_8)).toList());
    return RecordFields.record(bytes, at);
  }

  private static String text(Script script) {
    return new String(script.text(), UTF_8);
  }

  /** How often a key of the server was written. */
  private long writes() {
    String info = String.valueOf(server.command("INFO", "commandstats"));
    return info.lines()
        .filter(line -> line.startsWith("cmdstat_hset:calls="))
        .mapToLong(line -> Long.parseLong(line.replaceAll("^[^=]*=(\\d+).*$", "$1")))
        .sum();
  }
}
