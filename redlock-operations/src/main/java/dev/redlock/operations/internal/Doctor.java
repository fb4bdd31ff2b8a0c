package dev.redlock.operations.internal;

import dev.redlock.internal.operations.OperatorClient;
import dev.redlock.internal.operations.OperatorClient.Clock;
import dev.redlock.internal.sets.Members;
import dev.redlock.operations.Diagnosis;
import dev.redlock.operations.Diagnosis.NodeFindings;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Finds what makes locks unsafe or unavailable, on all nodes. */
final class Doctor {
  private static final CompletionStage<Optional<NodeIdentity>> NOTHING =
      CompletableFuture.completedStage(Optional.empty());

  private final OperatorClient client;
  private final RestartGuard guard;

  /** The examinations in progress. Each, when run, reports what is known at that time. */
  private final Set<Runnable> examinations = ConcurrentHashMap.newKeySet();

  /** Nodes and timers are closed. Written once; read by examinations that begin. */
  private volatile boolean ended;

  Doctor(OperatorClient client) {
    this.client = client;
    guard = client.settings().restartGuard();
  }

  /** Probes every connected node, and waits for one node timeout at most. */
  CompletableFuture<Diagnosis> examine() {
    CompletableFuture<Diagnosis> result = new CompletableFuture<>();
    int[] asked = client.members().indexes().toArray();
    AtomicInteger open = new AtomicInteger(asked.length);
    boolean[] answered = new boolean[Members.MAX]; // Written before the counter, read after it.
    Runnable report = () -> client.callbacks().execute(() -> result.complete(diagnosis(answered)));
    examinations.add(report);
    result.thenRun(() -> examinations.remove(report));
    if (ended) {
      report.run(); // The client was closed meanwhile: nodes and timers are closed.
      return result;
    }
    long timeoutNanos = client.defaultOptions().nodeTimeout().toNanos();
    var late = client.settings().time().schedule(report, timeoutNanos);
    for (int node : asked) {
      client
          .ask(node, "probe", LockNode::probe, NOTHING)
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
  void ended() {
    ended = true;
    examinations.forEach(Runnable::run);
  }

  /** What the node said of itself last; empty if it has not, or does not tell. */
  static Optional<NodeIdentity> identity(OperatorClient client, int node) {
    return client.ask(node, "identity", LockNode::identity, Optional.empty());
  }

  private Diagnosis diagnosis(boolean[] answered) {
    List<NodeFindings> all = new ArrayList<>();
    client.members().indexes().forEach(i -> all.add(findings(i, answered[i])));
    return new Diagnosis(guard, all);
  }

  private NodeFindings findings(int node, boolean answered) {
    NodeState state = client.state(node);
    NodeIdentity identity = identity(client, node).orElse(null);
    Clock clock = client.clock(node);
    List<String> complaints = new ArrayList<>();
    if (state.state() != NodeState.State.VOTING) {
      complaints.add("does not vote: " + state.cause());
    } else if (!answered) {
      complaints.add("did not answer in time, or this user has no permission for INFO");
    } else if (!clock.known()) {
      complaints.add(
          "its marker was not read: this user has no permission for the keys of this prefix");
    }
    if (state.state() == NodeState.State.VOTING && client.isPolled(node)) {
      complaints.add(
          "sends no invalidations (CLIENT TRACKING), and no ReleaseHints are configured:"
              + " waiters poll");
    }
    if (identity != null) {
      complain(identity, complaints);
    }
    if (clock.complaint() != null) {
      complaints.add(clock.complaint());
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
        clock.skew(),
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
}
