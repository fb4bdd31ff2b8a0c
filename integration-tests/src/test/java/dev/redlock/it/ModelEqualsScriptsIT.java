package dev.redlock.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.redlock.harness.model.NodeModel;
import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.redis.internal.scripts.Script;
import dev.redlock.redis.internal.scripts.ScriptReplies;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.testkit.RedisNodes;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares the model of the simulator with the Lua scripts on a real server: the same random
 * operations must get the same replies and, for the keys of the queue, the same invalidations, and
 * leave the same fences. The time comes from the server's reply.
 */
class ModelEqualsScriptsIT {
  private static final int LENGTH = 14;
  private static final int AT_ONCE = 40;
  private static final long FENCE_LIFE = 120_000;
  private static final String[] PROCESSES = {"p1", "p2", "p3", "p4", "p5", "p6", "p7"};

  /** The requests of most sequences are of so many processes. */
  private static final int FEW = 4;

  /** Redis takes the time of a script more than once; the two may differ by a millisecond. */
  private static final long SLACK_MILLIS = 2;

  /** They differ by more if the server was stopped in between. */
  private static final long PAUSE_MILLIS = 100;

  /**
   * In a step that took longer, the server may have been stopped inside a script, and keys may have
   * expired apart from the model: such a step is not compared.
   */
  private static final long MAX_STEP_NANOS = PAUSE_MILLIS / 2 * 1_000_000;

  private static final long MAX_NANOS = 300_000_000_000L;

  private static final Code[] CODES = {
    Code.FAILED,
    Code.GRANTED,
    Code.HELD,
    Code.QUEUED,
    Code.STALE,
    Code.EXTENDED,
    Code.REPAIRED,
    Code.LOST,
    Code.RELEASED,
    Code.NOT_OWNER,
    Code.FAILED,
    Code.ADMITTED
  };

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private int compared;
  private int completed;
  private int cutShort;
  private int heldUp; // How many of those were cut short by a pause.
  private int turns;
  private int lastsWoken;
  private int extended; // Fences with fields of a later version.
  private final Map<Code, Integer> replies = new EnumMap<>(Code.class);

  @Tag("thorough")
  @Test
  void moreRandomOperations_getEqualReplies() throws IOException {
    randomOperations_getEqualReplies(7_500);
  }

  @ParameterizedTest
  @ValueSource(ints = 2_500)
  void randomOperations_getEqualReplies(int count) throws IOException {
    System.out.println("model and scripts: seed=" + seed);
    long start = System.nanoTime();
    try (RedisNodes nodes = RedisNodes.start(1);
        Wires sessions = new Wires(nodes.get(0).port())) {
      Wire wire = sessions.operator;
      for (Script script : Script.LOADED) {
        wire.send("SCRIPT", "LOAD", new String(script.text(), UTF_8));
        wire.read();
      }
      for (int i = 0;
          completed < count && i < 5 * count && System.nanoTime() - start < MAX_NANOS;
          i += AT_ONCE) {
        together(sessions, i);
        if (i % 2000 == 0) {
          wire.send("FLUSHALL");
          wire.read();
          sessions.invalidations(); // Of what was flushed.
        }
      }
    }
    System.out.printf(
        "model and scripts: sequences=%d answers=%d turns=%d furtherFields=%d cutShort=%d heldUp=%d"
            + " in %d s, %s%n",
        completed,
        compared,
        turns,
        extended,
        cutShort,
        heldUp,
        (System.nanoTime() - start) / 1_000_000_000,
        replies);
    assertThat(completed)
        .as("sequences compared to their end; %d cut short, %d by a pause", cutShort, heldUp)
        .isGreaterThanOrEqualTo(count);
    assertThat(compared).as("answers compared").isGreaterThan(count * LENGTH / 2);
    assertThat(turns).as("invalidations compared").isGreaterThan(count / 20);
    assertThat(extended).as("fences with more fields").isGreaterThan(count / 20);
    assertThat(lastsWoken).as("invalidations of the last process").isGreaterThan(count / 20);
    assertThat(replies.getOrDefault(Code.ADMITTED, 0)).isGreaterThan(count / 10);
    assertThat(replies.getOrDefault(Code.QUEUED, 0)).isGreaterThan(count / 10);
  }

  /** Runs some sequences side by side, step by step, so that time passes between the steps. */
  private void together(Wires sessions, int first) throws IOException {
    List<Sequence> sequences = new ArrayList<>();
    for (int i = 0; i < AT_ONCE; i++) {
      sequences.add(new Sequence("s" + (first + i)));
    }
    long begin = System.nanoTime();
    for (int step = 0; step < LENGTH; step++) {
      long now = now(sessions.operator);
      List<Step> steps = new ArrayList<>();
      for (Sequence s : sequences) {
        Step next = s.next(now);
        next.send(sessions.of(next.session()));
        steps.add(next);
      }
      List<@Nullable Object> answers = new ArrayList<>();
      for (Step s : steps) {
        answers.add(sessions.of(s.session()).read());
      }
      Set<String> told = sessions.invalidations();
      long end = System.nanoTime();
      if (end - begin > MAX_STEP_NANOS) {
        sequences.forEach(Sequence::heldUp);
        return;
      }
      begin = end; // A pause between two steps must count as well.
      for (int i = 0; i < AT_ONCE; i++) {
        steps.get(i).compare(answers.get(i));
      }
      for (Sequence s : sequences) {
        s.compareTurns(told);
      }
    }
    for (Sequence s : sequences) {
      s.compareFences(sessions.operator);
      completed += s.over ? 0 : 1;
    }
  }

  private static long now(Wire wire) throws IOException {
    wire.send("TIME");
    List<?> time = (List<?>) wire.read();
    return Long.parseLong((String) time.get(0)) * 1_000_000 + Long.parseLong((String) time.get(1));
  }

  private interface Step {
    /** The connection that sends it; 0 is the operator's, which reads no keys of a queue. */
    default int session() {
      return 0;
    }

    void send(Wire wire) throws IOException;

    void compare(Object answer);
  }

  /** One set of names for one sequence, on the server and in its own model. */
  private final class Sequence {
    private final LockKeys[] keySets;
    private final NodeModel model = new NodeModel(FENCE_LIFE);
    private final String name;
    private final List<String> log = new ArrayList<>();

    /** The keys of the queue whose invalidation the model has sent to a session in this step. */
    private final Set<String> expectedTurns = new TreeSet<>();

    /**
     * Keys of processes that were admitted or got an error. Before 7.2, the server counts them as
     * read, so the node may send their invalidations. Also the watch keys of processes that live
     * for a short time: the server chooses when it removes an expired key.
     */
    private final Set<String> surplusTurns = new HashSet<>();

    private final String[] ids;
    private long lastToken;
    private boolean over;

    /** What comes first: in some sequences, all processes are queued, and the lock is released. */
    private int crowdStep = random.nextInt(5) == 0 ? 0 : PROCESSES.length + 2;

    /** Keys that hold a list; the model does not cover them. */
    private final Set<String> lists = new HashSet<>();

    Sequence(String name) {
      this.name = name;
      model.sendInvalidationsTo(
          (session, key) -> {
            if (isTurnKey(key)) {
              expectedTurns.add(session + " " + key);
            }
          });
      keySets =
          new LockKeys[] {
            LockKeys.of("redlock", List.of("{" + name + "}a")),
            LockKeys.of("redlock", List.of("{" + name + "}b")),
            LockKeys.of("redlock", List.of("{" + name + "}a", "{" + name + "}b"))
          };
      ids = new String[] {name + "-w", name + "-x", name + "-y", name + "-z"};
    }

    Step next(long now) {
      if (crowdStep < PROCESSES.length + 2) {
        return request(ofCrowd(keySets[0], crowdStep++, now), now);
      }
      LockKeys keys = keySets[pick(0, 0, 0, 1, 2, 2)];
      return random.nextInt(100) < 12 ? administration(keys) : request(anyRequest(keys, now), now);
    }

    private LockRequest ofCrowd(LockKeys keys, int step, long now) {
      if (step == 0) {
        lastToken = now;
        return new LockRequest.Acquire(keys, ids[0], now, 10_000, null);
      } else if (step <= PROCESSES.length) {
        String member = keys.member(PROCESSES[step - 1]);
        return new LockRequest.Enqueue(
            keys, new LockRequest.QueueEntry(member, 0, 5_000, 60_000, false), 0);
      }
      return new LockRequest.Release(keys, ids[0], lastToken, true, 0, null);
    }

    private Step request(LockRequest request, long now) {
      int session = sessionOf(request);
      EncodedRequest wireForm = EncodedRequest.of(request, FENCE_LIFE);
      return new Step() {
        @Override
        public int session() {
          return session;
        }

        @Override
        public void send(Wire wire) throws IOException {
          wire.write(wireForm.evalSha());
        }

        @Override
        public void compare(Object answer) {
          if (!over) {
            compareAnswers(request, session, now, answer);
          }
        }
      };
    }

    private LockRequest anyRequest(LockKeys keys, long now) {
      String id = ids[random.nextInt(ids.length)];
      long token = token(now);
      int kind = random.nextInt(100);
      if (kind < 20) {
        long after = random.nextInt(5) == 0 ? lastToken + random.nextInt(3) - 1 : 0;
        return new LockRequest.Enqueue(keys, entry(keys, now), after);
      } else if (kind < 56) {
        LockRequest.QueueEntry queueEntry = random.nextInt(5) < 2 ? entry(keys, now) : null;
        return new LockRequest.Acquire(keys, id, token, ttl(), queueEntry);
      } else if (kind < 70) {
        return new LockRequest.Extend(keys, id, token, ttl());
      } else if (kind < 90) {
        return new LockRequest.Release(
            keys,
            id,
            token,
            random.nextBoolean(),
            random.nextInt(4) == 0 ? ttl() : 0,
            random.nextInt(4) == 0 ? member(keys) : null);
      } else if (kind < 93) {
        return new LockRequest.Break(keys, token);
      }
      return new LockRequest.Inspect(keys, true);
    }

    private LockRequest.QueueEntry entry(LockKeys keys, long now) {
      return new LockRequest.QueueEntry(
          member(keys),
          pick(0, 0, 0, 1, 2) == 0 ? 0 : now + pick(-2, -1, 0, 2_000) * 1000L,
          pick(0, 20, 5_000, 50_000, 10_000_000, 10_000_000),
          pick(60_000, 60_000, 60_000, 15),
          random.nextInt(3) == 0);
    }

    private String member(LockKeys keys) {
      return keys.member(PROCESSES[random.nextInt(FEW)]);
    }

    /** A process that waits has one connection; other requests may come over any. */
    private int sessionOf(LockRequest request) {
      return request instanceof LockRequest.Enqueue r
          ? r.entry().process().charAt(1) - '0'
          : 1 + random.nextInt(FEW);
    }

    /** After a step: the sessions have received invalidations of the same keys. */
    void compareTurns(Set<String> toldToAll) {
      Set<String> told = new TreeSet<>();
      for (String one : toldToAll) {
        if (one.contains("{" + name + "}")) {
          told.add(one);
        }
      }
      told.removeIf(one -> !expectedTurns.contains(one) && surplusTurns.contains(one));
      if (!over) {
        assertThat(told)
            .as("turns; seed " + seed + "\n" + String.join("\n", log))
            .isEqualTo(expectedTurns);
        turns += told.size();
      }
      expectedTurns.clear();
    }

    /** After the last step: the fences are the same, with fields of a later version. */
    void compareFences(Wire wire) throws IOException {
      for (int i = 0; !over && i < 2; i++) {
        String key = keySets[i].lockKey(0);
        wire.send("GET", key + ":fence");
        Object stored = wire.read();
        assertThat(stored)
            .as("fence; seed " + seed + "\n" + String.join("\n", log))
            .isEqualTo(model.fenceValue(key, now(wire)));
        extended += stored != null && stored.toString().split(":", -1).length > 3 ? 1 : 0;
      }
    }

    /** Mostly near the last one or the clock, and often at an edge of the window. */
    private long token(long now) {
      long t =
          switch (random.nextInt(8)) {
            case 0 -> lastToken;
            case 1 -> lastToken + random.nextInt(3) - 1;
            case 2 -> now + 2_000_000 + random.nextInt(20_000) - 10_000;
            case 3 -> now - 2_000_000 + random.nextInt(20_000) - 10_000;
            default -> now + random.nextInt(2_000) - 1_000;
          };
      t = Math.max(1, t);
      lastToken = t;
      return t;
    }

    private long ttl() {
      return pick(10, 15, 25, 60, 1000, 10_000, 10_000, 10_000);
    }

    private void compareAnswers(LockRequest request, int session, long begin, Object answer) {
      List<?> numbers;
      if (answer instanceof Long usual) {
        numbers = elements(request, usual);
      } else if (answer instanceof List<?> list) {
        numbers = list;
      } else {
        throw new AssertionError(request + " was answered " + answer + "\n" + log);
      }
      long clock = number(numbers, 1);
      long now = clock == 0 ? begin : clock; // The usual release does not read the clock.
      if (atAnEdge(request.keys(), now, SLACK_MILLIS)) {
        cutShort();
        return;
      }
      boolean unsure = atAnEdge(request.keys(), now, PAUSE_MILLIS);
      NodeReply expected = model.execute(request, session, 1, now);
      int last = PROCESSES.length;
      lastsWoken +=
          expectedTurns.contains(last + " " + keySets[0].wakeKey(PROCESSES[last - 1])) ? 1 : 0;
      int code = (int) number(numbers, 0);
      log.add(session + " " + describe(request) + " -> " + numbers);
      replies.merge(CODES[code], 1, Integer::sum);
      if (request instanceof LockRequest.Enqueue r
          && (code == 10 || CODES[code] == Code.ADMITTED)) {
        surplusTurns.add(session + " " + r.keys().wakeKey(r.entry().process()));
        surplusTurns.add(session + " " + r.keys().watchKey(r.entry().process()));
      }
      if (request instanceof LockRequest.Enqueue r && r.entry().lifeMillis() < 1_000) {
        surplusTurns.add(session + " " + r.keys().watchKey(r.entry().process()));
      }
      if (unsure && !isExpected(numbers, code, expected)) {
        cutShort();
        return;
      }
      String told = "seed " + seed + "\n" + String.join("\n", log) + "\nthe model says " + expected;
      if (code == 10) {
        assertThat(expected.error()).as(told).isNotNull();
        assertThat(expected.error().kind()).as(told).isEqualTo(NodeError.Kind.FOREIGN_KEY);
        compared++;
        return;
      }
      assertThat(CODES[code]).as(told).isEqualTo(expected.code());
      assertThat(number(numbers, 2)).as(told).isEqualTo(expected.fence());
      assertThat(number(numbers, 3))
          .as(told)
          .isCloseTo(expected.remainingMillis(), within(PAUSE_MILLIS));
      assertThat(number(numbers, 4)).as(told).isEqualTo(expected.othersQueued());
      Object mark = numbers.size() > 5 ? numbers.get(5) : null;
      if (mark == null || !heldAlike(request.keys())) {
        assertThat(mark).as(told).isEqualTo(expected.mark());
      }
      compared++;
    }

    /** The usual reply to an acquire or a release is one integer. */
    private static List<?> elements(LockRequest request, long integer) {
      EncodedRequest encoded = EncodedRequest.of(request, FENCE_LIFE);
      NodeReply reply = ScriptReplies.reply(encoded, "node", 1, integer);
      assertThat(reply.error()).as("%s was answered %d", request, integer).isNull();
      long code = List.of(CODES).indexOf(reply.code());
      return List.of(code, reply.nodeMicros(), reply.fence());
    }

    private static boolean isExpected(List<?> numbers, int code, NodeReply expected) {
      return code == 10
          ? expected.error() != null
          : CODES[code] == expected.code()
              && number(numbers, 2) == expected.fence()
              && number(numbers, 4) == expected.othersQueued()
              && Objects.equals(numbers.size() > 5 ? numbers.get(5) : null, expected.mark());
    }

    private void cutShort() {
      over = true;
      cutShort++;
    }

    private void heldUp() {
      if (!over) {
        heldUp++;
        cutShort();
      }
    }

    private boolean atAnEdge(LockKeys keys, long now, long slack) {
      for (int i = 0; i < keys.size(); i++) {
        String key = keys.lockKey(i);
        if (near(model.expiresMillis(key), now, slack)
            || near(model.queueExpiresMillis(key), now, slack)) {
          return true;
        }
      }
      for (LockKeys of : keySets) {
        if (model.signsMillis(of).stream().anyMatch(until -> near(until, now, slack))) {
          return true;
        }
      }
      return false;
    }

    /**
     * Whether two holders have nearly the same remaining time, so that the reply may name either of
     * them.
     */
    private boolean heldAlike(LockKeys keys) {
      return keys.size() > 1
          && Math.abs(model.expiresMillis(keys.lockKey(0)) - model.expiresMillis(keys.lockKey(1)))
              <= PAUSE_MILLIS;
    }

    private static boolean near(long millis, long now, long slack) {
      return Math.abs(millis - now / 1000) <= slack;
    }

    private String describe(LockRequest request) {
      if (request instanceof LockRequest.Acquire r) {
        return "acquire "
            + r.keys()
            + " "
            + r.leaseId()
            + " "
            + r.token()
            + " ttl "
            + r.ttlMillis()
            + " "
            + r.queueEntry();
      } else if (request instanceof LockRequest.Extend r) {
        return "extend " + r.keys() + " " + r.leaseId() + " " + r.token() + " ttl " + r.ttlMillis();
      } else if (request instanceof LockRequest.Release r) {
        return "release "
            + r.keys()
            + " "
            + r.leaseId()
            + " "
            + r.token()
            + (r.ended() ? " ended" : "")
            + " keep "
            + r.keepMillis()
            + " leave "
            + r.leaveQueue();
      } else if (request instanceof LockRequest.Enqueue r) {
        return "enqueue " + r.keys() + " " + r.entry() + " after " + r.afterToken();
      } else if (request instanceof LockRequest.Break r) {
        return "break " + r.keys() + " " + r.token();
      }
      return "inspect " + request.keys();
    }

    /** What an operator with redis-cli may do to a lock key, or a later version to a fence. */
    private Step administration(LockKeys keys) {
      String key = keys.lockKey(random.nextInt(keys.size()));
      boolean fenced = model.fenceValue(key, 0) != null;
      int kind = fenced ? pick(0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 5, 5) : pick(0, 0, 0, 0, 1, 1, 3, 4);
      long millis = pick(10, 30, 5000);
      String further = pick(0, 1) == 0 ? ":7" : ":a:1";
      String[] command =
          switch (kind) {
            case 0 -> new String[] {"PEXPIRE", key, Long.toString(millis)};
            case 1 -> new String[] {"DEL", key};
            case 2 -> new String[] {"DEL", key + ":fence"};
            case 3 -> new String[] {"SET", key, "foreign data"};
            case 5 -> new String[] {"APPEND", key + ":fence", further};
            default -> new String[] {"LPUSH", key, "1"};
          };
      return new Step() {
        @Override
        public void send(Wire wire) throws IOException {
          // Also returns the time, because an expiry counts from it.
          String call = "return {redis.call('TIME'), redis.pcall(unpack(ARGV))}";
          List<String> words = new ArrayList<>(List.of("EVAL", call, "1", key));
          words.addAll(List.of(command));
          wire.send(words.toArray(String[]::new));
        }

        @Override
        public void compare(Object answer) {
          if (over) {
            return;
          }
          List<?> time = (List<?>) ((List<?>) answer).get(0);
          long now =
              Long.parseLong((String) time.get(0)) * 1_000_000
                  + Long.parseLong((String) time.get(1));
          if (atAnEdge(keys, now, SLACK_MILLIS)) {
            cutShort();
            return;
          }
          log.add(String.join(" ", command) + " at " + now);
          boolean there = model.owner(key, now) != null;
          switch (kind) {
            case 0 -> {
              over |= lists.contains(key);
              if (there) {
                model.expireAt(key, now / 1000 + millis);
              }
            }
            case 1 -> {
              model.delete(key);
              lists.remove(key);
            }
            case 2 -> model.deleteFence(key);
            case 5 -> model.appendToFence(key, further);
            case 3 -> {
              model.delete(key);
              lists.remove(key);
              model.putForeign(key, "foreign data");
            }
            default -> {
              // A key that holds a string stays as it is: the server refuses.
              if (!there) {
                model.putWrongType(key);
                lists.add(key);
              }
            }
          }
        }
      };
    }
  }

  private static long number(List<?> numbers, int index) {
    return index < numbers.size() ? (Long) numbers.get(index) : 0;
  }

  private int pick(int... values) {
    return values[random.nextInt(values.length)];
  }

  private static boolean isTurnKey(String key) {
    return !LockKeys.lockKeyOf(key).equals(key);
  }

  /** A connection of the operator, and one for each process. */
  private static final class Wires implements AutoCloseable {
    final Wire operator;
    private final List<Wire> all = new ArrayList<>();

    Wires(int port) throws IOException {
      operator = new Wire(port);
      all.add(operator);
      for (int i = 0; i < PROCESSES.length; i++) {
        Wire wire = new Wire(port);
        all.add(wire);
        wire.send("HELLO", "3");
        wire.read();
        wire.send("CLIENT", "TRACKING", "ON", "NOLOOP");
        assertThat(wire.read()).isEqualTo("+OK");
      }
    }

    Wire of(int session) {
      return all.get(session);
    }

    /** The invalidations of keys of queues that each session has received since the last call. */
    Set<String> invalidations() throws IOException {
      Set<String> told = new HashSet<>();
      for (int i = 1; i < all.size(); i++) {
        Wire wire = all.get(i);
        wire.send("PING");
        assertThat(wire.read()).isEqualTo("+PONG");
        for (String key : wire.invalidated) {
          if (isTurnKey(key)) {
            told.add(i + " " + key);
          }
        }
        wire.invalidated.clear();
      }
      return told;
    }

    @Override
    public void close() throws IOException {
      for (Wire wire : all) {
        wire.close();
      }
    }
  }

  /** A raw connection that sends the bytes that the adapter would send. */
  private static final class Wire implements AutoCloseable {
    private final Socket socket;
    private final OutputStream out;
    private final InputStream in;

    /** The keys of the invalidations that came before the last reply. */
    final List<String> invalidated = new ArrayList<>();

    Wire(int port) throws IOException {
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(20_000);
      out = new BufferedOutputStream(socket.getOutputStream(), 1 << 16);
      in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
    }

    void write(byte[] command) throws IOException {
      out.write(command);
    }

    void send(String... words) throws IOException {
      out.write(("*" + words.length + "\r\n").getBytes(UTF_8));
      for (String word : words) {
        byte[] bytes = word.getBytes(UTF_8);
        out.write(("$" + bytes.length + "\r\n").getBytes(UTF_8));
        out.write(bytes);
        out.write("\r\n".getBytes(UTF_8));
      }
    }

    @Nullable Object read() throws IOException {
      out.flush();
      return readAny();
    }

    private @Nullable Object readAny() throws IOException {
      String line = readLine();
      String rest = line.substring(1);
      return switch (line.charAt(0)) {
        case '>' -> {
          readPush(Integer.parseInt(rest));
          yield readAny();
        }
        case '_' -> null;
        case '%' -> readArray(2 * Integer.parseInt(rest));
        case ':' -> Long.valueOf(rest);
        case '$' -> readBulk(Integer.parseInt(rest));
        case '*' -> readArray(Integer.parseInt(rest));
        default -> line;
      };
    }

    private List<@Nullable Object> readArray(int length) throws IOException {
      List<@Nullable Object> elements = new ArrayList<>();
      for (int i = length; i > 0; i--) {
        elements.add(readAny());
      }
      return elements;
    }

    private void readPush(int length) throws IOException {
      List<@Nullable Object> push = readArray(length);
      if ("invalidate".equals(push.get(0)) && push.get(1) instanceof List<?> keys) {
        keys.forEach(key -> invalidated.add(String.valueOf(key)));
      }
    }

    private @Nullable String readBulk(int length) throws IOException {
      if (length < 0) {
        return null;
      }
      String text = new String(in.readNBytes(length), UTF_8);
      in.readNBytes(2);
      return text;
    }

    private String readLine() throws IOException {
      StringBuilder line = new StringBuilder();
      for (int c = in.read(); c != '\r'; c = in.read()) {
        if (c < 0) {
          throw new IOException("the server closed the connection");
        }
        line.append((char) c);
      }
      in.read();
      return line.toString();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
