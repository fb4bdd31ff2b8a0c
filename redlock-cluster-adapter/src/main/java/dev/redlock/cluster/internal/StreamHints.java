package dev.redlock.cluster.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.lettuce.internal.scripts.EncodedRequest;
import dev.redlock.spi.Time;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StreamReadOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Release hints through one stream per lock. No release is missed, however long this process was
 * cut off.
 *
 * <p>Reads never use {@code BLOCK}: a blocking read occupies its connection, and one read cannot
 * span slots. Instead the client reads the stream on the tracked connection when a wait begins;
 * after this read, the master sends an invalidation when the stream grows. The client reads again
 * after each invalidation and after each reconnect, from the last entry that it has seen. The first
 * read starts at the time that the master's clock showed when it refused the caller.
 */
final class StreamHints implements HintCarrier {
  private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final String MAX_ENTRIES = "20";
  private static final byte[] TOKEN = {'t'};

  private final ClusterAccess cluster;
  private final Map<String, Stream> streams = new ConcurrentHashMap<>();

  // Guarded by this.
  private Time.@Nullable Cancellable sweep;
  private boolean closed;

  StreamHints(ClusterAccess cluster) {
    this.cluster = cluster;
  }

  /** One stream and the last entry that was read from it. Guarded by its own monitor. */
  private static final class Stream {
    private final String lockKey;
    private final byte[] key;
    private final int slot;
    private String lastId;
    private boolean reading;
    private boolean readAgain;

    /**
     * Whether the master sends an invalidation when the stream grows: true after a read on the
     * current connection.
     */
    private boolean armed;

    /** 0 while a caller waits. */
    private long idleSinceNanos;

    private String ownToken = "";

    private Stream(String lockKey, int slot, long nodeMicros) {
      this.lockKey = lockKey;
      this.key = (lockKey + EncodedRequest.FREED).getBytes(UTF_8);
      this.slot = slot;
      this.lastId = idBefore(nodeMicros);
    }

    /** A caller waits from now on. */
    private synchronized void watched(long nodeMicros) {
      if (idleSinceNanos != 0) { // Hints of the idle time are of no use.
        idleSinceNanos = 0;
        lastId = idBefore(nodeMicros);
      }
    }

    private synchronized boolean isOver(long now) {
      return idleSinceNanos != 0 && now - idleSinceNanos > LINGER_NANOS;
    }

    /**
     * The id to start from. Entry ids are the master's clock in milliseconds; entries of the same
     * millisecond are read too.
     */
    private static String idBefore(long nodeMicros) {
      return Math.max(0, nodeMicros / 1_000 - 1) + "-0";
    }
  }

  @Override
  public String command() {
    return "XADD";
  }

  @Override
  public void watch(String lockKey, int slot, long nodeMicros) {
    // Within the map: the sweep must not remove a stream that a caller has just begun to watch.
    Stream stream =
        streams.compute(
            lockKey,
            (key, known) -> {
              Stream kept = known == null ? new Stream(lockKey, slot, nodeMicros) : known;
              kept.watched(nodeMicros);
              return kept;
            });
    boolean read;
    synchronized (stream) {
      read = !stream.armed;
    }
    if (read) {
      read(stream);
    }
    synchronized (this) {
      if (sweep == null && !closed) {
        sweep = cluster.time().schedule(this::sweep, SWEEP_NANOS);
      }
    }
  }

  @Override
  public void forget(String lockKey) {
    Stream stream = streams.get(lockKey);
    if (stream != null) {
      synchronized (stream) {
        long now = cluster.time().nanos();
        stream.idleSinceNanos = now == 0 ? 1 : now;
      }
    }
  }

  @Override
  public void revive(String lockKey) {
    AtomicBoolean read = new AtomicBoolean();
    Stream stream =
        streams.computeIfPresent(
            lockKey,
            (key, known) -> {
              synchronized (known) {
                read.set(known.idleSinceNanos != 0 && !known.armed);
                known.idleSinceNanos = 0;
              }
              return known;
            });
    if (stream != null && read.get()) {
      read(stream);
    }
  }

  @Override
  public void releasing(String lockKey, long token) {
    Stream stream = streams.get(lockKey);
    if (stream != null) {
      synchronized (stream) {
        stream.ownToken = Long.toString(token);
      }
    }
  }

  @Override
  public void onInvalidated(MasterLink link, String key) {
    Stream stream = streams.get(key.substring(0, key.length() - EncodedRequest.FREED.length()));
    if (stream != null) {
      readAgain(stream); // The invalidation ended the tracking of the key.
    }
  }

  @Override
  public void onUsable(MasterLink link) {
    for (Stream stream : streams.values()) {
      if (cluster.linkOf(stream.slot) == link) {
        readAgain(stream);
      }
    }
  }

  @Override
  public void onTopology() {
    streams.values().forEach(this::readAgain);
  }

  private void readAgain(Stream stream) {
    boolean wanted;
    synchronized (stream) {
      stream.armed = false;
      wanted = stream.idleSinceNanos == 0;
    }
    if (wanted) {
      read(stream);
    }
  }

  /** One read at a time. A request to read during a read starts another read after it. */
  private void read(Stream stream) {
    String from;
    synchronized (stream) {
      if (stream.reading) {
        stream.readAgain = true;
        return;
      }
      stream.reading = true;
      from = stream.lastId;
    }
    MasterLink link = cluster.linkOf(stream.slot);
    CompletionStage<List<StreamMessage<byte[], byte[]>>> asked =
        link == null ? null : link.dispatch(command(stream.key, from));
    if (asked == null) {
      done(stream, null);
    } else {
      asked.whenComplete((entries, failure) -> done(stream, failure == null ? entries : null));
    }
  }

  private static Command<byte[], byte[], List<StreamMessage<byte[], byte[]>>> command(
      byte[] key, String from) {
    CommandArgs<byte[], byte[]> args =
        new CommandArgs<>(ByteArrayCodec.INSTANCE)
            .add("COUNT")
            .add(MAX_ENTRIES)
            .add("STREAMS")
            .addKey(key)
            .add(from);
    return new Command<>(CommandType.XREAD, new StreamReadOutput<>(ByteArrayCodec.INSTANCE), args);
  }

  /**
   * @param entries null if the read failed: another master has the slot, or the connection broke
   */
  private void done(Stream stream, @Nullable List<StreamMessage<byte[], byte[]>> entries) {
    boolean released = false;
    boolean again;
    synchronized (stream) {
      stream.reading = false;
      stream.armed = entries != null;
      if (entries != null) {
        for (StreamMessage<byte[], byte[]> entry : entries) {
          stream.lastId = entry.getId();
          released |= !isOwn(stream, entry);
        }
      }
      again = stream.readAgain && entries != null;
      stream.readAgain = false;
      released &= stream.idleSinceNanos == 0;
    }
    if (released) {
      cluster.mayBeFree(stream.lockKey);
    }
    if (again) {
      read(stream);
    }
  }

  private static boolean isOwn(Stream stream, StreamMessage<byte[], byte[]> entry) {
    for (Map.Entry<byte[], byte[]> field : entry.getBody().entrySet()) {
      if (java.util.Arrays.equals(field.getKey(), TOKEN)) {
        return new String(field.getValue(), UTF_8).equals(stream.ownToken);
      }
    }
    return false;
  }

  private void sweep() {
    long now = cluster.time().nanos();
    for (Stream stream : List.copyOf(streams.values())) {
      boolean read;
      synchronized (stream) {
        read = !stream.armed && stream.idleSinceNanos == 0;
      }
      if (stream.isOver(now)) {
        streams.computeIfPresent(stream.lockKey, (key, s) -> s.isOver(now) ? null : s);
      } else if (read) {
        read(stream);
      }
    }
    synchronized (this) {
      sweep =
          closed || streams.isEmpty() ? null : cluster.time().schedule(this::sweep, SWEEP_NANOS);
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      if (sweep != null) {
        sweep.cancel();
      }
    }
    streams.clear();
  }
}
