package dev.redlock.cluster.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.spi.LockKeys;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.ProtocolKeyword;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * Wakes processes that wait for a name whose slot is being moved. The release script would do so,
 * but it cannot run then. The commands go to the source, where the waiters listen, without {@code
 * ASKING}: the source executes them if it has their key and refuses them otherwise. None of them
 * creates a key. A wake-up that fails costs time only: a process whose keys have moved was told so
 * by the invalidation of the move, and asks for the lock itself.
 */
record WakeUps(Masters masters, int slot) {
  static final String STREAM = "XADD";

  /** Publishes the release hint with the carrier of this client. */
  void publish(String lockKey, long token) {
    String with = masters.watchedLocks().command();
    String to = lockKey + EncodedRequest.FREED;
    if (with.equals(STREAM)) {
      var unused =
          send(
              CommandType.XADD,
              new StatusOutput<>(ByteArrayCodec.INSTANCE),
              args().addKey(key(to)).add("NOMKSTREAM").add("*").add("t").add(token));
    } else if (!with.isEmpty()) {
      var unused =
          send(
              CommandType.valueOf(with),
              new IntegerOutput<>(ByteArrayCodec.INSTANCE),
              args().addKey(key(to)).add(Long.toString(token)));
    }
  }

  /** Removes the process from the queue. */
  void leave(String queueKey, String process) {
    var unused =
        send(
            CommandType.ZREM,
            new IntegerOutput<>(ByteArrayCodec.INSTANCE),
            args().addKey(key(queueKey)).add(process));
  }

  /** Renews the watch key of the first of the queue, whose invalidation makes it ask again. */
  void wakeFirst(String lockKey, String lifeMillis) {
    CompletionStage<List<byte[]>> first =
        send(
            CommandType.ZRANGE,
            new ValueListOutput<>(ByteArrayCodec.INSTANCE),
            args().addKey(key(lockKey + LockKeys.QUEUE)).add(0).add(0));
    if (first == null) {
      return;
    }
    first.thenAccept(
        processes -> {
          for (byte[] process : processes) {
            var unused =
                send(
                    CommandType.PEXPIRE,
                    new IntegerOutput<>(ByteArrayCodec.INSTANCE),
                    args()
                        .addKey(key(lockKey + LockKeys.WATCH + new String(process, UTF_8)))
                        .add(lifeMillis));
          }
        });
  }

  private <T> @Nullable CompletionStage<T> send(
      ProtocolKeyword type,
      CommandOutput<byte[], byte[], T> output,
      CommandArgs<byte[], byte[]> args) {
    MasterLink link = masters.linkOf(slot);
    return link == null ? null : link.dispatch(new Command<>(type, output, args));
  }

  private static CommandArgs<byte[], byte[]> args() {
    return new CommandArgs<>(ByteArrayCodec.INSTANCE);
  }

  private static byte[] key(String text) {
    return text.getBytes(UTF_8);
  }
}
