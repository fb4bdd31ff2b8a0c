package dev.redlock.internal;

import dev.redlock.Diagnosis;
import dev.redlock.Diagnosis.NodeFindings;
import dev.redlock.Redlock;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Looks at all nodes for what makes locks unsafe or unavailable. */
final class Doctor {
  /** From this skew on it is told; tokens tolerate four seconds between a quorum of nodes. */
  static final Duration SKEW_TOLD = Duration.ofSeconds(1);

  private final Client client;
  private final RestartGuard guard;
  private final Logger log;

  // Guarded by this: which clocks have been warned of since they were last right.
  private final boolean[] warned;

  Doctor(Client client, RestartGuard guard, Logger log) {
    this.client = client;
    this.guard = guard;
    this.log = log;
    warned = new boolean[client.nodeSet().count()];
  }

  /** Asks every node that can be asked, and waits for one node timeout at most. */
  CompletableFuture<Diagnosis> examine() {
    CompletableFuture<Diagnosis> result = new CompletableFuture<>();
    int n = client.nodeSet().count();
    AtomicInteger open = new AtomicInteger(n);
    boolean[] answered = new boolean[n]; // Each element is written before the counter, read after.
    Runnable report = () -> client.callbacks().execute(() -> result.complete(diagnosis(answered)));
    var late = client.time().schedule(report, client.defaultOptions().nodeTimeout().toNanos());
    for (int i = 0; i < n; i++) {
      int node = i;
      client
          .nodeSet()
          .node(i)
          .look()
          .whenComplete(
              (identity, failure) -> {
                answered[node] = identity != null && identity.isPresent();
                if (open.decrementAndGet() == 0) {
                  late.cancel();
                  report.run();
                }
              });
    }
    return result;
  }

  /** A clock was read: warns once when it is off, and once more after it had been right. */
  void clockRead(int node) {
    Duration skew = skew(node);
    if (skew == null) {
      return;
    }
    boolean off = skew.abs().compareTo(SKEW_TOLD) >= 0;
    synchronized (this) {
      if (warned[node] == off) {
        return;
      }
      warned[node] = off;
    }
    if (off) {
      log.warn("node {}: {}", client.nodeSet().name(node), clockComplaint(skew));
    }
  }

  private Diagnosis diagnosis(boolean[] answered) {
    List<NodeFindings> all = new ArrayList<>();
    for (int i = 0; i < client.nodeSet().count(); i++) {
      all.add(findings(i, answered[i]));
    }
    return new Diagnosis(guard, all);
  }

  private NodeFindings findings(int node, boolean answered) {
    Redlock.NodeState state = client.nodeState(node);
    NodeIdentity identity = client.nodeSet().node(node).identity().orElse(null);
    Duration skew = skew(node);
    List<String> complaints = new ArrayList<>();
    if (!state.state().equals("VOTING")) {
      complaints.add("does not vote: " + state.cause());
    } else if (!answered) {
      complaints.add("did not answer in time, or this user has no permission for INFO");
    }
    if (identity != null) {
      complain(identity, complaints);
    }
    if (skew != null && skew.abs().compareTo(SKEW_TOLD) >= 0) {
      complaints.add(clockComplaint(skew));
    }
    return new NodeFindings(
        state,
        identity == null ? null : identity.product() + " " + identity.version(),
        identity == null ? null : identity.role(),
        identity == null ? null : identity.maxmemoryPolicy(),
        identity == null ? null : Duration.ofSeconds(identity.uptimeSeconds()),
        identity != null && identity.appendOnly(),
        identity == null || identity.appendFsync().isEmpty() ? null : identity.appendFsync(),
        identity == null ? 0 : identity.evictedKeys(),
        identity == null ? 0 : identity.connectedReplicas(),
        skew,
        complaints);
  }

  private void complain(NodeIdentity identity, List<String> complaints) {
    if (!identity.maxmemoryPolicy().equals("noeviction")) {
      complaints.add(
          "maxmemory-policy is "
              + identity.maxmemoryPolicy()
              + ": locks may be evicted; set noeviction");
    }
    if (identity.evictedKeys() > 0) {
      complaints.add(
          "has evicted "
              + identity.evictedKeys()
              + " keys since it started: locks may have been among them");
    }
    if (!identity.writeTrouble().isEmpty()) {
      complaints.add(identity.writeTrouble());
    }
    if (identity.connectedReplicas() > 0) {
      complaints.add(
          identity.connectedReplicas()
              + " replicas are attached: if one is promoted, locks may be granted twice");
    }
    if (guard == RestartGuard.OFF) {
      complainOfMemory(identity, complaints);
    }
  }

  /** Without the guard, what a node has granted must survive its power failure. */
  private static void complainOfMemory(NodeIdentity identity, List<String> complaints) {
    if (!identity.appendOnly()) {
      complaints.add("forgets everything when it restarts, and RestartGuard.off() lets it vote");
    } else if (identity.appendFsync().isEmpty()) {
      complaints.add(
          "this user may not see whether appendfsync is always, as RestartGuard.off() needs");
    } else if (!identity.appendFsync().equals("always")) {
      complaints.add(
          "appendfsync is "
              + identity.appendFsync()
              + ": a power failure loses locks, and RestartGuard.off() lets it vote; set always");
    }
  }

  private static String clockComplaint(Duration skew) {
    return "its clock is "
        + skew.abs().toMillis()
        + " ms "
        + (skew.isNegative() ? "behind" : "ahead of")
        + " the other nodes' median; from 2 s on its tokens are refused";
  }

  /** How far a node's clock is ahead of the median of all; null before two are known. */
  private @Nullable Duration skew(int node) {
    NodeSet nodes = client.nodeSet();
    long[] clocks = new long[nodes.count()];
    int known = 0;
    for (int i = 0; i < nodes.count(); i++) {
      if (nodes.knowledge(i).clockKnown()) {
        clocks[known++] = nodes.knowledge(i).estimateMicros(0);
      }
    }
    if (known < 2 || !nodes.knowledge(node).clockKnown()) {
      return null;
    }
    Arrays.sort(clocks, 0, known);
    long median = clocks[(known - 1) / 2];
    return Duration.ofNanos((nodes.knowledge(node).estimateMicros(0) - median) * 1000);
  }
}
