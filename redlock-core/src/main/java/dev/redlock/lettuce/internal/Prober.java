package dev.redlock.lettuce.internal;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.internal.scripts.Script;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Looks at a server, in one pipeline. */
final class Prober {
  /** What the probe found, and what could not be done for lack of permission. */
  record Result(Probe probe, boolean tracking, boolean scriptsLoaded, List<String> refused) {}

  /** The server is in no state to be looked at; try again later. */
  static final class NotReadyException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotReadyException(Throwable cause) {
      super(Failures.kind(cause) + ": " + Failures.message(cause), cause);
    }
  }

  /** Faults that say nothing about what the user may do, only that the moment is bad. */
  private static final Set<NodeError.Kind> BAD_MOMENT =
      Set.of(
          NodeError.Kind.LOADING,
          NodeError.Kind.BUSY,
          NodeError.Kind.DISCONNECTED,
          NodeError.Kind.NOT_AUTHENTICATED);

  private static final String NO_REPLICATION = "0".repeat(40);

  private final byte[] markerKey;
  private final byte[] maxLeaseMillis;
  private final boolean clustered;

  /**
   * @param clustered whether it is one of a cluster's masters, which cannot keep a key of their own
   *     there: slots move, and the key with them
   */
  Prober(String keyPrefix, long maxLeaseMillis, boolean clustered) {
    this.clustered = clustered;
    this.markerKey = (keyPrefix + ":%node").getBytes(UTF_8);
    this.maxLeaseMillis = Long.toString(maxLeaseMillis).getBytes(US_ASCII);
  }

  /** Everything there is to know of a new connection. */
  CompletionStage<Result> probe(Pipe pipe) {
    // An invalidation needs RESP3, which the handshake has made sure of.
    CompletionStage<Outcome<String>> tracking =
        send(
            pipe,
            CommandType.CLIENT,
            new StatusOutput<>(ByteArrayCodec.INSTANCE),
            args("TRACKING", "ON", "NOLOOP"));
    CompletionStage<Boolean> scripts = pipe.loadScripts();
    return tracking
        .thenCombine(scripts, (tracked, loaded) -> new Object[] {tracked.failure() == null, loaded})
        .thenCombine(
            look(pipe),
            (first, looked) -> {
              boolean tracked = (Boolean) first[0];
              boolean loaded = (Boolean) first[1];
              List<String> refused = new ArrayList<>(looked.refused());
              if (!tracked) {
                refused.add("CLIENT TRACKING (waiters will not be told of a release)");
              }
              return new Result(looked.probe(), tracked, loaded, refused);
            });
  }

  /** Who the server is now, and its marker; for a connection that has been probed before. */
  CompletionStage<Result> look(Pipe pipe) {
    CompletionStage<Outcome<byte[]>> info =
        send(
            pipe,
            CommandType.INFO,
            new ValueOutput<>(ByteArrayCodec.INSTANCE),
            new CommandArgs<>(ByteArrayCodec.INSTANCE));
    return info.thenCombine(
        clustered ? time(pipe) : marker(pipe),
        (said, marker) -> {
          throwIfNotReady(said.failure());
          throwIfNotReady(marker.failure());
          List<String> refused = new ArrayList<>();
          NodeIdentity identity = null;
          boolean promoted = false;
          if (said.value() != null) {
            String text = new String(said.value(), UTF_8);
            identity = NodeIdentity.parse(text);
            promoted = identity != null && !identity.replica() && wasPromoted(text);
          }
          if (identity == null) {
            refused.add("INFO (its restarts cannot be told)");
          }
          if (clustered) {
            long now = marker.value() == null ? 0 : marker.value().nowMicros();
            return new Result(new Probe(identity, null, now, promoted), true, true, refused);
          }
          if (marker.value() == null && (identity == null || !identity.replica())) {
            refused.add("its marker " + new String(markerKey, UTF_8) + " (flushes cannot be told)");
          }
          return new Result(new Probe(identity, marker.value()), true, true, refused);
        });
  }

  /** A master keeps the id of the replication that it took over as a replica. */
  private static boolean wasPromoted(String info) {
    return info.lines()
        .filter(line -> line.startsWith("master_replid2:"))
        .anyMatch(line -> !line.contains(NO_REPLICATION));
  }

  /** The node's clock, in the place of a marker. */
  private CompletionStage<Outcome<Probe.Marker>> time(Pipe pipe) {
    return send(
            pipe,
            CommandType.TIME,
            new ValueListOutput<>(ByteArrayCodec.INSTANCE),
            new CommandArgs<>(ByteArrayCodec.INSTANCE))
        .thenApply(
            outcome -> {
              List<byte[]> words = outcome.value();
              if (words == null) {
                return new Outcome<>(null, outcome.failure());
              }
              long seconds = Long.parseLong(new String(words.get(0), US_ASCII));
              long micros = Long.parseLong(new String(words.get(1), US_ASCII));
              return new Outcome<>(new Probe.Marker(0, 0, seconds * 1_000_000 + micros), null);
            });
  }

  /**
   * How the append-only file is synced; empty where this user may not ask, which is as it should be
   * for the user of an application. So nothing else but a doctor asks.
   */
  CompletionStage<String> appendFsync(Pipe pipe) {
    return send(
            pipe,
            CommandType.CONFIG,
            new ArrayOutput<>(ByteArrayCodec.INSTANCE),
            args("GET", "appendfsync"))
        .thenApply(
            outcome -> {
              List<Object> said = outcome.value();
              return said != null && said.size() == 2 && said.get(1) instanceof byte[] policy
                  ? new String(policy, UTF_8)
                  : "";
            });
  }

  /** Reads the marker, and sets it where there is none; in a cluster there never is one. */
  CompletionStage<Outcome<Probe.Marker>> marker(Pipe pipe) {
    if (clustered) {
      return CompletableFuture.completedStage(new Outcome<>(null, null));
    }
    CommandArgs<byte[], byte[]> args =
        new CommandArgs<>(ByteArrayCodec.INSTANCE)
            .add(Script.MARKER.text())
            .add(1)
            .addKey(markerKey)
            .add(maxLeaseMillis);
    return send(pipe, CommandType.EVAL, new ArrayOutput<>(ByteArrayCodec.INSTANCE), args)
        .thenApply(
            outcome -> {
              List<Object> numbers = outcome.value();
              if (numbers == null) {
                return new Outcome<>(null, outcome.failure());
              }
              return new Outcome<>(
                  new Probe.Marker(
                      (Long) numbers.get(1), (Long) numbers.get(2), (Long) numbers.get(3)),
                  null);
            });
  }

  private static void throwIfNotReady(@Nullable Throwable failure) {
    if (failure != null && BAD_MOMENT.contains(Failures.kind(failure))) {
      throw new NotReadyException(failure);
    }
  }

  /** A value, or why there is none. */
  record Outcome<T>(@Nullable T value, @Nullable Throwable failure) {}

  private static <T> CompletionStage<Outcome<T>> send(
      Pipe pipe,
      CommandType type,
      CommandOutput<byte[], byte[], T> output,
      CommandArgs<byte[], byte[]> args) {
    try {
      return pipe.dispatch(new AsyncCommand<>(new Command<>(type, output, args)))
          .handle(Outcome::new);
    } catch (RuntimeException e) {
      return CompletableFuture.completedStage(new Outcome<>(null, e));
    }
  }

  private static CommandArgs<byte[], byte[]> args(String... words) {
    CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE);
    for (String word : words) {
      args.add(word);
    }
    return args;
  }
}
