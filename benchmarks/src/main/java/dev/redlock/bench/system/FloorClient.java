package dev.redlock.bench.system;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.internal.scripts.Script;
import dev.redlock.internal.scripts.WireRequest;
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
import io.lettuce.core.output.IntegerListOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The lower bound: what a quorum costs over Lettuce when nothing else is wanted. The same scripts
 * with the same arguments on all nodes at once, done at the third answer; the same connection
 * settings, tracking and flush consolidation included. No validity, no extension, no queue, no
 * roll-back, no retry, no timers: a refusal is a failure. Arguments are encoded once for all nodes,
 * the lease id comes from the cheapest generator there is.
 */
public final class FloorClient implements LockClient {
  private static final byte[] TTL = "30000".getBytes(US_ASCII);
  private static final byte[] FENCE_LIFE =
      Long.toString(WireRequest.fenceLifeMillis(Duration.ofSeconds(30))).getBytes(US_ASCII);
  private static final byte[] ONE = {'1'};
  private static final byte[] ZERO = {'0'};
  private static final int GRANTED = 1;

  private final ClientResources resources;
  private final RedisClient client;
  private final List<StatefulRedisConnection<byte[], byte[]>> connections = new ArrayList<>();
  private final AtomicLong lastToken = new AtomicLong();

  private FloorClient() {
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

  static FloorClient connect(List<String> uris) {
    FloorClient floor = new FloorClient();
    for (String uri : uris) {
      StatefulRedisConnection<byte[], byte[]> connection =
          floor.client.connect(ByteArrayCodec.INSTANCE, RedisURI.create(uri));
      connection.sync().clientTracking(TrackingArgs.Builder.enabled().noloop());
      connection.sync().scriptLoad(Script.ACQUIRE.text());
      connection.sync().scriptLoad(Script.RELEASE.text());
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
    return round(name, null);
  }

  /** Passes the lock on, in one round, as the library does between callers of one process. */
  public CompletableFuture<Held> handOver(Held held) {
    HeldLock before = (HeldLock) held;
    return round(before.name, before);
  }

  private CompletableFuture<Held> round(String name, @Nullable HeldLock before) {
    long now = System.currentTimeMillis() * 1000;
    byte[] token =
        Long.toString(lastToken.updateAndGet(last -> Math.max(last + 1, now))).getBytes(US_ASCII);
    byte[] id = id();
    CommandArgs<byte[], byte[]> args =
        begin(Script.ACQUIRE, name).add(id).add(token).add(TTL).add(FENCE_LIFE);
    if (before != null) {
      args.add(before.id).add(before.token);
    }
    Round<Held> round = new Round<>(connections.size(), new HeldLock(this, name, id, token), true);
    send(args, round);
    return round;
  }

  private CompletionStage<Held> release(HeldLock held) {
    CommandArgs<byte[], byte[]> args =
        begin(Script.RELEASE, held.name)
            .add(held.id)
            .add(held.token)
            .add(FENCE_LIFE)
            .add(ONE)
            .add(ZERO);
    Round<Held> round = new Round<>(connections.size(), held, false);
    send(args, round);
    return round;
  }

  private static CommandArgs<byte[], byte[]> begin(Script script, String name) {
    String key = name.endsWith("}") ? "floor:" + name : "floor:{" + name + "}";
    return new CommandArgs<>(ByteArrayCodec.INSTANCE)
        .add(script.sha())
        .add(2)
        .addKey(key.getBytes(UTF_8))
        .addKey((key + ":fence").getBytes(UTF_8));
  }

  private void send(CommandArgs<byte[], byte[]> args, Round<Held> round) {
    for (StatefulRedisConnection<byte[], byte[]> connection : connections) {
      AsyncCommand<byte[], byte[], List<Long>> command =
          new AsyncCommand<>(
              new Command<>(
                  CommandType.EVALSHA, new IntegerListOutput<>(ByteArrayCodec.INSTANCE), args));
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

  /** Counts answers; complete at a quorum, failed when there can be none. */
  private static final class Round<T> extends CompletableFuture<T>
      implements BiConsumer<List<Long>, @Nullable Throwable> {
    private final int nodes;
    private final int quorum;
    private final T result;
    private final boolean grantsOnly;
    private final AtomicInteger good = new AtomicInteger();
    private final AtomicInteger bad = new AtomicInteger();

    Round(int nodes, T result, boolean grantsOnly) {
      this.nodes = nodes;
      this.quorum = nodes / 2 + 1;
      this.result = result;
      this.grantsOnly = grantsOnly;
    }

    @Override
    public void accept(List<Long> answer, @Nullable Throwable failure) {
      if (failure == null && (!grantsOnly || answer.get(0) == GRANTED)) {
        if (good.incrementAndGet() == quorum) {
          complete(result);
        }
      } else if (bad.incrementAndGet() == nodes - quorum + 1) {
        completeExceptionally(new IllegalStateException("no quorum: " + answer, failure));
      }
    }
  }
}
