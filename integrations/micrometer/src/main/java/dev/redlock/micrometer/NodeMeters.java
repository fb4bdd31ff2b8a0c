package dev.redlock.micrometer;

import dev.redlock.RedlockListener.NodeRequests;
import dev.redlock.operations.NodeState;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The meters of the nodes. There are at most 63 nodes, and each kind of request is one of a fixed
 * set, so their number is bounded. All methods are safe from any thread.
 */
final class NodeMeters {
  private record Kind(String node, String operation, String result) {}

  private static final class Sum {
    final AtomicLong count = new AtomicLong();
    final AtomicLong nanos = new AtomicLong();
  }

  private final MeterRegistry registry;
  private final Tags tags;

  // Guarded by this.
  private final Map<Kind, Sum> requests = new HashMap<>();
  private final Map<String, AtomicLong> pendingReleases = new HashMap<>();
  private final Map<String, Map<NodeState.State, AtomicLong>> states = new HashMap<>();
  private final Map<String, Map<String, AtomicLong>> deployments = new HashMap<>();

  NodeMeters(MeterRegistry registry, Tags tags) {
    this.registry = registry;
    this.tags = tags;
  }

  synchronized void requests(NodeRequests told) {
    String result = told.error() == null ? told.result().name() : told.error().name();
    Kind kind = new Kind(told.node(), lower(told.operation().name()), lower(result));
    Sum sum = requests.computeIfAbsent(kind, this::sum);
    sum.nanos.addAndGet(told.total().toNanos());
    sum.count.addAndGet(told.count());
  }

  private Sum sum(Kind kind) {
    Sum sum = new Sum();
    FunctionTimer.builder(
            "redlock.node.request",
            sum,
            s -> s.count.get(),
            s -> s.nanos.get(),
            TimeUnit.NANOSECONDS)
        .description("Requests to a node that it answered, twice a second")
        .tags(tags)
        .tags("node", kind.node(), "op", kind.operation(), "result", kind.result())
        .register(registry);
    return sum;
  }

  synchronized void pendingReleases(String node, int pending) {
    pending(node).set(pending);
  }

  private AtomicLong pending(String node) {
    return pendingReleases.computeIfAbsent(
        node,
        any ->
            gauge(
                "redlock.releases.pending",
                "Releases and roll-backs that the node has not confirmed",
                Tags.of("node", node)));
  }

  synchronized void state(NodeState told) {
    String node = told.node();
    states
        .computeIfAbsent(node, this::states)
        .forEach((state, value) -> value.set(state == told.state() ? 1 : 0));
    pending(node);
    if (told.record() != null) {
      deployment(node, told.record().id());
    }
  }

  private Map<NodeState.State, AtomicLong> states(String node) {
    Map<NodeState.State, AtomicLong> ofNode = new EnumMap<>(NodeState.State.class);
    for (NodeState.State state : NodeState.State.values()) {
      ofNode.put(
          state,
          gauge(
              "redlock.node.state",
              "1 for the state of the node's connection, 0 for the others",
              Tags.of("node", node, "state", lower(state.name()))));
    }
    return ofNode;
  }

  /** An earlier deployment of the node stays, with 0. */
  private void deployment(String node, String id) {
    Map<String, AtomicLong> ofNode = deployments.computeIfAbsent(node, any -> new HashMap<>());
    ofNode.computeIfAbsent(
        id,
        any ->
            gauge(
                "redlock.node.deployment",
                "1 for the deployment whose record the node shows, 0 for earlier ones",
                Tags.of("node", node, "deployment", id)));
    ofNode.forEach((other, shown) -> shown.set(other.equals(id) ? 1 : 0));
  }

  private AtomicLong gauge(String name, String description, Tags own) {
    AtomicLong value = new AtomicLong();
    Gauge.builder(name, value, Number::doubleValue)
        .description(description)
        .tags(tags)
        .tags(own)
        .strongReference(true)
        .register(registry);
    return value;
  }

  private static String lower(String constant) {
    return constant.toLowerCase(Locale.ROOT);
  }
}
