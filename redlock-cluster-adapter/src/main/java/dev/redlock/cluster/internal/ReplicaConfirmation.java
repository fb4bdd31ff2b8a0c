package dev.redlock.cluster.internal;

import dev.redlock.lettuce.internal.Failures;
import dev.redlock.spi.LockKeys;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Asks a master how many of its replicas have stored its writes ({@code WAIT}).
 *
 * <p>{@code WAIT} blocks its connection, and covers the writes of that connection only. So this
 * class keeps a separate connection to each master. It sends {@code WAIT} after a write that is
 * certainly later than the lease: it renews the time to live of the fence key. All leases of one
 * master that arrive while one {@code WAIT} is in progress share the next one.
 */
final class ReplicaConfirmation {
  private static final String TOUCH =
      "if redis.call('GET',KEYS[1])~=ARGV[1] then return 0 end "
          + "return redis.call('PEXPIRE',KEYS[1],redis.call('PTTL',KEYS[1]))";

  private final ClusterAccess cluster;
  private final int replicas;
  private final Duration patience;
  private final long fenceLifeMillis;

  // Guarded by this.
  private final Map<Address, MasterQueue> queues = new HashMap<>();
  private boolean closed;

  ReplicaConfirmation(
      ClusterAccess cluster, int replicas, Duration patience, long fenceLifeMillis) {
    this.cluster = cluster;
    this.replicas = replicas;
    this.patience = patience;
    this.fenceLifeMillis = fenceLifeMillis;
  }

  /**
   * A write that is later than a lease, on a key that the master stored with it.
   *
   * @param asked whether the slot is being moved to this master, so that it needs {@code ASKING}
   * @param name the index of the name whose key it is
   * @param leaseId the lease whose lock key it is; empty for a fence key
   */
  record Write(Address master, boolean asked, LockKeys keys, int name, String leaseId) {
    static Write ofFence(MasterLink link, boolean asked, LockKeys keys, int name) {
      return new Write(link.address(), asked, keys, name, "");
    }

    static Write ofLock(MasterLink link, boolean asked, LockKeys keys, int name, String leaseId) {
      return new Write(link.address(), asked, keys, name, leaseId);
    }

    /** Sets the remaining life of a fence key anew; writes that of a lock key without change. */
    private Command<byte[], byte[], Long> command(long fenceLifeMillis) {
      IntegerOutput<byte[], byte[]> output = new IntegerOutput<>(ByteArrayCodec.INSTANCE);
      return leaseId.isEmpty()
          ? new Command<>(
              CommandType.PEXPIRE,
              output,
              args().addKey(keys.fenceKeyBytes(name)).add(fenceLifeMillis))
          : new Command<>(
              CommandType.EVAL,
              output,
              args().add(TOUCH).add(1).addKey(keys.lockKeyBytes(name)).add(leaseId));
    }
  }

  /**
   * A lease that waits for its confirmation. The consumer receives an error, or null if enough
   * replicas have stored the lease.
   */
  private record Waiting(List<Write> writes, Consumer<@Nullable String> then) {}

  /** All writes of one lease: the first error, or null after the last confirmation. */
  private static final class Joined implements Consumer<@Nullable String> {
    private final AtomicInteger left;
    private final Consumer<@Nullable String> then;

    /** Written before the count falls, read after it reached zero. */
    private volatile @Nullable String complaint;

    private Joined(int count, Consumer<@Nullable String> then) {
      this.left = new AtomicInteger(count);
      this.then = then;
    }

    @Override
    public void accept(@Nullable String one) {
      if (one != null) {
        complaint = one;
      }
      if (left.decrementAndGet() == 0) {
        then.accept(complaint);
      }
    }
  }

  /** The leases that wait for one master. Guarded by the {@link ReplicaConfirmation}. */
  private static final class MasterQueue {
    private final Address address;
    private List<Waiting> waiting = new ArrayList<>();
    private @Nullable StatefulRedisConnection<byte[], byte[]> connection;
    private boolean connecting;
    private boolean asking;

    private MasterQueue(Address address) {
      this.address = address;
    }
  }

  /** Connects to the master before the first lease needs a confirmation. */
  void prepare(Address master) {
    synchronized (this) {
      MasterQueue queue = queues.computeIfAbsent(master, MasterQueue::new);
      connect(queue);
    }
  }

  /** The server is no longer a master. */
  void forget(Address master) {
    MasterQueue queue;
    synchronized (this) {
      queue = queues.remove(master);
    }
    if (queue != null) {
      drop(queue, "it is no longer a master");
    }
  }

  /** Asks for the confirmation of what the masters stored before these writes. */
  void confirm(List<Write> writes, Consumer<@Nullable String> then) {
    Map<Address, List<Write>> byMaster =
        writes.stream().collect(Collectors.groupingBy(Write::master));
    Joined joined = new Joined(byMaster.size(), then);
    byMaster.forEach((master, its) -> confirm(master, its, joined));
  }

  private void confirm(Address master, List<Write> writes, Consumer<@Nullable String> then) {
    boolean ask;
    MasterQueue queue;
    synchronized (this) {
      if (closed) {
        ask = false;
        queue = null;
      } else {
        queue = queues.computeIfAbsent(master, MasterQueue::new);
        queue.waiting.add(new Waiting(writes, then));
        ask = !queue.asking;
        connect(queue);
      }
    }
    if (queue == null) {
      then.accept("the client is closed");
    } else if (ask) {
      ask(queue);
    }
  }

  private void ask(MasterQueue queue) {
    List<Waiting> batch;
    StatefulRedisConnection<byte[], byte[]> connection;
    synchronized (this) {
      connection = queue.connection;
      if (queue.asking || connection == null || queue.waiting.isEmpty()) {
        return;
      }
      queue.asking = true;
      batch = queue.waiting;
      queue.waiting = new ArrayList<>();
    }
    List<RedisCommand<byte[], byte[], ?>> commands = new ArrayList<>();
    List<AsyncCommand<byte[], byte[], Long>> writes = new ArrayList<>();
    for (Write one : batch.stream().flatMap(waiting -> waiting.writes().stream()).toList()) {
      if (one.asked()) {
        commands.add(
            new Command<>(CommandType.ASKING, new StatusOutput<>(ByteArrayCodec.INSTANCE)));
      }
      AsyncCommand<byte[], byte[], Long> write = new AsyncCommand<>(one.command(fenceLifeMillis));
      commands.add(write);
      writes.add(write);
    }
    AsyncCommand<byte[], byte[], Long> wait =
        new AsyncCommand<>(
            new Command<>(
                CommandType.WAIT,
                new IntegerOutput<>(ByteArrayCodec.INSTANCE),
                args().add(replicas).add(patience.toMillis())));
    commands.add(wait);
    written(writes)
        .thenCombine(wait, this::complaint)
        .exceptionally(failure -> "the replicas cannot be asked: " + Failures.message(failure))
        .thenAccept(
            complaint -> {
              synchronized (this) {
                queue.asking = false;
              }
              batch.forEach(one -> one.then().accept(at(queue, complaint)));
              ask(queue);
            });
    try {
      connection.dispatch(commands);
    } catch (RuntimeException e) {
      writes.forEach(write -> write.completeExceptionally(e));
      wait.completeExceptionally(e);
    }
  }

  /**
   * How many keys were written. One is enough for the whole batch, because it is later than all its
   * leases: a slot that was moved in the meantime must not fail the leases of other slots.
   */
  private static CompletionStage<Long> written(List<AsyncCommand<byte[], byte[], Long>> writes) {
    CompletionStage<Long> sum = CompletableFuture.completedStage(0L);
    for (AsyncCommand<byte[], byte[], Long> write : writes) {
      sum = sum.thenCombine(write.exceptionally(failure -> 0L), Long::sum);
    }
    return sum;
  }

  private @Nullable String complaint(Long written, Long confirmed) {
    if (written == 0) {
      return "the keys of the lease are gone";
    }
    return confirmed >= replicas
        ? null
        : confirmed
            + " of "
            + replicas
            + " replicas confirmed within "
            + patience.toMillis()
            + " ms";
  }

  private static @Nullable String at(MasterQueue queue, @Nullable String complaint) {
    return complaint == null ? null : "master " + queue.address + ": " + complaint;
  }

  private static CommandArgs<byte[], byte[]> args() {
    return new CommandArgs<>(ByteArrayCodec.INSTANCE);
  }

  /** Called under this. */
  private void connect(MasterQueue queue) {
    StatefulRedisConnection<byte[], byte[]> known = queue.connection;
    if (closed || queue.connecting || (known != null && known.isOpen())) {
      return;
    }
    queue.connecting = true;
    queue.connection = null;
    try {
      cluster
          .sideClient()
          .connect(
              cluster.uriOf(queue.address),
              (client, uri) -> client.connectAsync(ByteArrayCodec.INSTANCE, uri))
          .whenComplete((made, failure) -> connected(queue, made, failure));
    } catch (RuntimeException e) {
      connected(queue, null, e);
    }
  }

  private void connected(
      MasterQueue queue,
      @Nullable StatefulRedisConnection<byte[], byte[]> made,
      @Nullable Throwable failure) {
    boolean wanted;
    synchronized (this) {
      queue.connecting = false;
      wanted = made != null && !closed && queues.get(queue.address) == queue;
      queue.connection = wanted ? made : null;
    }
    if (wanted) {
      ask(queue);
    } else {
      if (made != null) {
        var unused = made.closeAsync();
      }
      drop(queue, failure == null ? "no longer needed" : Failures.message(failure));
    }
  }

  /** Ends every wait for a confirmation that cannot be requested. */
  private void drop(MasterQueue queue, String why) {
    List<Waiting> left;
    StatefulRedisConnection<byte[], byte[]> connection;
    synchronized (this) {
      left = queue.waiting;
      queue.waiting = new ArrayList<>();
      connection = queue.connection;
      queue.connection = null;
    }
    if (connection != null) {
      var unused = connection.closeAsync();
    }
    left.forEach(one -> one.then().accept(at(queue, "the replicas cannot be asked: " + why)));
  }

  void close() {
    List<MasterQueue> all;
    synchronized (this) {
      closed = true;
      all = new ArrayList<>(queues.values());
      queues.clear();
      all.forEach(queue -> queue.connection = null); // SideClient closes it with itself.
    }
    all.forEach(queue -> drop(queue, "the client is closed"));
  }
}
