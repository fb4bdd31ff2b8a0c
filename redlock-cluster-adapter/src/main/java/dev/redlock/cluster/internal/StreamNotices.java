package dev.redlock.cluster.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.internal.scripts.WireRequest;
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
import org.jspecify.annotations.Nullable;

/**
 * Notices by a stream for each lock: nothing is missed, however long this process was cut off.
 *
 * <p>Never with {@code BLOCK}: blocking reads do not share a connection, and a read does not span
 * slots. Instead the stream is read on the tracked connection when a wait begins, which makes the
 * master push when it grows; on each push; and after each reconnect, always on from the last entry
 * that was seen. To begin with, that is what the master's clock said when it refused.
 */
final class StreamNotices implements Notices {
  private static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final String MOST_ENTRIES = "20";
  private static final byte[] TOKEN = {'t'};

  private final Medium medium;
  private final Map<String, Stream> streams = new ConcurrentHashMap<>();

  // Guarded by this.
  private Time.@Nullable Cancellable sweep;
  private boolean closed;

  StreamNotices(Medium medium) {
    this.medium = medium;
  }

  /** One stream and how far it was read. Guarded by itself. */
  private static final class Stream {
    private final String lockKey;
    private final byte[] key;
    private final int slot;
    private String lastId;
    private boolean reading;
    private boolean readAgain;

    /** Whether the master pushes when it grows: it was read since, on this connection. */
    private boolean armed;

    /** 0 while it is waited for. */
    private long idleSinceNanos;

    private String ownToken = "";

    private Stream(String lockKey, int slot, long nodeMicros) {
      this.lockKey = lockKey;
      this.key = (lockKey + WireRequest.FREED).getBytes(UTF_8);
      this.slot = slot;
      this.lastId = idBefore(nodeMicros);
    }

    /** Entries are numbered by the master's clock; those of the same millisecond are read too. */
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
    Stream stream = streams.computeIfAbsent(lockKey, key -> new Stream(lockKey, slot, nodeMicros));
    boolean read;
    synchronized (stream) {
      if (stream.idleSinceNanos != 0) { // What was told meanwhile is of no use any more.
        stream.idleSinceNanos = 0;
        stream.lastId = Stream.idBefore(nodeMicros);
      }
      read = !stream.armed;
    }
    if (read) {
      read(stream);
    }
    synchronized (this) {
      if (sweep == null && !closed) {
        sweep = medium.time().schedule(this::sweep, SWEEP_NANOS);
      }
    }
  }

  @Override
  public void forget(String lockKey) {
    Stream stream = streams.get(lockKey);
    if (stream != null) {
      synchronized (stream) {
        long now = medium.time().nanos();
        stream.idleSinceNanos = now == 0 ? 1 : now;
      }
    }
  }

  @Override
  public void revive(String lockKey) {
    Stream stream = streams.get(lockKey);
    if (stream == null) {
      return;
    }
    boolean read;
    synchronized (stream) {
      read = stream.idleSinceNanos != 0 && !stream.armed;
      stream.idleSinceNanos = 0;
    }
    if (read) {
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
  public void onPush(MasterLink link, String key) {
    Stream stream = streams.get(key.substring(0, key.length() - WireRequest.FREED.length()));
    if (stream != null) {
      readAnew(stream); // The push has used up what armed it.
    }
  }

  @Override
  public void onUsable(MasterLink link) {
    for (Stream stream : streams.values()) {
      if (medium.linkOf(stream.slot) == link) {
        readAnew(stream);
      }
    }
  }

  @Override
  public void onTopology() {
    streams.values().forEach(this::readAnew);
  }

  private void readAnew(Stream stream) {
    boolean wanted;
    synchronized (stream) {
      stream.armed = false;
      wanted = stream.idleSinceNanos == 0;
    }
    if (wanted) {
      read(stream);
    }
  }

  /** One read at a time; what happens during it makes another. */
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
    MasterLink link = medium.linkOf(stream.slot);
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
            .add(MOST_ENTRIES)
            .add("STREAMS")
            .addKey(key)
            .add(from);
    return new Command<>(CommandType.XREAD, new StreamReadOutput<>(ByteArrayCodec.INSTANCE), args);
  }

  /**
   * @param entries null if they could not be read: the slot is elsewhere, or the connection broke
   */
  private void done(Stream stream, @Nullable List<StreamMessage<byte[], byte[]>> entries) {
    boolean news = false;
    boolean again;
    synchronized (stream) {
      stream.reading = false;
      stream.armed = entries != null;
      if (entries != null) {
        for (StreamMessage<byte[], byte[]> entry : entries) {
          stream.lastId = entry.getId();
          news |= !isOwn(stream, entry);
        }
      }
      again = stream.readAgain && entries != null;
      stream.readAgain = false;
      news &= stream.idleSinceNanos == 0;
    }
    if (news) {
      medium.mayBeFree(stream.lockKey);
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
    long now = medium.time().nanos();
    for (Stream stream : List.copyOf(streams.values())) {
      boolean over;
      boolean read;
      synchronized (stream) {
        over = stream.idleSinceNanos != 0 && now - stream.idleSinceNanos > LINGER_NANOS;
        read = !stream.armed && stream.idleSinceNanos == 0;
      }
      if (over) {
        streams.remove(stream.lockKey, stream);
      } else if (read) {
        read(stream);
      }
    }
    synchronized (this) {
      sweep = closed || streams.isEmpty() ? null : medium.time().schedule(this::sweep, SWEEP_NANOS);
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
