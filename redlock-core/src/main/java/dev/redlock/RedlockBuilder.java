package dev.redlock;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.Assembly;
import dev.redlock.internal.text.HolderMark;
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
  private LockOptions defaults = LockOptions.defaults();
  private @Nullable Duration leaseTime;
  private @Nullable Duration nodeTimeout;
  private @Nullable Duration maxLeaseTime;
  private RestartGuard restartGuard = RestartGuard.UPTIME;
  private String keyPrefix = "redlock";
  private String application = "";
  private @Nullable String label;
  private boolean observer;
  private boolean traceLeaks;
  private @Nullable Executor callbackExecutor;
  private @Nullable Time time;

  RedlockBuilder() {}

  /**
   * Adds standalone masters by URI: {@code redis://user:password@host:port}, {@code rediss://…}.
   * The adapter that {@linkplain dev.redlock.spi.LockNode.Factory makes nodes from URIs} has to be
   * present, for example {@code redlock-lettuce}.
   */
  public RedlockBuilder nodes(String... uris) {
    for (String uri : uris) {
      this.uris.add(requireNonNull(uri, "uri"));
    }
    return this;
  }

  /** Adds nodes that the caller made. The client owns them from now on and closes them. */
  public RedlockBuilder nodes(LockNode... nodes) {
    for (LockNode node : nodes) {
      this.nodes.add(requireNonNull(node, "node"));
    }
    return this;
  }

  /** The default lease time of every lock; see {@link LockOptions.Builder#leaseTime}. */
  public RedlockBuilder leaseTime(Duration leaseTime) {
    this.leaseTime = requireNonNull(leaseTime, "leaseTime");
    return this;
  }

  /** The default node timeout of every lock; see {@link LockOptions.Builder#nodeTimeout}. */
  public RedlockBuilder nodeTimeout(Duration nodeTimeout) {
    this.nodeTimeout = requireNonNull(nodeTimeout, "nodeTimeout");
    return this;
  }

  /**
   * The default options of every lock. {@link #leaseTime} and {@link #nodeTimeout} of this builder
   * come before those of the options, whichever was called first.
   */
  public RedlockBuilder defaults(LockOptions defaults) {
    this.defaults = requireNonNull(defaults, "defaults");
    return this;
  }

  /**
   * The longest lease time of this client, which rejects longer ones. The nodes store that of the
   * deployment, from its first client, and do not count for a client with a longer one: {@link
   * dev.redlock.operations.Operations#changeMaxLeaseTime} changes it. A node that may have
   * forgotten leases stays out for at least the longer of the two. At most 1 h. Default: 30 s, or
   * the default lease time if that is longer. If it is shorter than 30 s and no lease time is
   * given, it is the default lease time too.
   */
  public RedlockBuilder maxLeaseTime(Duration maxLeaseTime) {
    this.maxLeaseTime = requireNonNull(maxLeaseTime, "maxLeaseTime");
    return this;
  }

  /** Keeps nodes out that may have forgotten leases. Default {@link RestartGuard#UPTIME}. */
  public RedlockBuilder restartGuard(RestartGuard restartGuard) {
    this.restartGuard = requireNonNull(restartGuard, "restartGuard");
    return this;
  }

  /** The prefix of all keys; the same for all clients of a lock. Default {@code redlock}. */
  public RedlockBuilder keyPrefix(String keyPrefix) {
    this.keyPrefix = requireNonNull(keyPrefix, "keyPrefix");
    return this;
  }

  /**
   * A label that shows people which client holds a lock, for example {@code orders-7f9c/pod-3}.
   * Nodes store it with each lease of this client. Refused clients see it in their reports, and
   * {@link dev.redlock.operations.Operations#inspect} and {@link
   * dev.redlock.operations.Operations#list} show it. At most 64 bytes of printable UTF-8. All
   * clients can read it: put no secret there. It is a hint and proves nothing. Default: host and
   * process id, such as {@code pod-3/17}, behind the name of the {@linkplain #application
   * application} if there is one. Empty means none.
   *
   * @throws InvalidOptionException if it is too long, or contains characters that are not printable
   */
  public RedlockBuilder label(String label) {
    Assembly.checked("label", requireNonNull(label, "label"), () -> HolderMark.suffix(label));
    this.label = label;
    return this;
  }

  /** The name of the application, for the default {@linkplain #label label}. Default: empty. */
  public RedlockBuilder application(String application) {
    this.application = requireNonNull(application, "application");
    return this;
  }

  /** Adds a carrier of release hints, besides the invalidations that nodes send. */
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
   * The executor that completes futures and calls listeners. Default: a few daemon threads of the
   * client, and more when callbacks block; virtual threads from Java 24 on.
   *
   * <p>With the default, callbacks may block. The end of a lease, {@link
   * LockOptions.Builder#interruptOnLoss}, extension, release and elections never wait for
   * callbacks. The callbacks of one future run one after another, and so do those of a listener: a
   * callback that blocks delays the next.
   *
   * <p>An executor given here must not discard tasks: a callback that it discards never completes.
   * If it rejects a callback, or throws, the callback runs on a thread of the client. If it has a
   * fixed number of threads and a callback blocks each of them, all other callbacks wait. If it
   * runs tasks on the calling thread, callbacks run on a node's I/O thread, in the middle of a
   * lock's queue, or on the thread of the timers, and must return at once.
   *
   * <p>Without it, callbacks run on threads of the client. Their context class loader is the one
   * that loaded the library.
   */
  public RedlockBuilder callbackExecutor(Executor callbackExecutor) {
    this.callbackExecutor = requireNonNull(callbackExecutor, "callbackExecutor");
    return this;
  }

  /** Whether the warning about a lease that was never released shows where it was acquired. */
  public RedlockBuilder traceLeaks(boolean traceLeaks) {
    this.traceLeaks = traceLeaks;
    return this;
  }

  /**
   * Whether the client only looks, as {@code redlock doctor} does: it writes nothing to the nodes,
   * founds no deployment with its list of nodes, and refuses to make locks. Its {@link
   * Redlock#operations()} work, also those that an operator calls to change something. Default:
   * false.
   */
  public RedlockBuilder observer(boolean observer) {
    this.observer = observer;
    return this;
  }

  /** The clock and the timers, for tests. Default: those of the machine. */
  public RedlockBuilder time(Time time) {
    this.time = requireNonNull(time, "time");
    return this;
  }

  /**
   * Makes the client and begins to connect. Returns at once, even if nodes are unreachable; see
   * {@link dev.redlock.operations.Operations#ready()}.
   *
   * @throws InvalidOptionException if there are no nodes or more than 63, a URI cannot be parsed or
   *     appears twice, the lease time is longer than {@code maxLeaseTime} or does not fit to other
   *     options, or the key prefix is empty or has a brace
   * @throws IllegalStateException if there are URIs, but no adapter that makes nodes from them
   */
  public Redlock build() {
    return Assembly.start(parts());
  }

  Assembly.Parts parts() {
    LockOptions.Builder options = defaults.toBuilder();
    if (leaseTime != null) {
      options.leaseTime(leaseTime);
    }
    if (nodeTimeout != null) {
      options.nodeTimeout(nodeTimeout);
    }
    List<LockNode> all = new ArrayList<>(nodes);
    all.addAll(Assembly.nodes(uris));
    return new Assembly.Parts(
        all,
        hints,
        listeners,
        options.build(maxLeaseTime),
        maxLeaseTime,
        restartGuard,
        keyPrefix,
        label == null ? Assembly.defaultLabel(application) : label,
        traceLeaks,
        observer,
        callbackExecutor,
        time);
  }
}
