package dev.redlock.cluster.internal;

import dev.redlock.lettuce.internal.Failures;
import dev.redlock.spi.LockKeys;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Asks a master how many of its replicas have what it wrote ({@code WAIT}).
 *
 * <p>{@code WAIT} holds up the connection it is sent on, and speaks of that connection's own writes
 * only. So it has a connection of its own to each master, on which it is sent behind a write that
 * is certainly later than the lease: that of the fence key's time to live. All leases of one master
 * that come while one answer is out share the next.
 */
final class ReplicaConfirmation {
  private final Medium medium;
  private final int replicas;
  private final Duration patience;
  private final long fenceLifeMillis;

  // Guarded by this.
  private final Map<Address, Desk> desks = new HashMap<>();
  private boolean closed;

  ReplicaConfirmation(Medium medium, int replicas, Duration patience, long fenceLifeMillis) {
    this.medium = medium;
    this.replicas = replicas;
    this.patience = patience;
    this.fenceLifeMillis = fenceLifeMillis;
  }

  /** A lease that waits; its taker is told a complaint, or null if enough replicas have it. */
  private record Waiting(LockKeys keys, Consumer<@Nullable String> then) {}

  /** What one master is asked. Guarded by the confirmation. */
  private static final class Desk {
    private final Address address;
    private List<Waiting> waiting = new ArrayList<>();
    private @Nullable StatefulRedisConnection<byte[], byte[]> connection;
    private boolean connecting;
    private boolean asking;

    private Desk(Address address) {
      this.address = address;
    }
  }

  /** The master has been connected to: leases will want to be confirmed. */
  void prepare(Address master) {
    synchronized (this) {
      Desk desk = desks.computeIfAbsent(master, Desk::new);
      connect(desk);
    }
  }

  /** The master is none any more. */
  void forget(Address master) {
    Desk desk;
    synchronized (this) {
      desk = desks.remove(master);
    }
    if (desk != null) {
      drop(desk, "it is no master any more");
    }
  }

  /** Asks about what this master has just written of these names. */
  void confirm(Address master, LockKeys keys, Consumer<@Nullable String> then) {
    boolean ask;
    Desk desk;
    synchronized (this) {
      if (closed) {
        ask = false;
        desk = null;
      } else {
        desk = desks.computeIfAbsent(master, Desk::new);
        desk.waiting.add(new Waiting(keys, then));
        ask = !desk.asking;
        connect(desk);
      }
    }
    if (desk == null) {
      then.accept("the client is closed");
    } else if (ask) {
      ask(desk);
    }
  }

  private void ask(Desk desk) {
    List<Waiting> batch;
    StatefulRedisConnection<byte[], byte[]> connection;
    synchronized (this) {
      connection = desk.connection;
      if (desk.asking || connection == null || desk.waiting.isEmpty()) {
        return;
      }
      desk.asking = true;
      batch = desk.waiting;
      desk.waiting = new ArrayList<>();
    }
    AsyncCommand<byte[], byte[], Long> write =
        new AsyncCommand<>(
            new Command<>(
                CommandType.PEXPIRE,
                new IntegerOutput<>(ByteArrayCodec.INSTANCE),
                args().addKey(batch.get(0).keys().fenceKeyBytes(0)).add(fenceLifeMillis)));
    AsyncCommand<byte[], byte[], Long> wait =
        new AsyncCommand<>(
            new Command<>(
                CommandType.WAIT,
                new IntegerOutput<>(ByteArrayCodec.INSTANCE),
                args().add(replicas).add(patience.toMillis())));
    write
        .thenCombine(wait, this::complaint)
        .exceptionally(failure -> "its replicas cannot be asked: " + Failures.message(failure))
        .thenAccept(
            complaint -> {
              synchronized (this) {
                desk.asking = false;
              }
              batch.forEach(one -> one.then().accept(at(desk, complaint)));
              ask(desk);
            });
    try {
      connection.dispatch(List.of(write, wait));
    } catch (RuntimeException e) {
      write.completeExceptionally(e);
      wait.completeExceptionally(e);
    }
  }

  private @Nullable String complaint(Long written, Long confirmed) {
    if (written == 0) {
      return "it has lost the fence";
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

  private static @Nullable String at(Desk desk, @Nullable String complaint) {
    return complaint == null ? null : "master " + desk.address + ": " + complaint;
  }

  private static CommandArgs<byte[], byte[]> args() {
    return new CommandArgs<>(ByteArrayCodec.INSTANCE);
  }

  /** Called under this. */
  private void connect(Desk desk) {
    StatefulRedisConnection<byte[], byte[]> known = desk.connection;
    if (closed || desk.connecting || (known != null && known.isOpen())) {
      return;
    }
    desk.connecting = true;
    desk.connection = null;
    try {
      medium
          .sideClient()
          .connectAsync(ByteArrayCodec.INSTANCE, medium.uriOf(desk.address))
          .whenComplete((made, failure) -> connected(desk, made, failure));
    } catch (RuntimeException e) {
      connected(desk, null, e);
    }
  }

  private void connected(
      Desk desk,
      @Nullable StatefulRedisConnection<byte[], byte[]> made,
      @Nullable Throwable failure) {
    boolean wanted;
    synchronized (this) {
      desk.connecting = false;
      wanted = made != null && !closed && desks.get(desk.address) == desk;
      desk.connection = wanted ? made : null;
    }
    if (wanted) {
      ask(desk);
    } else {
      if (made != null) {
        var unused = made.closeAsync();
      }
      drop(desk, failure == null ? "not needed any more" : Failures.message(failure));
    }
  }

  /** Nobody is to wait for what cannot be asked. */
  private void drop(Desk desk, String why) {
    List<Waiting> left;
    StatefulRedisConnection<byte[], byte[]> connection;
    synchronized (this) {
      left = desk.waiting;
      desk.waiting = new ArrayList<>();
      connection = desk.connection;
      desk.connection = null;
    }
    if (connection != null) {
      var unused = connection.closeAsync();
    }
    left.forEach(one -> one.then().accept(at(desk, "its replicas cannot be asked: " + why)));
  }

  void close() {
    List<Desk> all;
    synchronized (this) {
      closed = true;
      all = new ArrayList<>(desks.values());
      desks.clear();
      all.forEach(desk -> desk.connection = null); // Its client ends it with itself.
    }
    all.forEach(desk -> drop(desk, "the client is closed"));
  }
}
