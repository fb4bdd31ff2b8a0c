package dev.redlock.lettuce.internal;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import dev.redlock.redis.internal.InfoReply;
import dev.redlock.redis.internal.Probe;
import dev.redlock.redis.internal.scripts.RecordFields;
import dev.redlock.redis.internal.scripts.Script;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.ArrayOutput;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.output.ValueOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Probes a server: asks for its identity, age, clock and marker, in one pipeline. */
final class Prober {
  /**
   * What the probe found out, and what the server refused or left out.
   *
   * @param tracking whether the server sends invalidations; true if {@link #probeAgain} did not ask
   */
  record Result(Probe probe, boolean tracking, List<String> refused) {}

  private static final String NO_PERMISSION = "this user has no permission for ";

  private static final String MARKER_SCRIPT = "EVAL of the marker script";
  private static final String RECORD_SCRIPT = "EVAL of the record script";

  /** Errors that pass; they say nothing about the permissions of the user. */
  private static final Set<NodeError.Kind> PASSING =
      Set.of(
          NodeError.Kind.LOADING,
          NodeError.Kind.BUSY,
          NodeError.Kind.DISCONNECTED,
          NodeError.Kind.NOT_AUTHENTICATED);

  private final byte[] markerKey;
  private final String newMarkerId = Long.toHexString(ThreadLocalRandom.current().nextLong());

  /** In milliseconds. */
  private final String maxLease;

  private final boolean clustered;
  private final boolean observes;

  /**
   * @param clustered whether the server is a master of a cluster. It then has no marker, because a
   *     key moves with its slot
   * @param observes whether the client writes nothing, not even the marker
   */
  Prober(String keyPrefix, long maxLeaseMillis, boolean clustered, boolean observes) {
    this.observes = observes;
    this.clustered = clustered;
    this.markerKey = (keyPrefix + Probe.Marker.KEY).getBytes(UTF_8);
    maxLease = Long.toString(maxLeaseMillis);
  }

  /**
   * Probes a new connection. The stage fails if the server is not ready.
   *
   * @param knownSince the time of the last marker that was seen here; 0 if none
   */
  CompletionStage<Result> probe(NodeSession session, long knownSince) {
    // Invalidations need RESP3, which the handshake requires.
    CompletionStage<Reply<String>> tracking =
        send(
            session,
            CommandType.CLIENT,
            new StatusOutput<>(ByteArrayCodec.INSTANCE),
            args("TRACKING", "ON", "OPTOUT", "NOLOOP"));
    CompletionStage<Boolean> mustLoad = session.scripts().mustLoad();
    CompletionStage<Result> first = probeAgain(session, knownSince);
    return mustLoad
        .thenCompose(
            must ->
                must ? first.thenCompose(found -> loadAndProbe(session, found, knownSince)) : first)
        .thenCombine(
            tracking,
            (found, reply) -> {
              boolean tracked = reply.failure() == null;
              List<String> refused = new ArrayList<>(found.refused());
              if (!tracked) {
                refused.add(NO_PERMISSION + "CLIENT TRACKING (waiters receive no invalidations)");
              }
              return new Result(found.probe(), tracked, refused);
            })
        .thenCompose(result -> withClock(session, result));
  }

  /**
   * Loads the scripts, and reads the marker again after them. The server may lose its keys while it
   * receives the scripts. Until the probe has ended, the client ignores that invalidation, so the
   * first marker does not count. But its time is passed on: if the second marker is another one,
   * the server has lost its keys and is not new.
   */
  private CompletionStage<Result> loadAndProbe(NodeSession session, Result first, long knownSince) {
    CompletionStage<Boolean> loaded = session.scripts().load();
    return probeAgain(session, knownAfter(first, knownSince))
        .thenCombine(loaded, (found, done) -> found);
  }

  /**
   * Lease ids depend on the time that the node says on each new connection, also if the marker may
   * not be read. A user of the scripts of locks may run TIME.
   */
  private CompletionStage<Result> withClock(NodeSession session, Result result) {
    if (result.probe().nowMicros() != 0) {
      return CompletableFuture.completedStage(result);
    }
    return time(session)
        .thenApply(
            reply ->
                reply.value() == null
                    ? result
                    : new Result(
                        result.probe().at(reply.value().nowMicros()),
                        result.tracking(),
                        result.refused()));
  }

  /** Asks for identity, clock and marker only; for a connection that was probed before. */
  CompletionStage<Result> probeAgain(NodeSession session, long knownSince) {
    CompletionStage<Reply<byte[]>> info =
        send(session, CommandType.INFO, new ValueOutput<>(ByteArrayCodec.INSTANCE), args());
    return info.thenCombine(
            clustered ? time(session) : marker(session, knownSince),
            (reply, marker) -> {
              throwIfNotReady(reply.failure());
              requireValueOrRefusal("INFO", reply);
              throwIfNotReady(marker.failure());
              List<String> refused = new ArrayList<>();
              boolean infoRefused = reply.value() == null;
              NodeIdentity identity =
                  reply.value() == null
                      ? null
                      : InfoReply.identity(new String(reply.value(), UTF_8));
              if (infoRefused) {
                refused.add(NO_PERMISSION + "INFO (the client cannot detect restarts)");
              } else if (identity == null) {
                refused.add(
                    "the server reports no run_id in INFO (the client cannot detect restarts)");
              }
              boolean isReplica = identity != null && identity.replica();
              if (marker.value() == null && !clustered && !isReplica) {
                refused.add(
                    NO_PERMISSION
                        + "its marker "
                        + new String(markerKey, UTF_8)
                        + " (the client can detect neither flushes nor changes of the set of nodes)");
              }
              long now = marker.value() == null ? 0 : marker.value().nowMicros();
              Probe.Marker known = clustered ? null : marker.value();
              return new Result(
                  new Probe(identity, infoRefused, known, refusalOf(marker), now, clustered, 0),
                  true,
                  refused);
            })
        .thenCompose(result -> withProofOfAge(session, result, knownSince));
  }

  private @Nullable String refusalOf(Reply<Probe.Marker> marker) {
    Throwable failure = marker.failure();
    return failure == null ? null : new String(markerKey, UTF_8) + ": " + Errors.message(failure);
  }

  /**
   * INFO does not report when a master was promoted. Asks the marker since when the server has been
   * known as a master: a second round trip, after a promotion only.
   */
  private CompletionStage<Result> withProofOfAge(
      NodeSession session, Result result, long knownSince) {
    NodeIdentity identity = result.probe().identity();
    if (clustered || identity == null || !identity.promoted()) {
      return CompletableFuture.completedStage(result);
    }
    // The marker of the last reply counts: until the probe has ended, invalidations are ignored.
    return evalMarker(session, knownAfter(result, knownSince), identity.replicationId())
        .thenApply(
            reply ->
                read(
                    MARKER_SCRIPT,
                    reply,
                    values -> result.probe().withMasterFor((Long) values.get(5), marker(values))))
        .thenApply(
            proved ->
                proved.value() == null
                    ? result
                    : new Result(proved.value(), result.tracking(), result.refused()));
  }

  /** The time of the last marker that is known after the first reading of this probe. */
  private static long knownAfter(Result first, long knownSince) {
    Probe.Marker read = first.probe().marker();
    return knownSince != 0 || read == null ? knownSince : read.sinceMicros();
  }

  /** The node's clock, as a marker of which only that value counts: a cluster has no markers. */
  private CompletionStage<Reply<Probe.Marker>> time(NodeSession session) {
    return send(session, CommandType.TIME, new ValueListOutput<>(ByteArrayCodec.INSTANCE), args())
        .thenApply(
            reply ->
                read(
                    "TIME",
                    reply,
                    words -> {
                      long seconds = Long.parseLong(new String(words.get(0), US_ASCII));
                      long micros = Long.parseLong(new String(words.get(1), US_ASCII));
                      return new Probe.Marker(0, seconds * 1_000_000 + micros);
                    }));
  }

  /** Reads the value, if there is one. */
  private static <T, R> Reply<R> read(String command, Reply<T> reply, Function<T, R> reader) {
    T value = reply.value();
    requireValueOrRefusal(command, reply);
    if (value == null) {
      return new Reply<>(null, reply.failure());
    }
    try {
      return new Reply<>(reader.apply(value), null);
    } catch (RuntimeException e) {
      String what =
          value instanceof List<?> list ? "a list of " + list.size() + " values" : "no list";
      throw notUnderstood(command, what);
    }
  }

  private static RuntimeException notUnderstood(String command, String reply) {
    return new IllegalStateException("the reply to " + command + " was not understood: " + reply);
  }

  /** Neither an empty reply nor a failure of the decoder is a refusal by the server. */
  private static void requireValueOrRefusal(String command, Reply<?> reply) {
    Throwable failure = reply.failure();
    if (failure == null && reply.value() == null) {
      throw notUnderstood(command, "no value");
    } else if (failure != null
        && Errors.kind(failure) == NodeError.Kind.UNEXPECTED
        && !(failure instanceof RedisCommandExecutionException)) {
      throw notUnderstood(command, "another type");
    }
  }

  /**
   * The sync policy of the append-only file. Empty without permission, which the user of an
   * application should not have. So only the doctor asks.
   */
  CompletionStage<String> appendFsync(NodeSession session) {
    return send(
            session,
            CommandType.CONFIG,
            new ArrayOutput<>(ByteArrayCodec.INSTANCE),
            args("GET", "appendfsync"))
        .thenApply(
            reply -> {
              List<Object> words = reply.value();
              return words != null && words.size() == 2 && words.get(1) instanceof byte[] policy
                  ? new String(policy, UTF_8)
                  : "";
            });
  }

  /**
   * The other databases of the server that have locks with this prefix, separated by commas. Empty
   * without permission, which the user of an application needs not have. So only the doctor asks.
   */
  CompletionStage<String> otherDatabases(NodeSession session) {
    if (clustered) {
      return CompletableFuture.completedStage("");
    }
    return eval(session, Script.DATABASES)
        .thenApply(
            reply ->
                reply.value() == null
                    ? ""
                    : reply.value().stream().map(String::valueOf).collect(joining(", ")));
  }

  /**
   * Reads the marker and writes one if there is none. A cluster has no markers.
   *
   * @param knownSince the time of the last marker that was seen here; 0 if none
   */
  CompletionStage<Reply<Probe.Marker>> marker(NodeSession session, long knownSince) {
    if (clustered) {
      return CompletableFuture.completedStage(new Reply<>(null, null));
    }
    return evalMarker(session, knownSince, "")
        .thenApply(reply -> read(MARKER_SCRIPT, reply, Prober::marker));
  }

  private static Probe.Marker marker(List<Object> values) {
    return new Probe.Marker(
        (Long) values.get(2),
        (Long) values.get(3),
        (Long) values.get(4) == 1,
        new String((byte[]) values.get(6), UTF_8),
        (Long) values.get(7),
        RecordFields.record(values, 8));
  }

  /**
   * Changes the record in the marker, or leaves it.
   *
   * @return the record that the marker holds then; exceptionally without a reply that says so
   */
  CompletionStage<NodeRecord> change(NodeSession session, NodeRecord.Change change) {
    return eval(session, Script.RECORD, RecordFields.arguments(change).toArray(String[]::new))
        .thenApply(
            reply -> {
              Reply<NodeRecord> stored =
                  read(RECORD_SCRIPT, reply, values -> RecordFields.record(values, 0));
              Throwable failure = stored.failure();
              if (failure != null) {
                throw new CompletionException(
                    new IOException(Errors.of(failure).toString(), failure));
              }
              return Objects.requireNonNull(stored.value());
            });
  }

  private CompletionStage<Reply<List<Object>>> evalMarker(
      NodeSession session, long knownSince, String promotedTo) {
    String known = Long.toString(knownSince);
    return eval(
        session, Script.MARKER, maxLease, known, newMarkerId, promotedTo, observes ? "1" : "0");
  }

  /** Runs a script on the marker. */
  private CompletionStage<Reply<List<Object>>> eval(
      NodeSession session, Script script, String... words) {
    CommandArgs<byte[], byte[]> args = args();
    args.add(script.text()).add(1).addKey(markerKey);
    List.of(words).forEach(args::add);
    return send(session, CommandType.EVAL, new ArrayOutput<>(ByteArrayCodec.INSTANCE), args);
  }

  private static void throwIfNotReady(@Nullable Throwable failure) {
    if (failure != null && PASSING.contains(Errors.kind(failure))) {
      throw new CompletionException(failure);
    }
  }

  /** A value, or the reason why there is none. */
  record Reply<T>(@Nullable T value, @Nullable Throwable failure) {}

  private static <T> CompletionStage<Reply<T>> send(
      NodeSession session,
      CommandType type,
      CommandOutput<byte[], byte[], T> output,
      CommandArgs<byte[], byte[]> args) {
    try {
      return session.dispatch(new Command<>(type, output, args)).handle(Reply::new);
    } catch (RuntimeException e) {
      return CompletableFuture.completedStage(new Reply<>(null, e));
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
