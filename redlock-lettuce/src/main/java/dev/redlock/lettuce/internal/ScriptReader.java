package dev.redlock.lettuce.internal;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.redis.internal.scripts.Script;
import dev.redlock.spi.LockReader;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.Time;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;

/**
 * Lists the locks of one server, over its connection.
 *
 * @param patienceNanos how long the server may work on one step
 */
record ScriptReader(ConnectionLoop loop, Time time, long patienceNanos) implements LockReader {
  private static final int ELEMENTS = 5;

  /** Tokens are below 2^53. */
  private static final int MAX_FENCE_DIGITS = 16;

  @Override
  public CompletionStage<Page> scan(String prefix, String cursor, int count) {
    String pattern = escaped(prefix) + ":{*";
    return ask(List.of("scan", cursor, pattern, Integer.toString(count)));
  }

  private static String escaped(String prefix) {
    return prefix.replaceAll("[\\\\*?\\[\\]]", "\\\\$0");
  }

  @Override
  public CompletionStage<Page> inspect(List<String> lockKeys) {
    List<String> words = new ArrayList<>(lockKeys.size() + 1);
    words.add("inspect");
    words.addAll(lockKeys);
    return ask(words);
  }

  private CompletionStage<Page> ask(List<String> words) {
    NodeSession session = loop.session();
    if (session == null) {
      return CompletableFuture.failedStage(new IOException(loop.whyNot().toString()));
    }
    CommandArgs<byte[], byte[]> args =
        new CommandArgs<>(ByteArrayCodec.INSTANCE).add(Script.LIST.text()).add(0);
    words.forEach(word -> args.add(word.getBytes(UTF_8)));
    CompletableFuture<List<Object>> reply =
        session
            .dispatchUntracked(
                new Command<>(CommandType.EVAL, new ArrayOutput<>(ByteArrayCodec.INSTANCE), args))
            .toCompletableFuture();
    Time.Cancellable deadline =
        time.schedule(() -> reply.completeExceptionally(new TimeoutException()), patienceNanos);
    return reply.handle(
        (value, failure) -> {
          deadline.cancel();
          if (failure != null) {
            throw new CompletionException(new IOException(Errors.of(failure).toString(), failure));
          }
          return page(value);
        });
  }

  static Page page(List<Object> reply) {
    List<StoredLock> locks = new ArrayList<>();
    for (int i = 1; i + ELEMENTS <= reply.size(); i += ELEMENTS) {
      String mark = text(reply.get(i + 4));
      if (NodeReply.isMark(mark)) {
        locks.add(
            new StoredLock(
                new String((byte[]) reply.get(i), UTF_8),
                (Long) reply.get(i + 1),
                fence(text(reply.get(i + 2))),
                ((Long) reply.get(i + 3)).intValue(),
                mark));
      }
    }
    return new Page(text(reply.get(0)), locks);
  }

  /** One key that no client of this library wrote must not end the listing of all others. */
  private static long fence(String digits) {
    return digits.length() <= MAX_FENCE_DIGITS ? Long.parseLong(digits) : 0;
  }

  private static String text(Object bytes) {
    return new String((byte[]) bytes, US_ASCII);
  }
}
