package dev.redlock.internal;

import dev.redlock.internal.protocol.NodeKnowledge;
import dev.redlock.operations.Diagnosis;
import dev.redlock.operations.Diagnosis.NodeFindings;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Finds what makes locks unsafe or unavailable, on all nodes. */
final class Doctor {
  /** The skew that is reported. Tokens tolerate 4 s between the nodes of a quorum. */
  private static final Duration REPORTED_SKEW = Duration.ofSeconds(1);

  private final ClientContext context;
  private final RestartGuard guard;

  /** The examinations in progress. Each, when run, reports what is known at that time. */
  private final Set<Runnable> examinations = ConcurrentHashMap.newKeySet();

  // Guarded by this: the nodes whose clocks were reported since they were last right.
  private final boolean[] warned;

  Doctor(ClientContext context, RestartGuard guard) {
    this.context = context;
    this.guard = guard;
    warned = new boolean[NodeSet.MAX];
  }

  /** Probes every connected node, and waits for one node timeout at most. */
  CompletableFuture<Diagnosis> examine() {
    CompletableFuture<Diagnosis> result = new CompletableFuture<>();
    int[] asked = context.nodes.memberIndexes().toArray();
    AtomicInteger open = new AtomicInteger(asked.length);
    boolean[] answered = new boolean[NodeSet.MAX]; // Written before the counter, read after it.
    Runnable report = () -> context.callbacks.execute(() -> result.complete(diagnosis(answered)));
    examinations.add(report);
    result.thenRun(() -> examinations.remove(report));
    if (context.locks.isEnded()) {
      report.run(); // The client was closed meanwhile: nodes and timers are closed.
      return result;
    }
    var late = context.time.schedule(report, context.nodeTimeoutNanos);
    for (int node : asked) {
      context
          .nodes
          .probe(node)
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

  /** Nodes and timers are closed: no reply comes any more. */
  void close() {
    examinations.forEach(Runnable::run);
  }

  /** A clock was read. Warns once when it is off, and again after it was right in between. */
  void clockRead(int node) {
    Duration skew = skew(node);
    if (skew == null) {
      return;
    }
    boolean off = skew.abs().compareTo(REPORTED_SKEW) >= 0;
    synchronized (this) {
      if (warned[node] == off) {
        return;
      }
      warned[node] = off;
    }
    if (off) {
      context.log.warn("node {}: {}", context.nodes.name(node), clockComplaint(skew));
    }
  }

  private Diagnosis diagnosis(boolean[] answered) {
    List<NodeFindings> all = new ArrayList<>();
    context.nodes.memberIndexes().forEach(i -> all.add(findings(i, answered[i])));
    return new Diagnosis(guard, all);
  }

  private NodeFindings findings(int node, boolean answered) {
    NodeState state = context.nodeState(node);
    NodeIdentity identity = context.nodes.identity(node).orElse(null);
    Duration skew = skew(node);
    List<String> complaints = new ArrayList<>();
    if (state.state() != NodeState.State.VOTING) {
      complaints.add("does not vote: " + state.cause());
    } else if (!answered) {
      complaints.add("did not answer in time, or this user has no permission for INFO");
    } else if (!context.nodes.knowledge(node).clockKnown()) {
      complaints.add(
          "its marker was not read: this user has no permission for the keys of this prefix");
    }
    if (state.state() == NodeState.State.VOTING && isPolled(node)) {
      complaints.add(
          "sends no invalidations (CLIENT TRACKING), and no ReleaseHints are configured:"
              + " waiters poll");
    }
    if (identity != null) {
      complain(identity, complaints);
    }
    if (skew != null && skew.abs().compareTo(REPORTED_SKEW) >= 0) {
      complaints.add(clockComplaint(skew));
    }
    return new NodeFindings(
        state,
        identity == null ? null : identity.product() + " " + identity.version(),
        identity == null ? null : identity.role(),
        identity == null ? null : identity.maxmemoryPolicy(),
        identity == null || identity.uptimeSeconds() < 0
            ? null
            : Duration.ofSeconds(identity.uptimeSeconds()),
        identity != null && identity.appendOnly(),
        identity == null || identity.appendFsync().isEmpty() ? null : identity.appendFsync(),
        identity == null ? 0 : identity.evictedKeys(),
        identity == null ? 0 : identity.connectedReplicas(),
        skew,
        complaints);
  }

  /** Whether waiters learn of a release only when they ask this node again. */
  private boolean isPolled(int node) {
    return context.hints.isEmpty() && !context.nodes.notifiesWaiters(node);
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
    if (!identity.otherDatabases().isEmpty()) {
      complaints.add(
          "database "
              + identity.otherDatabases()
              + " of this server has locks with the same key prefix: clients that use different"
              + " databases do not exclude each other");
    }
    complainOfFullMemory(identity, complaints);
    if (identity.connectedReplicas() > 0) {
      complaints.add(
          identity.connectedReplicas()
              + " replicas are attached: if one is promoted, locks may be granted twice");
    }
    if (guard == RestartGuard.OFF) {
      complainOfPersistence(identity, complaints);
    }
  }

  /** Reported from 90 % on, so that an operator has time to act. */
  private static void complainOfFullMemory(NodeIdentity identity, List<String> complaints) {
    long used = identity.usedMemory();
    long most = identity.maxMemory();
    if (most > 0 && used >= most - most / 10) {
      complaints.add(
          "uses "
              + used
              + " of "
              + most
              + " bytes of memory (maxmemory): a full server grants no lock");
    }
  }

  /** Without the restart guard, grants must survive a power failure of the node. */
  private static void complainOfPersistence(NodeIdentity identity, List<String> complaints) {
    if (!identity.appendOnly()) {
      complaints.add("forgets all locks when it restarts, and votes at once: RestartGuard.OFF");
    } else if (identity.appendFsync().isEmpty()) {
      complaints.add(
          "this user may not read appendfsync; RestartGuard.OFF needs appendfsync always");
    } else if (!identity.appendFsync().equals("always")) {
      complaints.add(
          "appendfsync is "
              + identity.appendFsync()
              + ": a power failure loses locks, and with RestartGuard.OFF the node then votes at once;"
              + " set always");
    }
  }

  private static String clockComplaint(Duration skew) {
    return "its clock is "
        + skew.abs().toMillis()
        + " ms "
        + (skew.isNegative() ? "behind" : "ahead of")
        + " the other nodes' median; from 2 s on it refuses tokens";
  }

  /** How far a clock is ahead of the median of all; null while fewer than two are known. */
  private @Nullable Duration skew(int node) {
    long[] clocks = context.nodes.clocksMicros(0);
    NodeKnowledge own = context.nodes.knowledge(node);
    if (clocks.length < 2 || !own.clockKnown()) {
      return null;
    }
    long median = clocks[(clocks.length - 1) / 2];
    return Duration.ofNanos((own.estimateMicros(0) - median) * 1000);
  }
}
