package dev.redlock.harness.memory;

import dev.redlock.harness.model.NodeModel;
import dev.redlock.harness.model.RecordScript;
import dev.redlock.redis.internal.Probe;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockReader;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** The server behind in-memory nodes. All state is guarded by this. */
final class MemoryServer {
  private static final AtomicLong SERVERS = new AtomicLong();
  private static final long HOUR_MICROS = 3_600_000_000L;

  private final String name;
  private final long number = SERVERS.incrementAndGet();
  private long baseMicros = System.currentTimeMillis() * 1000;
  private final Map<Long, MemoryConnection> sessions = new HashMap<>();

  /** The servers that clients of this one reach by name. */
  private final Map<String, MemoryServer> reachable = new HashMap<>();

  private @Nullable NodeModel model;
  private @Nullable Time time;
  private long fenceLifeMillis = 120_000;
  private long baseNanos;
  private long stepMicros;
  private long startedMicros;
  private long markerMicros;
  private NodeRecord record = NodeRecord.NONE;
  private long run = 1;
  private long lastSession;
  private boolean up = true;
  private boolean hung;
  private long delayNanos;
  private long workNanos;
  private long busyUntilNanos = Long.MIN_VALUE;

  MemoryServer(String name) {
    this.name = name;
    startedMicros = baseMicros - HOUR_MICROS;
    markerMicros = startedMicros;
  }

  String name() {
    return name;
  }

  /** Starts the server with the clock of its first client. */
  synchronized void begin(Time clientTime, long fenceLife) {
    if (time == null) {
      time = clientTime;
      baseNanos = clientTime.nanos();
      // All servers use one clock, however long their creation took.
      long shift = clientTime.wallMillis() * 1000 - baseMicros;
      baseMicros += shift;
      startedMicros += shift;
      markerMicros += markerMicros == 0 ? 0 : shift;
      fenceLifeMillis = fenceLife;
    }
  }

  private NodeModel model() {
    NodeModel m = model;
    if (m == null) {
      m = new NodeModel(fenceLifeMillis);
      m.sendInvalidationsTo(this::invalidate);
      model = m;
    }
    return m;
  }

  private void invalidate(long session, String lockKey) {
    MemoryConnection c = sessions.get(session);
    if (c != null) {
      c.invalidated(session, lockKey);
    }
  }

  private long clock() {
    Time t = time;
    return baseMicros + (t == null ? 0 : (t.nanos() - baseNanos) / 1000) + stepMicros;
  }

  // Operations of connections; each is called with the lock held.

  boolean isUp() {
    return up;
  }

  boolean isHung() {
    return hung;
  }

  /** Accepts a request; returns the time until it is executed. */
  long takeOn(long now) {
    if (workNanos == 0) {
      return delayNanos;
    }
    busyUntilNanos = Math.max(busyUntilNanos, now) + workNanos;
    return delayNanos + busyUntilNanos - now;
  }

  long open(MemoryConnection connection) {
    long session = ++lastSession;
    sessions.put(session, connection);
    return session;
  }

  void close(long session) {
    sessions.remove(session);
    model().forgetSession(session);
  }

  long nodeMicros() {
    return clock();
  }

  NodeIdentity identity() {
    long uptime = Math.max(0, (clock() - startedMicros) / 1_000_000);
    String runId = "memory-" + number + "-" + run;
    return new NodeIdentity(
        runId,
        "memory",
        "1",
        uptime,
        "master",
        false,
        "noeviction",
        "memory-" + number,
        0,
        false,
        "",
        0,
        "",
        false,
        0,
        0,
        "");
  }

  Probe.Marker marker() {
    if (markerMicros == 0) {
      markerMicros = clock();
    }
    return new Probe.Marker(markerMicros, clock(), record);
  }

  /** Changes the record; the other clients that are connected get an invalidation of the marker. */
  NodeRecord change(NodeRecord.Change change, MemoryConnection by) {
    NodeRecord stored = markerMicros == 0 ? record : RecordScript.after(record, change, clock());
    if (!stored.equals(record)) {
      record = stored;
      if (change.kind() == NodeRecord.Change.Kind.FORGET) {
        markerMicros = 0; // It goes with the marker.
      }
      connections().stream().filter(other -> other != by).forEach(MemoryConnection::markerChanged);
    }
    return stored;
  }

  NodeReply execute(LockRequest request, long session, long connection) {
    NodeReply reply = model().execute(request, session, connection, clock());
    NodeError error = reply.error();
    if (error != null) {
      return NodeReply.failed(connection, error.kind(), name + ": " + error.message());
    }
    if (reply.code() == Code.GRANTED
        || reply.code() == Code.EXTENDED
        || reply.code() == Code.REPAIRED) {
      expireLater(request.keys());
    }
    return reply;
  }

  private void expireLater(LockKeys keys) {
    Time t = time;
    if (t == null) {
      return;
    }
    long first = Long.MAX_VALUE;
    for (int i = 0; i < keys.size(); i++) {
      first = Math.min(first, model().expiresMillis(keys.lockKey(i)));
    }
    long delayMillis = Math.max(0, first - clock() / 1000) + 1;
    t.schedule(this::expire, delayMillis * 1_000_000);
  }

  private void expire() {
    synchronized (this) {
      model().expireAll(clock());
    }
    deliverAll();
  }

  // Operations of tests.

  void kill() {
    List<MemoryConnection> all;
    synchronized (
        this) { // In one step; otherwise a client that connects in between would not receive the
      // event.
      up = false;
      all = connections();
    }
    all.forEach(c -> c.lost("server killed"));
  }

  void restart(boolean keeping) {
    kill();
    synchronized (this) {
      up = true;
      hung = false;
      run++;
      startedMicros = clock();
      if (keeping) {
        model().forgetSessions();
      } else {
        model().wipe();
        markerMicros = 0;
        record = NodeRecord.NONE;
      }
    }
  }

  synchronized void reach(MemoryServer other) {
    reachable.put(other.name, other);
  }

  synchronized @Nullable MemoryServer reachable(String other) {
    return other.equals(name) ? this : reachable.get(other);
  }

  void hang(boolean hangs) {
    synchronized (this) {
      hung = hangs;
    }
    if (!hangs) {
      connections().forEach(MemoryConnection::goOn);
    }
  }

  synchronized void delay(Duration delay) {
    delayNanos = delay.toNanos();
  }

  synchronized void work(Duration work) {
    workNanos = work.toNanos();
  }

  void flush() {
    List<MemoryConnection> all;
    synchronized (this) {
      model().wipe();
      markerMicros = 0;
      record = NodeRecord.NONE;
      all = connections();
    }
    all.forEach(MemoryConnection::flushed);
  }

  void delete(String lockName) {
    synchronized (this) {
      model().delete(key(lockName));
    }
    deliverAll();
  }

  synchronized void stepClock(Duration step) {
    stepMicros += step.toNanos() / 1000;
  }

  synchronized @Nullable String holder(String lockName) {
    return model().owner(key(lockName), clock());
  }

  synchronized long fence(String lockName) {
    return model().fence(key(lockName), clock());
  }

  /** Lets a test read the model and the node's clock directly. */
  synchronized <T> @Nullable T read(BiFunction<NodeModel, Long, @Nullable T> reader) {
    return reader.apply(model(), clock());
  }

  /** The locks that are held; null if the server does not reply. */
  synchronized @Nullable List<LockReader.StoredLock> locks() {
    return up && !hung ? model().locks(clock()) : null;
  }

  private static String key(String lockName) {
    return LockKeys.of("redlock", List.of(lockName)).lockKey(0);
  }

  private synchronized List<MemoryConnection> connections() {
    return new ArrayList<>(sessions.values());
  }

  /** Delivers queued events; never called with the lock held. */
  void deliverAll() {
    connections().forEach(MemoryConnection::deliver);
  }
}
