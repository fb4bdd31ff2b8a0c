package dev.redlock.cluster.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.redis.internal.scripts.EncodedRequest;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StreamReadOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Release hints through one stream for each watched lock. No release is missed, however long this
 * process was cut off.
 *
 * <p>Reads never use {@code BLOCK}: a blocking read occupies its connection, and one read cannot
 * span slots. Instead the client reads the stream on the tracked connection when a wait begins;
 * after this read, the master sends an invalidation when the stream grows. The client reads again
 * after each invalidation and after each reconnect, from the last entry that it has seen. The first
 * read starts at the time that the master's clock showed when it refused the caller.
 */
record StreamHints(ClusterAccess cluster, WatchedLocks locks) implements HintCarrier {
  private static final String MAX_ENTRIES = "20";
  private static final byte[] TOKEN = {'t'};

  @Override
  public Source of(String lockKey, int slot, long nodeMicros) {
    return new Stream(lockKey, slot, nodeMicros);
  }

  /** The stream of one lock, and the last entry that was read from it. */
  private final class Stream implements Source {
    private final String lockKey;
    private final int slot;

    // Guarded by this.
    private String lastId;
    private boolean reading;
    private boolean readAgain;

    /**
     * Whether the master sends an invalidation when the stream grows: true after a read on the
     * current connection.
     */
    private boolean armed;

    private Stream(String lockKey, int slot, long nodeMicros) {
      this.lockKey = lockKey;
      this.slot = slot;
      // Entry ids are the master's clock in milliseconds. Those of the same millisecond are read.
      lastId = Math.max(0, nodeMicros / 1_000 - 1) + "-0";
    }

    /** One read at a time. A request to read during a read starts another read after it. */
    @Override
    public void listen() {
      String from;
      synchronized (this) {
        if (armed || reading) {
          readAgain |= reading;
          return;
        }
        reading = true;
        from = lastId;
      }
      MasterLink link = cluster.linkOf(slot);
      CompletionStage<List<StreamMessage<byte[], byte[]>>> asked =
          link == null ? null : link.dispatch(read(lockKey, from));
      if (asked == null) {
        done(null);
      } else {
        asked.whenComplete((entries, failure) -> done(failure == null ? entries : null));
      }
    }

    @Override
    public synchronized void stopped() {
      armed = false; // An invalidation ends the tracking of the key.
    }

    /**
     * @param entries null if the read failed: another master has the slot, or the connection broke
     */
    private void done(@Nullable List<StreamMessage<byte[], byte[]>> entries) {
      List<String> tokens = new ArrayList<>();
      boolean again;
      synchronized (this) {
        reading = false;
        again = readAgain && entries != null;
        readAgain = false;
        armed = entries != null && !again;
        if (entries != null) {
          for (StreamMessage<byte[], byte[]> entry : entries) {
            lastId = entry.getId();
            tokens.add(token(entry));
          }
        }
      }
      locks.released(lockKey, tokens);
      if (again) {
        listen();
      }
    }
  }

  private static Command<byte[], byte[], List<StreamMessage<byte[], byte[]>>> read(
      String lockKey, String from) {
    CommandArgs<byte[], byte[]> args =
        new CommandArgs<>(ByteArrayCodec.INSTANCE)
            .add("COUNT")
            .add(MAX_ENTRIES)
            .add("STREAMS")
            .addKey((lockKey + EncodedRequest.FREED).getBytes(UTF_8))
            .add(from);
    return new Command<>(CommandType.XREAD, new StreamReadOutput<>(ByteArrayCodec.INSTANCE), args);
  }

  private static String token(StreamMessage<byte[], byte[]> entry) {
    return entry.getBody().entrySet().stream()
        .filter(field -> Arrays.equals(field.getKey(), TOKEN))
        .map(field -> new String(field.getValue(), UTF_8))
        .findFirst()
        .orElse("");
  }
}
