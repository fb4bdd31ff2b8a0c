package dev.redlock.micrometer;

import static java.util.Objects.requireNonNull;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.RedlockListener;
import dev.redlock.operations.NodeState;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The meters of one client. Bind them to a registry, then pass them to the client as a listener:
 *
 * <pre>{@code
 * RedlockMetrics metrics = RedlockMetrics.create();
 * metrics.bindTo(registry);
 * Redlock redlock = Redlock.builder().nodes(uris).listener(metrics).build();
 * }</pre>
 *
 * <p>The meters count the events that the client reports after the call of {@link #bindTo}. You may
 * bind them to several registries. Use one object per client. If two clients share a registry,
 * distinguish them by {@link Builder#tags}: a registry keeps one gauge per name and tags, so the
 * gauges of a second object with the same tags would show nothing. If a client replaces a closed
 * client, pass it the same object.
 *
 * <p>The names of locks are no tag, because an application may use any number of names. {@link
 * Builder#lockTag} maps them to at most {@value #MAX_LOCK_TAGS} values of a tag.
 *
 * <p>Safe from any thread. Holds no reference to the client.
 */
public final class RedlockMetrics implements MeterBinder, RedlockListener {
  /** How many values the tag {@code lock} has at most, besides {@code other}. */
  public static final int MAX_LOCK_TAGS = 100;

  private final Tags tags;
  private final LockTags lockTags;
  private final NodeMeters nodes;

  /** One for each registry. */
  private final List<ClientMeters> bound = new CopyOnWriteArrayList<>();

  private final ClientState state = new ClientState();

  private RedlockMetrics(Builder builder) {
    tags = builder.tags;
    lockTags = new LockTags(builder.lockTag, MAX_LOCK_TAGS);
    nodes = new NodeMeters(tags);
  }

  /** Meters without further tags. */
  public static RedlockMetrics create() {
    return builder().build();
  }

  /** A builder of meters with further tags. */
  public static Builder builder() {
    return new Builder();
  }

  /** Registers the meters. Does nothing if they are already bound to this registry. */
  @Override
  public synchronized void bindTo(MeterRegistry registry) {
    requireNonNull(registry, "registry");
    if (bound.stream().noneMatch(meters -> meters.areIn(registry))) {
      ClientMeters meters = new ClientMeters(registry, tags, lockTags, state);
      nodes.bindTo(registry);
      bound.add(meters);
    }
  }

  // The events.

  @Override
  public void onWaiterJoined(Caller caller) {
    state.waiters.incrementAndGet();
  }

  @Override
  public void onWaiterLeft(
      Caller caller, AcquireVerdict verdict, Duration waited, @Nullable AcquireReport report) {
    state.waiters.decrementAndGet();
    Each.of(bound, meters -> meters.of(caller.names()).left(caller, verdict, waited));
  }

  @Override
  public void onAcquired(Lease lease, Duration waited) {
    state.leases.incrementAndGet();
  }

  @Override
  public void onEnded(Lease lease, LeaseEnd end, Duration held, Duration validityLeft) {
    state.leases.decrementAndGet();
    Each.of(bound, meters -> meters.of(lease.names()).ended(end, held, validityLeft));
  }

  @Override
  public void onExtended(Lease lease, int repaired) {
    Each.of(bound, meters -> meters.of(lease.names()).extended(true));
  }

  @Override
  public void onExtendFailed(Lease lease, Duration remainingValidity) {
    Each.of(bound, meters -> meters.of(lease.names()).extended(false));
  }

  @Override
  public void onHandOff(List<String> names, HandOff kind) {
    Each.of(bound, meters -> meters.of(names).handOff(kind));
  }

  @Override
  public void onHint(List<String> names, boolean useful) {
    Each.of(bound, meters -> meters.of(names).hint(useful));
  }

  @Override
  public void onNode(NodeState node) {
    nodes.state(node);
  }

  @Override
  public void onNodeRequests(NodeRequests requests) {
    nodes.requests(requests);
  }

  @Override
  public void onPendingReleases(String node, int pending) {
    nodes.pendingReleases(node, pending);
  }

  @Override
  public void onDropped(long events) {
    Each.of(bound, meters -> meters.dropped(events));
  }

  /** Configures a {@link RedlockMetrics}. Not safe for concurrent use. */
  public static final class Builder {
    private Tags tags = Tags.empty();
    private @Nullable Function<? super List<String>, String> lockTag;

    private Builder() {}

    /** Tags of every meter, for example the name of the client. Default: none. */
    public Builder tags(Iterable<Tag> tags) {
      this.tags = Tags.of(requireNonNull(tags, "tags"));
      return this;
    }

    /**
     * Adds the tag {@code lock} to the meters of locks: the result for the names of a lock, for
     * example their common prefix. The first {@value #MAX_LOCK_TAGS} different values are kept.
     * Later values, and names for which the function throws, count as {@code other}. Default: no
     * such tag.
     *
     * @param lockTag called for each event, on the callback executor; must be fast
     */
    public Builder lockTag(Function<? super List<String>, String> lockTag) {
      this.lockTag = requireNonNull(lockTag, "lockTag");
      return this;
    }

    /** The meters, bound to no registry yet. */
    public RedlockMetrics build() {
      return new RedlockMetrics(this);
    }
  }
}
