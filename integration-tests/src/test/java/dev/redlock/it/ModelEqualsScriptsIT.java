package dev.redlock.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.internal.memory.NodeModel;
import dev.redlock.internal.scripts.Script;
import dev.redlock.internal.scripts.WireRequest;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyCode;
import dev.redlock.testkit.RedisNodes;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The model that the simulator runs, and the Lua scripts on a real server: the same random
 * operations, the same answers. What time it was is taken from the server's answer.
 */
class ModelEqualsScriptsIT {
  private static final int SEQUENCES = 10_000;
  private static final int LENGTH = 14;
  private static final int AT_ONCE = 40;
  private static final long FENCE_LIFE = 120_000;
  private static final String[] PROCESSES = {"p1", "p2", "p3"};

  /** Redis takes the time of a script more than once; the two may differ by a millisecond. */
  private static final long SLACK_MILLIS = 2;

  /** And by more where the server was not running in between. */
  private static final long PAUSE_MILLIS = 100;

  private static final ReplyCode[] CODES = {
    ReplyCode.FAILED,
    ReplyCode.GRANTED,
    ReplyCode.HELD,
    ReplyCode.QUEUED,
    ReplyCode.STALE,
    ReplyCode.EXTENDED,
    ReplyCode.REPAIRED,
    ReplyCode.LOST,
    ReplyCode.RELEASED,
    ReplyCode.NOT_OWNER
  };

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private int compared;
  private int completed;
  private int cutShort;
  private int heldUp;

  @Test
  void randomOperations_areAnsweredAlike() throws IOException {
    System.out.println("model and scripts: seed=" + seed);
    long start = System.nanoTime();
    try (RedisNodes nodes = RedisNodes.start(1);
        Wire wire = new Wire(nodes.get(0).port())) {
      for (Script script : Script.LOADED) {
        wire.send("SCRIPT", "LOAD", new String(script.text(), UTF_8));
        wire.read();
      }
      for (int i = 0; completed < SEQUENCES && i < 5 * SEQUENCES; i += AT_ONCE) {
        together(wire, i);
        if (i % 2000 == 0) {
          wire.send("FLUSHALL");
          wire.read();
        }
      }
    }
    System.out.printf(
        "model and scripts: sequences=%d answers=%d cutShort=%d in %d s%n",
        completed, compared, cutShort, (System.nanoTime() - start) / 1_000_000_000);
    assertThat(completed)
        .as("sequences compared to their end; " + cutShort + " were cut short by the clock")
        .isGreaterThanOrEqualTo(SEQUENCES);
    assertThat(heldUp).as("cut short by a script that was held up").isLessThanOrEqualTo(3);
    assertThat(compared).as("answers compared").isGreaterThan(SEQUENCES * LENGTH / 2);
  }

  /** Runs some sequences side by side, step by step, so that time passes between the steps. */
  private void together(Wire wire, int first) throws IOException {
    List<Sequence> sequences = new ArrayList<>();
    for (int i = 0; i < AT_ONCE; i++) {
      sequences.add(new Sequence("s" + (first + i)));
    }
    for (int step = 0; step < LENGTH; step++) {
      long now = now(wire);
      List<Step> steps = new ArrayList<>();
      for (Sequence s : sequences) {
        Step next = s.next(now);
        next.send(wire);
        steps.add(next);
      }
      for (Step s : steps) {
        s.compare(wire.read());
      }
    }
    for (Sequence s : sequences) {
      completed += s.over ? 0 : 1;
    }
  }

  private static long now(Wire wire) throws IOException {
    wire.send("TIME");
    List<?> time = (List<?>) wire.read();
    return Long.parseLong((String) time.get(0)) * 1_000_000 + Long.parseLong((String) time.get(1));
  }

  private interface Step {
    void send(Wire wire) throws IOException;

    void compare(Object answer);
  }

  /** One set of names that nobody else uses, on the server and in a model of its own. */
  private final class Sequence {
    private final LockKeys[] keySets;
    private final NodeModel model = new NodeModel(FENCE_LIFE);
    private final List<String> log = new ArrayList<>();
    private final String[] ids;
    private long lastToken;
    private boolean over;

    /** Keys that hold a list: what becomes of them is not the model's business. */
    private final Set<String> lists = new HashSet<>();

    Sequence(String name) {
      keySets =
          new LockKeys[] {
            LockKeys.of("redlock", List.of("{" + name + "}a")),
            LockKeys.of("redlock", List.of("{" + name + "}b")),
            LockKeys.of("redlock", List.of("{" + name + "}a", "{" + name + "}b"))
          };
      ids = new String[] {name + "-w", name + "-x", name + "-y", name + "-z"};
    }

    Step next(long now) {
      LockKeys keys = keySets[pick(0, 0, 0, 1, 2, 2)];
      return random.nextInt(100) < 12 ? administration(keys) : request(keys, now);
    }

    private Step request(LockKeys keys, long now) {
      LockRequest request = anyRequest(keys, now);
      WireRequest wireForm = WireRequest.of(request, FENCE_LIFE);
      return new Step() {
        @Override
        public void send(Wire wire) throws IOException {
          wire.write(wireForm.evalSha());
        }

        @Override
        public void compare(Object answer) {
          if (!over) {
            compareAnswers(request, answer);
          }
        }
      };
    }

    private LockRequest anyRequest(LockKeys keys, long now) {
      String id = ids[random.nextInt(ids.length)];
      long token = token(now);
      int kind = random.nextInt(100);
      if (kind < 50) {
        boolean handOff = random.nextInt(5) == 0;
        LockRequest.Line line =
            random.nextInt(5) == 0
                ? new LockRequest.Line(
                    PROCESSES[random.nextInt(3)],
                    random.nextBoolean() ? 0 : now - random.nextInt(3) * 1000L,
                    random.nextInt(3) == 0 ? 20 : 5000,
                    random.nextInt(4) > 0)
                : null;
        return new LockRequest.Acquire(
            keys,
            id,
            token,
            ttl(),
            handOff ? ids[random.nextInt(ids.length)] : null,
            handOff ? token(now) : 0,
            line);
      } else if (kind < 68) {
        return new LockRequest.Extend(keys, id, token, ttl());
      } else if (kind < 90) {
        return new LockRequest.Release(
            keys,
            id,
            token,
            random.nextBoolean(),
            random.nextInt(4) == 0 ? ttl() : 0,
            random.nextInt(4) == 0 ? PROCESSES[random.nextInt(3)] : null);
      } else if (kind < 93) {
        return new LockRequest.Break(keys, token);
      }
      return new LockRequest.Inspect(keys);
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

    private void compareAnswers(LockRequest request, Object answer) {
      if (!(answer instanceof List<?> numbers)) {
        throw new AssertionError(request + " was answered " + answer + "\n" + log);
      }
      long now = number(numbers, 1);
      if (atAnEdge(request.keys(), now, SLACK_MILLIS)) {
        cutShort();
        return;
      }
      boolean unsure = atAnEdge(request.keys(), now, PAUSE_MILLIS);
      NodeReply expected = model.execute(request, 1, 1, now);
      int code = (int) number(numbers, 0);
      log.add(describe(request) + " -> " + numbers);
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
      if (Math.abs(number(numbers, 3) - expected.remainingMillis()) >= PAUSE_MILLIS) {
        heldUp++; // Between its clock and its look at the key.
        cutShort();
        return;
      }
      assertThat(number(numbers, 4)).as(told).isEqualTo(expected.othersInLine());
      Object mark = numbers.size() > 5 ? numbers.get(5) : null;
      if (mark == null || !heldAlike(request.keys())) {
        assertThat(mark).as(told).isEqualTo(expected.mark());
      }
      compared++;
    }

    private static boolean isExpected(List<?> numbers, int code, NodeReply expected) {
      return code == 10
          ? expected.error() != null
          : CODES[code] == expected.code()
              && number(numbers, 2) == expected.fence()
              && number(numbers, 4) == expected.othersInLine()
              && Objects.equals(numbers.size() > 5 ? numbers.get(5) : null, expected.mark());
    }

    private void cutShort() {
      over = true;
      cutShort++;
    }

    private boolean atAnEdge(LockKeys keys, long now, long slack) {
      for (int i = 0; i < keys.size(); i++) {
        String key = keys.lockKey(i);
        if (near(model.expiresMillis(key), now, slack)
            || near(model.lineExpiresMillis(key), now, slack)) {
          return true;
        }
      }
      return false;
    }

    /** Whether two holders have so nearly the same time left that either may be named. */
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
            + " after "
            + r.previousLeaseId()
            + " "
            + r.previousToken()
            + " "
            + r.line();
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
            + r.leaveLine();
      } else if (request instanceof LockRequest.Break r) {
        return "break " + r.keys() + " " + r.token();
      }
      return "inspect " + request.keys();
    }

    /** What somebody with redis-cli may do to a lock key. */
    private Step administration(LockKeys keys) {
      String key = keys.lockKey(random.nextInt(keys.size()));
      int kind = pick(0, 0, 0, 0, 1, 1, 2, 3, 4);
      long millis = pick(10, 30, 5000);
      String[] command =
          switch (kind) {
            case 0 -> new String[] {"PEXPIRE", key, Long.toString(millis)};
            case 1 -> new String[] {"DEL", key};
            case 2 -> new String[] {"DEL", key + ":fence"};
            case 3 -> new String[] {"SET", key, "somebody's data"};
            default -> new String[] {"LPUSH", key, "1"};
          };
      return new Step() {
        @Override
        public void send(Wire wire) throws IOException {
          // With the time: an expiry counts from it.
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
            case 3 -> {
              model.delete(key);
              lists.remove(key);
              model.putForeign(key, "somebody's data");
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

  /** A connection without any client in between: what is sent is what the adapter would send. */
  private static final class Wire implements AutoCloseable {
    private final Socket socket;
    private final OutputStream out;
    private final InputStream in;

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
        case ':' -> Long.valueOf(rest);
        case '$' -> readBulk(Integer.parseInt(rest));
        case '*' -> {
          List<Object> elements = new ArrayList<>();
          for (int i = Integer.parseInt(rest); i > 0; i--) {
            elements.add(readAny());
          }
          yield elements;
        }
        default -> line;
      };
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
