package dev.redlock.lettuce.internal;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.redlock.lettuce.internal.scripts.Script;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Which scripts the server of one session has loaded. A request for another script carries its
 * whole text. Safe from any thread: an outdated answer costs one round trip.
 */
final class LoadedScripts {
  private static final byte[] LOAD = "LOAD".getBytes(US_ASCII);
  private static final int ALL = -1;

  private final NodeSession session;

  /** One bit per script that the server has not loaded. */
  private final AtomicInteger missing = new AtomicInteger();

  private final AtomicBoolean loading = new AtomicBoolean();

  /** Whether this user may load scripts; written when a load ends. */
  private volatile boolean mayLoad = true;

  LoadedScripts(NodeSession session) {
    this.session = session;
  }

  boolean isMissing(Script script) {
    return (missing.get() & script.bit()) != 0 || !Script.LOADED.contains(script);
  }

  /** Whether this user may load scripts, as far as the last load showed. */
  boolean mayLoad() {
    return mayLoad;
  }

  /** The text of the script was sent. Redis keeps it, and later requests arrive after it. */
  void onTextSent(Script script) {
    missing.getAndUpdate(bits -> bits & ~script.bit());
  }

  /**
   * The server replied that it has no such script. Returns whether that is news: the calls that
   * were on their way get the same reply.
   */
  boolean onMissing() {
    if (!mayLoad) {
      return missing.getAndSet(ALL) != ALL;
    }
    boolean first = loading.compareAndSet(false, true);
    if (first) {
      load().whenComplete((loaded, failure) -> loading.set(false));
    }
    return first;
  }

  /**
   * Loads all scripts. Without permission for that, the next request for each script carries its
   * text, which loads it too. The stage never fails.
   */
  CompletionStage<Boolean> load() {
    CompletionStage<Boolean> all = CompletableFuture.completedStage(true);
    for (Script script : Script.LOADED) {
      CommandArgs<byte[], byte[]> args =
          new CommandArgs<>(ByteArrayCodec.INSTANCE).add(LOAD).add(script.text());
      CompletionStage<Boolean> one =
          session
              .dispatch(
                  new AsyncCommand<>(
                      new Command<>(
                          CommandType.SCRIPT, new StatusOutput<>(ByteArrayCodec.INSTANCE), args)))
              .handle((sha, failure) -> failure == null);
      all = all.thenCombine(one, Boolean::logicalAnd);
    }
    return all.thenApply(
        loaded -> {
          mayLoad = loaded;
          missing.set(loaded ? 0 : ALL);
          return loaded;
        });
  }
}
