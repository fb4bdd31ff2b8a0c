package dev.redlock.lettuce.internal;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.lettuce.LettuceOptions;
import dev.redlock.lettuce.internal.scripts.Script;
import dev.redlock.spi.LockReader;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.Time;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.protocol.AsyncCommand;
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
import org.jspecify.annotations.Nullable;

/** Lists the locks of one server over a connection that it makes at the first call. */
public final class ScriptReader implements LockReader {
  private static final int ELEMENTS = 5;

  /** Tokens are below 2^53. */
  private static final int MAX_FENCE_DIGITS = 16;

  private final Connector connector;
  private final SharedResources resources;
  private final LettuceOptions options;
  private final Time time;

  // Guarded by this.
  private @Nullable CompletableFuture<Connector.Made> connecting;
  private boolean closed;

  /** Connects at the first call. */
  public ScriptReader(
      NodeUri uri, LettuceOptions options, SharedResources resources, Time time, String label) {
    this.resources = resources;
    this.options = options;
    this.time = time;
    connector = CleanThreads.call(() -> new Connector(uri, options, resources, time, label));
  }

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
    CommandArgs<byte[], byte[]> args =
        new CommandArgs<>(ByteArrayCodec.INSTANCE).add(Script.LIST.text()).add(0);
    words.forEach(word -> args.add(word.getBytes(UTF_8)));
    AsyncCommand<byte[], byte[], List<Object>> eval =
        new AsyncCommand<>(
            new Command<>(CommandType.EVAL, new ArrayOutput<>(ByteArrayCodec.INSTANCE), args));
    return connection()
        .thenCompose(
            made ->
                CompletableFuture.supplyAsync(
                        () -> {
                          var unused = made.connection().dispatch(eval);
                          return eval;
                        },
                        made.channel().channel().eventLoop())
                    .thenCompose(sent -> inTime(sent.toCompletableFuture())))
        .handle(
            (reply, failure) -> {
              if (failure != null) {
                throw new CompletionException(
                    new IOException(
                        Failures.kind(failure) + ": " + Failures.message(failure), failure));
              }
              return page(reply);
            });
  }

  /** Not by {@code orTimeout}: its thread would keep the class loader of its maker for ever. */
  private CompletableFuture<List<Object>> inTime(CompletableFuture<List<Object>> reply) {
    Time.Cancellable deadline =
        time.schedule(
            () -> reply.completeExceptionally(new TimeoutException()),
            options.connectTimeout().toNanos());
    return reply.whenComplete((value, failure) -> deadline.cancel());
  }

  private synchronized CompletableFuture<Connector.Made> connection() {
    CompletableFuture<Connector.Made> known = connecting;
    if (closed) {
      return CompletableFuture.failedFuture(new IOException("the listing was closed"));
    }
    if (known == null || isOver(known)) {
      known = CleanThreads.call(() -> connector.connect().toCompletableFuture());
      connecting = known;
    }
    return known;
  }

  /** Whether there is no connection, and none is being made. */
  private static boolean isOver(CompletableFuture<Connector.Made> connecting) {
    if (connecting.isCompletedExceptionally()) {
      return true;
    }
    Connector.Made made = connecting.getNow(null);
    return made != null && !made.connection().isOpen();
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

  @Override
  public void close() {
    CompletableFuture<Connector.Made> made;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      made = connecting;
    }
    CompletableFuture<Void> ended =
        made == null
            ? CompletableFuture.completedFuture(null)
            : made.thenCompose(one -> one.connection().closeAsync());
    // One after the other: Lettuce logs a warning if the client closes the connection once more.
    resources.release(
        ended.handle((done, failure) -> connector.close()).thenCompose(closing -> closing));
  }
}
