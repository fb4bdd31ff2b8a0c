package dev.redlock.lettuce.internal;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.redis.internal.scripts.Script;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.BooleanListOutput;
import io.lettuce.core.output.StatusOutput;
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
  private static final byte[] EXISTS = "EXISTS".getBytes(US_ASCII);
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

  boolean isMissing(EncodedRequest request) {
    Script script = request.script();
    return (missing.get() & script.bit()) != 0 || !Script.LOADED.contains(script);
  }

  /** Whether this user may load scripts, as far as the last load showed. */
  boolean mayLoad() {
    return mayLoad;
  }

  /** The text of the script was sent. Redis keeps it, and later requests arrive after it. */
  void onTextSent(EncodedRequest request) {
    missing.getAndUpdate(bits -> bits & ~request.script().bit());
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
   * Asks the server which scripts it has, and returns whether {@link #load} must follow. Most often
   * another connection has loaded them, so this one need not send them. A user who may not ask
   * counts as one who may not load. The stage never fails.
   */
  CompletionStage<Boolean> mustLoad() {
    CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE).add(EXISTS);
    Script.LOADED.forEach(script -> args.add(script.sha()));
    return session
        .dispatch(
            new Command<>(
                CommandType.SCRIPT, new BooleanListOutput<>(ByteArrayCodec.INSTANCE), args))
        .handle(
            (known, failure) -> {
              boolean answered = failure == null && !known.isEmpty();
              boolean all = answered && !known.contains(false);
              mayLoad = answered;
              missing.set(all ? 0 : ALL);
              return answered && !all;
            });
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
                  new Command<>(
                      CommandType.SCRIPT, new StatusOutput<>(ByteArrayCodec.INSTANCE), args))
              .handle((sha, failure) -> failure == null);
      all = all.thenCombine(one, Boolean::logicalAnd);
    }
    return all.thenApply(
        done -> {
          mayLoad = done;
          missing.set(done ? 0 : ALL);
          return done;
        });
  }
}
