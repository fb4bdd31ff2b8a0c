package dev.redlock;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.Assembly;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.ReleaseHints;
import dev.redlock.spi.RestartGuard;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Configures a {@link Redlock}. Every setter returns this builder. Not safe for concurrent use. */
public final class RedlockBuilder {
  private final List<LockNode> nodes = new ArrayList<>();
  private final List<String> uris = new ArrayList<>();
  private final List<ReleaseHints> hints = new ArrayList<>();
  private final List<RedlockListener> listeners = new ArrayList<>();
  private LockOptions.Builder options = LockOptions.builder();
  private @Nullable Duration maxLeaseTime;
  private RestartGuard restartGuard = RestartGuard.UPTIME;
  private String keyPrefix = "redlock";
  private boolean traceLeaks;
  private @Nullable Executor callbackExecutor;
  private @Nullable Time time;

  RedlockBuilder() {}

  /**
   * Adds standalone masters by URI: {@code redis://user:password@host:port}, {@code rediss://…}.
   */
  public RedlockBuilder nodes(String... uris) {
    this.uris.addAll(List.of(uris));
    return this;
  }

  /** Adds nodes made elsewhere. The client owns them from now on and closes them. */
  public RedlockBuilder nodes(LockNode... nodes) {
    this.nodes.addAll(List.of(nodes));
    return this;
  }

  /** Adds one node made elsewhere. */
  public RedlockBuilder node(LockNode node) {
    nodes.add(requireNonNull(node, "node"));
    return this;
  }

  /** The default lease time of every lock; see {@link LockOptions.Builder#leaseTime}. */
  public RedlockBuilder leaseTime(Duration leaseTime) {
    options.leaseTime(leaseTime);
    return this;
  }

  /** The default node timeout of every lock; see {@link LockOptions.Builder#nodeTimeout}. */
  public RedlockBuilder nodeTimeout(Duration nodeTimeout) {
    options.nodeTimeout(nodeTimeout);
    return this;
  }

  /** The defaults of every lock, all of them; replaces what was set before. */
  public RedlockBuilder defaults(LockOptions defaults) {
    options = defaults.toBuilder();
    return this;
  }

  /**
   * The longest lease of the deployment, the same for all clients of these nodes: longer leases are
   * refused, and a node that may have forgotten stays out for that long. Default: 30 s, or the
   * default lease time if that is longer.
   */
  public RedlockBuilder maxLeaseTime(Duration maxLeaseTime) {
    this.maxLeaseTime = requireNonNull(maxLeaseTime, "maxLeaseTime");
    return this;
  }

  /** How nodes that may have forgotten are kept out; default {@link RestartGuard#uptime()}. */
  public RedlockBuilder restartGuard(RestartGuard restartGuard) {
    this.restartGuard = requireNonNull(restartGuard, "restartGuard");
    return this;
  }

  /** What all keys begin with; default {@code redlock}. The same for all clients of a lock. */
  public RedlockBuilder keyPrefix(String keyPrefix) {
    this.keyPrefix = requireNonNull(keyPrefix, "keyPrefix");
    return this;
  }

  /** Adds a carrier of release hints besides the nodes' own pushes. */
  public RedlockBuilder hints(ReleaseHints hints) {
    this.hints.add(requireNonNull(hints, "hints"));
    return this;
  }

  /** Adds a listener. */
  public RedlockBuilder listener(RedlockListener listener) {
    listeners.add(requireNonNull(listener, "listener"));
    return this;
  }

  /**
   * Where futures are completed and listeners called; default a few daemon threads of the client.
   * Never a node's I/O thread.
   */
  public RedlockBuilder callbackExecutor(Executor callbackExecutor) {
    this.callbackExecutor = requireNonNull(callbackExecutor, "callbackExecutor");
    return this;
  }

  /** Remembers where each lease was acquired, for the warning about one that was never released. */
  public RedlockBuilder traceLeaks(boolean traceLeaks) {
    this.traceLeaks = traceLeaks;
    return this;
  }

  /** Clock and timers; for tests. */
  public RedlockBuilder time(Time time) {
    this.time = requireNonNull(time, "time");
    return this;
  }

  /**
   * Makes the client and begins to connect. Returns at once and succeeds with nodes unreachable:
   * they join when they come.
   *
   * @throws IllegalArgumentException naming the values that do not fit: no nodes, a URI that cannot
   *     be read or appears twice, a lease time above {@code maxLeaseTime}
   */
  public Redlock build() {
    LockOptions defaults = options.build();
    List<LockNode> all = new ArrayList<>(nodes);
    all.addAll(LettuceNodes.standalone(uris));
    return Assembly.start(
        new Assembly.Parts(
            all,
            hints,
            listeners,
            defaults,
            maxLeaseTime,
            restartGuard,
            keyPrefix,
            traceLeaks,
            callbackExecutor,
            time));
  }
}
