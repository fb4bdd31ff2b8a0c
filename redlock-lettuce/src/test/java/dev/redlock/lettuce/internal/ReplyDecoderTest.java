package dev.redlock.lettuce.internal;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.Time;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.protocol.RedisStateMachine;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Sends replies of all kinds byte by byte through Lettuce's decoder. Each request must get exactly
 * one reply: a request without a reply would keep its lock in memory for ever.
 */
class ReplyDecoderTest {
  private static final int CASES = 60_000;
  private static final long NOW_MICROS = 1_790_000_000_000_000L;
  private static final LockKeys KEYS = LockKeys.of("redlock", List.of("{t}a", "{t}b"));
  private static final List<LockRequest> REQUESTS =
      List.of(
          new LockRequest.Acquire(KEYS, "id", 16, 30_000, null),
          new LockRequest.Acquire(
              LockKeys.of("redlock", List.of("f")),
              "id",
              16,
              30_000,
              new LockRequest.QueueEntry("process", 0, 1_000, 60_000, false)),
          new LockRequest.Enqueue(
              KEYS, new LockRequest.QueueEntry("process", 0, 1_000, 60_000, false), 0),
          new LockRequest.Extend(KEYS, "id", 16, 30_000),
          new LockRequest.Release(KEYS, "id", 16, true, 0, null),
          new LockRequest.Break(KEYS, 16),
          new LockRequest.Inspect(KEYS, true));

  /** The decoder reads no clock and waits for nothing. */
  private static final Time TIME =
      new Time() {
        @Override
        public long nanos() {
          return 0;
        }

        @Override
        public long wallMillis() {
          return 0;
        }

        @Override
        public Cancellable schedule(Runnable task, long delayNanos) {
          throw new UnsupportedOperationException();
        }
      };

  /** One connection with one request on it, and the reply of the server. */
  private static final class Wire {
    final List<ScriptCall> sent = new ArrayList<>();
    final List<NodeReply> replies = new ArrayList<>();
    final EmbeddedChannel channel = new EmbeddedChannel();
    final NodeSession session;
    boolean dropped;

    @SuppressWarnings("unchecked")
    Wire() {
      StatefulRedisConnection<byte[], byte[]> connection =
          (StatefulRedisConnection<byte[], byte[]>)
              Proxy.newProxyInstance(
                  getClass().getClassLoader(),
                  new Class<?>[] {StatefulRedisConnection.class},
                  (proxy, method, args) -> {
                    if (method.getName().equals("closeAsync")) {
                      dropped = true;
                      return CompletableFuture.completedFuture(null);
                    }
                    if (args[0] instanceof ScriptCall call) {
                      sent.add(call);
                    }
                    return args[0];
                  });
      session =
          new NodeSession(
              "node",
              new Connector.Made(
                  connection, new ChannelActivity(channel, TIME), Duration.ofSeconds(1)),
              10,
              7);
    }

    /** Sends the request and decodes the reply as Lettuce's command handler does. */
    NodeReply replyTo(LockRequest request, String bytes, int pieces) {
      session.send(EncodedRequest.of(request, 120_000), false, replies::add);
      channel.runPendingTasks();
      ScriptCall call = sent.get(sent.size() - 1);
      decode(call, bytes.getBytes(ISO_8859_1), pieces);
      channel.runPendingTasks();
      assertThat(replies).hasSize(1);
      assertThat(session.unanswered()).isZero();
      channel.finishAndReleaseAll();
      return replies.get(0);
    }

    private void decode(ScriptCall call, byte[] bytes, int pieces) {
      RedisStateMachine decoder = new RedisStateMachine();
      decoder.setProtocolVersion(ProtocolVersion.RESP3);
      ByteBuf buffer = Unpooled.buffer();
      try {
        for (int i = 0; i < pieces; i++) {
          int from = (int) ((long) bytes.length * i / pieces);
          int to = (int) ((long) bytes.length * (i + 1) / pieces);
          buffer.writeBytes(bytes, from, to - from);
          if (buffer.isReadable()
              && decoder.decode(buffer, call.getOutput(), call::completeExceptionally)) {
            completeAsLettuceDoes(call);
            return;
          }
        }
        call.cancel(); // The reply is never complete, and the connection ends at some time.
      } catch (RuntimeException e) {
        call.completeExceptionally(e); // Lettuce closes the channel.
      } finally {
        buffer.release();
        decoder.close();
      }
    }

    /** Lettuce logs the exception of a command and drops the command. */
    private static void completeAsLettuceDoes(ScriptCall call) {
      try {
        call.complete();
      } catch (RuntimeException e) {
        // The caller does not learn of it.
      }
    }
  }

  private static NodeReply replyTo(LockRequest request, String bytes) {
    return new Wire().replyTo(request, bytes, 1);
  }

  private static void assertUnexpected(NodeReply reply) {
    NodeError error = reply.error();
    assertThat(error).isNotNull();
    assertThat(error.kind()).isEqualTo(NodeError.Kind.UNEXPECTED);
  }

  @Test
  void answer_thatAScriptGives_isRead() {
    NodeReply reply =
        replyTo(
            REQUESTS.get(0), "*6\r\n:2\r\n:" + NOW_MICROS + "\r\n:16\r\n:9\r\n:1\r\n$2\r\nab\r\n");
    assertThat(reply.code()).isEqualTo(Code.HELD);
    assertThat(reply.connection()).isEqualTo(7);
    assertThat(reply.remainingMillis()).isEqualTo(9);
    assertThat(reply.othersQueued()).isEqualTo(1);
    assertThat(reply.mark()).isEqualTo("ab");
  }

  @Test
  void answer_withANegativeIndexOfAForeignKey_endsTheExchange() {
    assertUnexpected(replyTo(REQUESTS.get(3), "*3\r\n:10\r\n:" + NOW_MICROS + "\r\n:-5\r\n"));
  }

  @Test
  void answer_thatOnlyAnotherScriptGives_isNoVote() {
    assertUnexpected(replyTo(REQUESTS.get(0), "*3\r\n:5\r\n:" + NOW_MICROS + "\r\n:16\r\n"));
    assertUnexpected(replyTo(REQUESTS.get(2), "*3\r\n:1\r\n:" + NOW_MICROS + "\r\n:16\r\n"));
    assertUnexpected(replyTo(REQUESTS.get(3), "*3\r\n:1\r\n:" + NOW_MICROS + "\r\n:16\r\n"));
  }

  @Test
  void integer_isAGrantOnlyIfItIsATimeThatAllowsTheToken() {
    LockRequest acquire = new LockRequest.Acquire(KEYS, "id", NOW_MICROS, 30_000, null);
    NodeReply reply = replyTo(acquire, ":" + (NOW_MICROS + 2_000_000) + "\r\n");
    assertThat(reply.code()).isEqualTo(Code.GRANTED);
    assertThat(reply.nodeMicros()).isEqualTo(NOW_MICROS + 2_000_000);
    assertThat(reply.fence()).isEqualTo(NOW_MICROS);
    assertThat(replyTo(acquire, ":" + (NOW_MICROS - 2_000_000) + "\r\n").code())
        .isEqualTo(Code.GRANTED);
    for (long integer :
        new long[] {
          1,
          8,
          0,
          -1,
          NOW_MICROS + 2_000_001,
          NOW_MICROS - 2_000_001,
          Long.MIN_VALUE,
          Long.MAX_VALUE
        }) {
      assertUnexpected(replyTo(acquire, ":" + integer + "\r\n"));
    }
  }

  @Test
  void integer_isARelease_onlyIfItIsItsCode() {
    LockRequest release = new LockRequest.Release(KEYS, "id", NOW_MICROS, true, 0, null);
    NodeReply reply = replyTo(release, ":8\r\n");
    assertThat(reply.code()).isEqualTo(Code.RELEASED);
    assertThat(reply.fence()).isEqualTo(NOW_MICROS);
    assertThat(reply.nodeMicros()).isZero();
    assertUnexpected(replyTo(release, ":9\r\n"));
    assertUnexpected(replyTo(release, ":" + NOW_MICROS + "\r\n"));
    assertUnexpected(replyTo(release, "*3\r\n:8\r\n:0\r\n:16\r\n"));
  }

  @Test
  void integer_isNoReplyToAnotherRequest() {
    for (LockRequest request : REQUESTS.subList(2, REQUESTS.size())) {
      if (!(request instanceof LockRequest.Release)) {
        assertUnexpected(replyTo(request, ":8\r\n"));
      }
      assertUnexpected(replyTo(request, ":16\r\n"));
    }
  }

  @Test
  void answer_withAnErrorAmongItsElements_isNoErrorOfTheServer() {
    assertUnexpected(replyTo(REQUESTS.get(0), "*3\r\n:1\r\n-OOM none left\r\n:16\r\n"));
  }

  /** Otherwise the decoder would take the next replies for elements of this one. */
  @Test
  void answer_withCountlessElements_endsTheExchangeAndTheConnection() {
    Wire wire = new Wire();
    assertUnexpected(wire.replyTo(REQUESTS.get(0), "*2147483647\r\n:1\r\n", 1));
    assertThat(wire.dropped).isTrue();
  }

  @Test
  void answers_ofEveryShape_endTheExchangeOnce() {
    long seed = Long.getLong("redlock.fuzz.seed", new Random().nextLong());
    System.out.println("ReplyDecoderTest: -Dredlock.fuzz.seed=" + seed);
    Random random = new Random(seed);
    int votes = 0;
    for (int i = 0; i < CASES; i++) {
      LockRequest request = REQUESTS.get(random.nextInt(REQUESTS.size()));
      String bytes = shape(random, 0);
      String what = "seed " + seed + ", case " + i + ", " + request + ": " + bytes;
      NodeReply reply;
      try {
        reply = new Wire().replyTo(request, bytes, 1 + random.nextInt(3));
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(what, e);
      }
      votes += reply.code().definite() ? 1 : 0;
      assertThat(reply.code().definite()).as(what).isEqualTo(reply.error() == null);
      assertThat(reply.fence()).as(what).isNotNegative();
      assertThat(reply.nodeMicros()).as(what).isBetween(0L, 1L << 53);
      assertThat(reply.remainingMillis()).as(what).isBetween(-1L, 1_000_000_000_000L);
      assertThat(reply.othersQueued()).as(what).isNotNegative();
    }
    assertThat(votes).as("well-formed answers, seed %s", seed).isGreaterThan(CASES / 100);
  }

  /** Usually the reply of a script with some elements exchanged; sometimes any reply. */
  private static String shape(Random random, int depth) {
    if (depth == 0 && random.nextInt(4) != 0) {
      int size =
          random.nextInt(8) == 0 ? random.nextInt(9) : new int[] {3, 5, 6}[random.nextInt(3)];
      StringBuilder out = new StringBuilder("*").append(size).append("\r\n");
      for (int i = 0; i < size; i++) {
        out.append(random.nextInt(8) == 0 ? element(random, 1) : usual(random, i));
      }
      return out.toString();
    }
    return element(random, depth);
  }

  private static String usual(Random random, int place) {
    return switch (place) {
      case 0 -> ":" + random.nextInt(12) + "\r\n";
      case 1 -> ":" + NOW_MICROS + "\r\n";
      case 2 -> ":" + (random.nextInt(9) - 2) + "\r\n";
      case 3, 4 -> ":" + random.nextInt(2) + "\r\n";
      default -> "$4\r\n01ef\r\n";
    };
  }

  private static String element(Random random, int depth) {
    return switch (random.nextInt(depth > 3 ? 9 : 14)) {
      case 0, 1 -> ":" + integer(random) + "\r\n";
      case 2 -> bulk(random, '$');
      case 3 -> random.nextBoolean() ? "$-1\r\n" : "*-1\r\n";
      case 4 -> "_\r\n";
      case 5 -> random.nextBoolean() ? "#t\r\n" : ",1.5e300\r\n";
      case 6 -> "(" + "9".repeat(1 + random.nextInt(40)) + "\r\n";
      case 7 -> random.nextBoolean() ? "+OK\r\n" : "-ERR " + text(random) + "\r\n";
      case 8 -> bulk(random, random.nextBoolean() ? '!' : '=');
      case 9 -> "*" + integer(random) + "\r\n" + element(random, depth + 1);
      case 10 -> aggregate(random, depth, '%', 2);
      case 11 -> aggregate(random, depth, '~', 1);
      case 12 -> text(random) + "\r\n";
      default -> aggregate(random, depth, '*', 1);
    };
  }

  private static String aggregate(Random random, int depth, char type, int each) {
    int size = random.nextInt(5);
    StringBuilder out = new StringBuilder().append(type).append(size).append("\r\n");
    for (int i = 0; i < size * each; i++) {
      out.append(element(random, depth + 1));
    }
    return out.toString();
  }

  private static String bulk(Random random, char type) {
    String text = (type == '=' ? "txt:" : "") + text(random);
    return type + "" + text.length() + "\r\n" + text + "\r\n";
  }

  private static String text(Random random) {
    StringBuilder out = new StringBuilder();
    for (int i = random.nextInt(12); i > 0; i--) {
      char c = (char) random.nextInt(256);
      out.append(c == '\r' || c == '\n' ? '.' : c);
    }
    return out.toString();
  }

  private static Object integer(Random random) {
    return switch (random.nextInt(8)) {
      case 0 -> Long.MAX_VALUE;
      case 1 -> Long.MIN_VALUE;
      case 2 -> Integer.MAX_VALUE;
      case 3 -> -1 - random.nextInt(100);
      case 4 -> "99999999999999999999999";
      case 5 -> random.nextLong();
      default -> random.nextInt(20);
    };
  }
}
