package dev.redlock.redis.internal;

import dev.redlock.redis.internal.scripts.Wire;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import org.jspecify.annotations.Nullable;

/**
 * What a probe found out about a server.
 *
 * @param identity what {@code INFO} reported; null if it says too little
 * @param infoRefused whether {@code INFO} was refused; otherwise it reported no run id
 * @param marker the node's marker; null if it could not be read
 * @param markerError why the server refused to read it; null if it did not
 * @param nowMicros node time of the probe, in microseconds; 0 if unknown
 * @param clustered whether the server is a master of a cluster, where promotions are normal
 * @param masterForMicros how long a promoted master has proved to be a master since its last
 *     promotion, in microseconds of node time; 0 without proof
 */
public record Probe(
    @Nullable NodeIdentity identity,
    boolean infoRefused,
    @Nullable Marker marker,
    @Nullable String markerError,
    long nowMicros,
    boolean clustered,
    long masterForMicros) {

  public Probe(@Nullable NodeIdentity identity, @Nullable Marker marker) {
    this(
        identity,
        identity == null,
        marker,
        null,
        marker == null ? 0 : marker.nowMicros(),
        false,
        0);
  }

  /** The same, with the node's clock. */
  public Probe at(long micros) {
    return new Probe(
        identity, infoRefused, marker, markerError, micros, clustered, masterForMicros);
  }

  /** The same, with the marker as it was read later, and the time that it proves. */
  public Probe withMasterFor(long micros, Marker later) {
    return new Probe(identity, infoRefused, later, null, nowMicros, clustered, micros);
  }

  /** Why the client cannot know whether the server has restarted. */
  String unknownRun() {
    return infoRefused
        ? "this user has no permission for INFO"
        : "the server reports no run_id in INFO";
  }

  /** Identifies the marker among those of all servers; empty if there is none. */
  String markerId() {
    return marker == null ? "" : marker.id();
  }

  /**
   * The marker, as read or as just written.
   *
   * @param sinceMicros node time when it was written, in microseconds
   * @param nowMicros node time when it was read, in microseconds
   * @param renewed whether a client that knew an earlier marker of this server found it missing.
   *     The server then lost its keys shortly before this marker was written
   * @param id random, chosen when it was written; empty if unknown
   * @param wire the {@linkplain Wire version} of keys and scripts that the server's clients use
   * @param record what the server stores about the set of nodes; {@link NodeRecord#NONE} if nothing
   */
  public record Marker(
      long sinceMicros, long nowMicros, boolean renewed, String id, long wire, NodeRecord record) {
    /** What follows the prefix in the key of the marker. */
    public static final String KEY = ":%node";

    /** The first marker of its server. */
    public Marker(long sinceMicros, long nowMicros) {
      this(sinceMicros, nowMicros, NodeRecord.NONE);
    }

    /** The first marker of its server, with a record. */
    public Marker(long sinceMicros, long nowMicros, NodeRecord record) {
      this(sinceMicros, nowMicros, false, "", Wire.VERSION, record);
    }

    /** Whether its clients use another version than this one. */
    boolean isForeign() {
      return wire != Wire.VERSION;
    }
  }
}
