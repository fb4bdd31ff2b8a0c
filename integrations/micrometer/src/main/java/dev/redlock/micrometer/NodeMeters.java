package dev.redlock.micrometer;

import dev.redlock.RedlockListener.NodeRequests;
import dev.redlock.operations.NodeState;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
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

  private final Tags tags;

  // Guarded by this.
  private final List<MeterRegistry> registries = new ArrayList<>();
  private final Map<Kind, Sum> requests = new HashMap<>();
  private final Map<String, AtomicLong> pendingReleases = new HashMap<>();
  private final Map<String, Map<NodeState.State, AtomicLong>> states = new HashMap<>();
  private final Map<String, Map<String, AtomicLong>> deployments = new HashMap<>();

  NodeMeters(Tags tags) {
    this.tags = tags;
  }

  synchronized void bindTo(MeterRegistry registry) {
    requests.forEach((kind, sum) -> register(registry, kind, sum));
    pendingReleases.forEach((node, pending) -> registerPending(registry, node, pending));
    states.forEach((node, ofNode) -> registerStates(registry, node, ofNode));
    deployments.forEach(
        (node, ofNode) ->
            ofNode.forEach((id, shown) -> registerDeployment(registry, node, id, shown)));
    registries.add(registry);
  }

  synchronized void requests(NodeRequests told) {
    String result = told.error() == null ? told.result().name() : told.error().name();
    Kind kind = new Kind(told.node(), lower(told.operation().name()), lower(result));
    Sum sum = requests.get(kind);
    boolean isNew = sum == null;
    if (sum == null) {
      sum = new Sum();
      requests.put(kind, sum);
    }
    sum.nanos.addAndGet(told.total().toNanos());
    sum.count.addAndGet(told.count());
    if (isNew) {
      Sum counted = sum;
      Each.of(registries, registry -> register(registry, kind, counted));
    }
  }

  private void register(MeterRegistry registry, Kind kind, Sum sum) {
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
  }

  synchronized void pendingReleases(String node, int pending) {
    AtomicLong known = pendingReleases.get(node);
    if (known != null) {
      known.set(pending);
    } else {
      AtomicLong first = new AtomicLong(pending);
      pendingReleases.put(node, first);
      Each.of(registries, registry -> registerPending(registry, node, first));
    }
  }

  private void registerPending(MeterRegistry registry, String node, AtomicLong pending) {
    Gauge.builder("redlock.releases.pending", pending, Number::doubleValue)
        .description("Releases and roll-backs that the node has not confirmed")
        .tags(tags)
        .tag("node", node)
        .strongReference(true)
        .register(registry);
  }

  synchronized void state(NodeState told) {
    Map<NodeState.State, AtomicLong> ofNode = states.get(told.node());
    boolean isNew = ofNode == null;
    if (ofNode == null) {
      ofNode = new HashMap<>();
      for (NodeState.State state : NodeState.State.values()) {
        ofNode.put(state, new AtomicLong());
      }
      states.put(told.node(), ofNode);
    }
    ofNode.forEach((state, value) -> value.set(state == told.state() ? 1 : 0));
    Map<NodeState.State, AtomicLong> shown = ofNode;
    try {
      if (isNew) {
        Each.of(registries, registry -> registerStates(registry, told.node(), shown));
      }
    } finally {
      showRest(told);
    }
  }

  private void showRest(NodeState told) {
    try {
      if (!pendingReleases.containsKey(told.node())) {
        pendingReleases(told.node(), 0);
      }
    } finally {
      if (told.record() != null) {
        deployment(told.node(), told.record().id());
      }
    }
  }

  private void registerStates(
      MeterRegistry registry, String node, Map<NodeState.State, AtomicLong> ofNode) {
    ofNode.forEach(
        (state, value) ->
            Gauge.builder("redlock.node.state", value, Number::doubleValue)
                .description("1 for the state of the node's connection, 0 for the others")
                .tags(tags)
                .tags("node", node, "state", lower(state.name()))
                .strongReference(true)
                .register(registry));
  }

  /** A node shows another identity only after its deployment was given up, so there are few. */
  private void deployment(String node, String id) {
    Map<String, AtomicLong> ofNode = deployments.computeIfAbsent(node, any -> new HashMap<>());
    AtomicLong first = new AtomicLong();
    boolean isNew = ofNode.putIfAbsent(id, first) == null;
    ofNode.forEach((other, shown) -> shown.set(other.equals(id) ? 1 : 0));
    if (isNew) {
      Each.of(registries, registry -> registerDeployment(registry, node, id, first));
    }
  }

  private void registerDeployment(
      MeterRegistry registry, String node, String id, AtomicLong shown) {
    Gauge.builder("redlock.node.deployment", shown, Number::doubleValue)
        .description("1 for the deployment whose record the node shows, 0 for earlier ones")
        .tags(tags)
        .tags("node", node, "deployment", id)
        .strongReference(true)
        .register(registry);
  }

  private static String lower(String constant) {
    return constant.toLowerCase(Locale.ROOT);
  }
}
