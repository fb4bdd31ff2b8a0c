package dev.redlock.cluster.internal;

import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.ThreadSharingClient;
import dev.redlock.spi.Time;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Asks the cluster for its topology: once per refresh period, and at once when something indicates
 * a change, with a minimum gap between requests.
 *
 * <p>It asks over the connections that exist: first two masters, after 100 ms all. The first good
 * answer wins, so a silent master delays nothing. An answer is not good if the server has missed a
 * change that the client knows of. Only if no connected master answers within the connect timeout,
 * or none is connected, as at the start, it connects: to the seeds and to some known replicas.
 */
final class TopologyWatch {
  /**
   * The shortest gap between two requests. A failover takes seconds, and meanwhile every request
   * reports a doubt.
   */
  private static final long MIN_GAP_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private static final long MAX_GAP_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
  private static final long HEDGE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int AT_FIRST = 2;
  private static final int MAX_REPLICAS = 3;

  private final Masters masters; // Called without the lock of this.
  private final ThreadSharingClient side;
  private final Time time;
  private final long periodNanos;
  private final long patienceNanos;

  // Guarded by this.
  private @Nullable Round round;
  private boolean askAgain;
  private boolean closed;
  private long askedNanos;
  private long gapNanos = MIN_GAP_NANOS;
  private Time.@Nullable Cancellable next;

  /**
   * @param patienceNanos how long connected masters may take to answer; the others have four times
   *     as long, for connecting too
   */
  TopologyWatch(
      Masters masters, ThreadSharingClient side, Time time, long periodNanos, long patienceNanos) {
    this.masters = masters;
    this.side = side;
    this.time = time;
    this.periodNanos = periodNanos;
    this.patienceNanos = patienceNanos;
  }

  /** Asks now, or after the minimum gap since the last request. */
  void refresh() {
    Round begun;
    synchronized (this) {
      if (closed) {
        return;
      }
      if (round != null) {
        askAgain = true;
        return;
      }
      long wait = askedNanos == 0 ? 0 : askedNanos + gapNanos - time.nanos();
      if (wait > 0) {
        later(wait);
        return;
      }
      askedNanos = time.nanos();
      begun = new Round(askedNanos);
      round = begun;
    }
    begun.begin();
  }

  /** One request for the topology, to as many servers as it needs. */
  private final class Round {
    private final long sinceNanos;

    // Guarded by this round.
    private final List<StatefulRedisConnection<byte[], byte[]>> made = new ArrayList<>();
    private final List<MasterLink> left = new ArrayList<>();
    private int pending;
    private boolean outside;
    private boolean over;
    private Throwable last = new IllegalStateException("no server of the cluster can be reached");
    private Time.@Nullable Cancellable timer;

    Round(long sinceNanos) {
      this.sinceNanos = sinceNanos;
    }

    void begin() {
      List<MasterLink> connected = new ArrayList<>(masters.connected());
      Collections.shuffle(connected);
      int first = Math.min(AT_FIRST, connected.size());
      synchronized (this) {
        left.addAll(connected.subList(first, connected.size()));
      }
      if (first == 0) {
        askOutside();
        return;
      }
      schedule(this::askAll, HEDGE_NANOS);
      ask(connected.subList(0, first));
    }

    private void askAll() {
      List<MasterLink> all;
      synchronized (this) {
        if (over || outside) {
          return;
        }
        all = List.copyOf(left);
        left.clear();
      }
      schedule(this::askOutside, patienceNanos - HEDGE_NANOS);
      ask(all);
    }

    private void ask(List<MasterLink> links) {
      synchronized (this) {
        pending += links.size();
      }
      for (MasterLink link : links) {
        ask(link::dispatch, link.address(), null);
      }
    }

    private void ask(TopologyReader.Sender sender, Address address, @Nullable NodeUri seed) {
      CompletionStage<Topology> asked;
      try {
        asked = TopologyReader.ask(sender, address);
      } catch (RuntimeException e) { // The connection ended at this moment.
        answered(null, e, seed);
        return;
      }
      asked.whenComplete((topology, failure) -> answered(topology, failure, seed));
    }

    private void askOutside() {
      List<NodeUri> servers;
      synchronized (this) {
        if (over || outside) {
          return;
        }
        outside = true;
        servers = masters.others(MAX_REPLICAS);
        pending += servers.size();
      }
      schedule(this::giveUp, 4 * patienceNanos);
      if (servers.isEmpty()) {
        giveUp();
      }
      for (NodeUri server : servers) {
        connect(server);
      }
    }

    private void connect(NodeUri server) {
      RedisURI uri = server.toRedisUri();
      side.connect(uri, (client, to) -> client.connectAsync(ByteArrayCodec.INSTANCE, to))
          .whenComplete(
              (connection, failure) -> {
                if (connection == null) {
                  answered(null, failure, server);
                  return;
                }
                synchronized (this) {
                  if (!over) {
                    made.add(connection);
                  }
                }
                if (isOver()) {
                  var unused = connection.closeAsync();
                } else {
                  ask(sender(connection), new Address(uri.getHost(), uri.getPort()), server);
                }
              });
    }

    private TopologyReader.Sender sender(StatefulRedisConnection<byte[], byte[]> connection) {
      return new TopologyReader.Sender() {
        @Override
        public <T> CompletionStage<T> send(Command<byte[], byte[], T> command) {
          AsyncCommand<byte[], byte[], T> sent = new AsyncCommand<>(command);
          connection.dispatch(sent);
          return sent;
        }
      };
    }

    private synchronized boolean isOver() {
      return over;
    }

    private void answered(
        @Nullable Topology topology, @Nullable Throwable failure, @Nullable NodeUri seed) {
      boolean good = topology != null && !masters.isOutdated(topology);
      boolean none;
      boolean more;
      synchronized (this) {
        if (over) {
          return;
        }
        pending--;
        over = good;
        if (failure != null) {
          last = failure;
        } else if (!good) {
          last = new IllegalStateException("the servers that answer have an old topology");
        }
        none = pending == 0 && !good;
        more = !left.isEmpty();
      }
      if (good) {
        end(topology, null, seed);
      } else if (none && more) {
        askAll();
      } else if (none) {
        if (isOutside()) {
          giveUp();
        } else {
          askOutside();
        }
      }
    }

    private synchronized boolean isOutside() {
      return outside;
    }

    private void giveUp() {
      Throwable why;
      synchronized (this) {
        if (over) {
          return;
        }
        over = true;
        why = last;
      }
      end(null, why, null);
    }

    /** Keeps one timer: each stage ends the one before. */
    private synchronized void schedule(Runnable task, long delayNanos) {
      if (timer != null) {
        timer.cancel();
      }
      timer = over ? null : time.schedule(task, Math.max(1, delayNanos));
    }

    /** Called once. */
    private void end(
        @Nullable Topology topology, @Nullable Throwable failure, @Nullable NodeUri seed) {
      drop();
      done(topology, failure, sinceNanos, seed);
    }

    /** Ends the round and its connections. */
    void drop() {
      List<StatefulRedisConnection<byte[], byte[]>> all;
      synchronized (this) {
        over = true;
        if (timer != null) {
          timer.cancel();
        }
        all = List.copyOf(made);
        made.clear();
      }
      all.forEach(
          connection -> {
            var unused = connection.closeAsync();
          });
    }
  }

  private void done(
      @Nullable Topology topology,
      @Nullable Throwable failure,
      long sinceNanos,
      @Nullable NodeUri seed) {
    boolean changed = false;
    boolean settled = false;
    try {
      if (topology != null) {
        changed = masters.adopt(topology, sinceNanos, seed);
        settled = masters.isSettled();
      } else if (failure != null) {
        masters.unknown(failure);
      }
    } finally {
      synchronized (this) {
        round = null;
        gapNanos = changed ? MIN_GAP_NANOS : Math.min(MAX_GAP_NANOS, gapNanos * 5 / 4);
        boolean soon = askAgain || !settled;
        askAgain = false;
        if (next != null) {
          next.cancel();
          next = null;
        }
        later(soon ? gapNanos : periodNanos);
      }
    }
  }

  /** Keeps one timer, the earliest. Called under this. */
  private void later(long delayNanos) {
    if (closed || (next != null && delayNanos > MAX_GAP_NANOS)) {
      return;
    }
    if (next != null) {
      next.cancel();
    }
    next =
        time.schedule(
            () -> {
              synchronized (this) {
                next = null;
              }
              refresh();
            },
            delayNanos);
  }

  void close() {
    Round running;
    synchronized (this) {
      closed = true;
      running = round;
      if (next != null) {
        next.cancel();
      }
    }
    if (running != null) {
      running.drop();
    }
  }
}
