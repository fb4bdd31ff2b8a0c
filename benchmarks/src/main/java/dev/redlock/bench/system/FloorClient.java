package dev.redlock.bench.system;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.redis.internal.scripts.Script;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.TrackingArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The lower bound: the cost of a quorum with Lettuce and nothing else. It sends the same scripts
 * with the same arguments to all nodes at the same time, and completes at the third reply. The
 * connection settings are the same, including tracking and flush consolidation. There is no
 * validity, extension, queue, roll-back, retry or timer: a refusal is a failure. Arguments are
 * encoded once for all nodes, and the lease id comes from the cheapest random generator.
 *
 * <p>Others do less in the same way; see {@link Step}. They show what each part of a pair costs.
 */
public final class FloorClient implements LockClient {
  private static final byte[] TTL = "30000".getBytes(US_ASCII);
  private static final byte[] FENCE_LIFE =
      Long.toString(EncodedRequest.fenceLifeMillis(30_000)).getBytes(US_ASCII);
  private static final byte[] ONE = {'1'};
  private static final byte[] ZERO = {'0'};
  private static final long GRANTED = 1;
  private static final byte[] COMPARE_AND_DELETE =
      """
      if redis.call('GET', KEYS[1]) == ARGV[1] then
        return redis.call('DEL', KEYS[1])
      end
      return 0"""
          .getBytes(US_ASCII);

  private static final byte[] SET_AND_COUNT =
      """
      if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
        return 0
      end
      local token = redis.call('INCR', KEYS[2])
      redis.call('PEXPIRE', KEYS[2], ARGV[3])
      return token"""
          .getBytes(US_ASCII);

  /** What it sends. */
  public enum Step {
    /** The scripts of this library. */
    OUR_SCRIPTS,
    /** A simple script with a token: sets the key, counts, keeps the count alive. */
    SET_AND_COUNT,
    /** No token: {@code SET NX PX}, and a script that compares and deletes. */
    BARE,
    /** {@code PING}: no lock at all. */
    PING
  }

  private final ClientResources resources;
  private final RedisClient client;
  private final List<StatefulRedisConnection<byte[], byte[]>> connections = new ArrayList<>();
  private final AtomicLong lastToken = new AtomicLong();
  private final Step step;
  private final int quorum;
  private byte[] compareAndDelete = {};
  private byte[] setAndCount = {};

  private FloorClient(Step step, int quorum) {
    this.step = step;
    this.quorum = quorum;
    resources =
        ClientResources.builder()
            .commandLatencyRecorder(CommandLatencyRecorder.disabled())
            .nettyCustomizer(
                new NettyCustomizer() {
                  @Override
                  public void afterChannelInitialized(Channel channel) {
                    channel.pipeline().addFirst(new FlushConsolidationHandler(256, true));
                  }
                })
            .build();
    client = RedisClient.create(resources);
    client.setOptions(
        ClientOptions.builder()
            .autoReconnect(false)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .protocolVersion(ProtocolVersion.RESP3)
            .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
            .socketOptions(SocketOptions.builder().tcpNoDelay(true).build())
            .maintNotificationsConfig(MaintNotificationsConfig.disabled())
            .build());
  }

  /** Connects to each of these nodes. */
  public static FloorClient connect(List<String> uris, Step step) {
    return connect(uris, step, uris.size() / 2 + 1);
  }

  /** Connects to the first nodes that are a majority of these. */
  static FloorClient connectToMajority(List<String> uris, Step step) {
    int quorum = uris.size() / 2 + 1;
    return connect(uris.subList(0, quorum), step, quorum);
  }

  private static FloorClient connect(List<String> uris, Step step, int quorum) {
    FloorClient floor = new FloorClient(step, quorum);
    for (String uri : uris) {
      StatefulRedisConnection<byte[], byte[]> connection =
          floor.client.connect(ByteArrayCodec.INSTANCE, RedisURI.create(uri));
      connection.sync().clientTracking(TrackingArgs.Builder.enabled().noloop());
      connection.sync().scriptLoad(Script.ACQUIRE.text());
      connection.sync().scriptLoad(Script.RELEASE.text());
      floor.compareAndDelete = connection.sync().scriptLoad(COMPARE_AND_DELETE).getBytes(US_ASCII);
      floor.setAndCount = connection.sync().scriptLoad(SET_AND_COUNT).getBytes(US_ASCII);
      floor.connections.add(connection);
    }
    return floor;
  }

  @Override
  public Held acquire(String name) throws Exception {
    return acquireAsync(name).get();
  }

  @Override
  public boolean isAsync() {
    return true;
  }

  @Override
  public CompletableFuture<Held> acquireAsync(String name) {
    long now = System.currentTimeMillis() * 1000;
    byte[] token =
        Long.toString(lastToken.updateAndGet(last -> Math.max(last + 1, now))).getBytes(US_ASCII);
    byte[] id = id();
    HeldLock held = new HeldLock(this, name, id, token);
    Round<Held> round = new Round<>(connections.size(), quorum, held, step != Step.PING);
    switch (step) {
      case OUR_SCRIPTS -> {
        CommandArgs<byte[], byte[]> args =
            begin(Script.ACQUIRE.sha(), name).add(id).add(token).add(TTL).add(FENCE_LIFE);
        evaluate(args, round);
      }
      case SET_AND_COUNT ->
          evaluate(begin(setAndCount, name).add(id).add(TTL).add(FENCE_LIFE), round);
      case BARE ->
          send(
              CommandType.SET,
              () -> new StatusOutput<>(ByteArrayCodec.INSTANCE),
              key(new CommandArgs<>(ByteArrayCodec.INSTANCE), name)
                  .add(id)
                  .add("NX")
                  .add("PX")
                  .add(TTL),
              round);
      case PING -> ping(round);
    }
    return round;
  }

  /** The next caller of the same process: the release, and behind it the acquire. */
  public CompletableFuture<Held> handOver(Held held) {
    HeldLock before = (HeldLock) held;
    var unused = release(before);
    return acquireAsync(before.name);
  }

  private CompletionStage<Held> release(HeldLock held) {
    Round<Held> round = new Round<>(connections.size(), quorum, held, false);
    switch (step) {
      case OUR_SCRIPTS ->
          evaluate(
              begin(Script.RELEASE.sha(), held.name)
                  .add(held.id)
                  .add(held.token)
                  .add(FENCE_LIFE)
                  .add(ONE)
                  .add(ZERO),
              round);
      case SET_AND_COUNT, BARE ->
          send(
              CommandType.EVALSHA,
              () -> new IntegerOutput<>(ByteArrayCodec.INSTANCE),
              key(
                      new CommandArgs<>(ByteArrayCodec.INSTANCE).add(compareAndDelete).add(1),
                      held.name)
                  .add(held.id),
              round);
      case PING -> ping(round);
    }
    return round;
  }

  private void ping(Round<Held> round) {
    send(
        CommandType.PING,
        () -> new StatusOutput<>(ByteArrayCodec.INSTANCE),
        new CommandArgs<>(ByteArrayCodec.INSTANCE),
        round);
  }

  private CommandArgs<byte[], byte[]> key(CommandArgs<byte[], byte[]> args, String name) {
    return args.addKey(key(name).getBytes(UTF_8));
  }

  private String key(String name) {
    String prefix =
        step == Step.OUR_SCRIPTS ? "floor:" : step.name().toLowerCase(Locale.ROOT) + ":";
    return name.endsWith("}") ? prefix + name : prefix + "{" + name + "}";
  }

  private CommandArgs<byte[], byte[]> begin(byte[] script, String name) {
    String key = key(name);
    return new CommandArgs<>(ByteArrayCodec.INSTANCE)
        .add(script)
        .add(2)
        .addKey(key.getBytes(UTF_8))
        .addKey((key + ":fence").getBytes(UTF_8));
  }

  private void evaluate(CommandArgs<byte[], byte[]> args, Round<Held> round) {
    send(CommandType.EVALSHA, GrantOutput::new, args, round);
  }

  private <T> void send(
      CommandType type,
      Supplier<CommandOutput<byte[], byte[], T>> output,
      CommandArgs<byte[], byte[]> args,
      Round<Held> round) {
    for (StatefulRedisConnection<byte[], byte[]> connection : connections) {
      AsyncCommand<byte[], byte[], T> command =
          new AsyncCommand<>(new Command<>(type, output.get(), args));
      command.whenComplete(round);
      connection.dispatch(command);
    }
  }

  private static byte[] id() {
    byte[] bytes = new byte[20];
    ThreadLocalRandom.current().nextBytes(bytes);
    return HexFormat.of().formatHex(bytes).getBytes(US_ASCII);
  }

  @Override
  public void close() {
    client.shutdown(0, 1, TimeUnit.SECONDS);
    resources.shutdown(0, 1, TimeUnit.SECONDS);
  }

  private static final class HeldLock implements Held {
    private final FloorClient floor;
    private final String name;
    private final byte[] id;
    private final byte[] token;

    HeldLock(FloorClient floor, String name, byte[] id, byte[] token) {
      this.floor = floor;
      this.name = name;
      this.id = id;
      this.token = token;
    }

    @Override
    public void release() throws Exception {
      floor.release(this).toCompletableFuture().get();
    }

    @Override
    public CompletionStage<?> releaseAsync() {
      return floor.release(this);
    }
  }

  /**
   * Whether a script granted: it replies with a time or a token, or with an array that begins with
   * our code.
   */
  private static final class GrantOutput extends CommandOutput<byte[], byte[], Boolean> {
    private boolean isArray;

    GrantOutput() {
      super(ByteArrayCodec.INSTANCE, null);
    }

    @Override
    public void multi(int count) {
      isArray = true;
    }

    @Override
    public void set(long integer) {
      if (output == null) {
        output = isArray ? integer == GRANTED : integer != 0;
      }
    }

    @Override
    public void set(@Nullable ByteBuffer bytes) {}
  }

  /** Counts replies. Completes at a quorum, and fails when a quorum is impossible. */
  private static final class Round<T> extends CompletableFuture<T>
      implements BiConsumer<@Nullable Object, @Nullable Throwable> {
    private final int nodes;
    private final int quorum;
    private final T result;
    private final boolean grantsOnly;
    private final AtomicInteger good = new AtomicInteger();
    private final AtomicInteger bad = new AtomicInteger();

    Round(int nodes, int quorum, T result, boolean grantsOnly) {
      this.nodes = nodes;
      this.quorum = quorum;
      this.result = result;
      this.grantsOnly = grantsOnly;
    }

    @Override
    public void accept(@Nullable Object answer, @Nullable Throwable failure) {
      if (failure == null && (!grantsOnly || isGrant(answer))) {
        if (good.incrementAndGet() == quorum) {
          complete(result);
        }
      } else if (bad.incrementAndGet() == nodes - quorum + 1) {
        completeExceptionally(new IllegalStateException("no quorum: " + answer, failure));
      }
    }

    private static boolean isGrant(@Nullable Object answer) {
      return Boolean.TRUE.equals(answer) || "OK".equals(answer);
    }
  }
}
