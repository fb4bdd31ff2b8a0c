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
    boolean votes = state.state() == NodeState.State.VOTING;
    Complaints complaints = new Complaints(new ArrayList<>());
    complaints.when(!votes, "does not vote: " + state.cause());
    complaints.when(
        votes && !answered, "did not answer in time, or this user has no permission for INFO");
    complaints.when(
        votes && answered && !clock.known(),
        "its marker was not read: this user has no permission for the keys of this prefix");
    complaints.when(
        votes && client.isPolled(node), "sends no invalidations (CLIENT TRACKING): waiters poll");
    if (identity != null) {
      complain(identity, complaints);
    }
    if (clock.complaint() != null) {
      complaints.all.add(clock.complaint());
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
        complaints.all);
  }

  /** What an operator should change about a node, in sentences. */
  private record Complaints(List<String> all) {
    void when(boolean wrong, String sentence) {
      if (wrong) {
        all.add(sentence);
      }
    }
  }

  private void complain(NodeIdentity identity, Complaints complaints) {
    String policy = identity.maxmemoryPolicy();
    complaints.when(
        !policy.equals("noeviction"),
        "maxmemory-policy is " + policy + ": locks may be evicted; set noeviction");
    complaints.when(
        identity.evictedKeys() > 0,
        "has evicted %s keys since it started: locks may have been among them"
            .formatted(identity.evictedKeys()));
    complaints.when(!identity.writeTrouble().isEmpty(), identity.writeTrouble());
    complaints.when(
        !identity.otherDatabases().isEmpty(),
        ("database %s of this server has locks with the same key prefix:"
                + " clients that use different databases do not exclude each other")
            .formatted(identity.otherDatabases()));
    long used = identity.usedMemory();
    long most = identity.maxMemory();
    complaints.when( // From 90 % on, so that an operator has time to act.
        most > 0 && used >= most - most / 10,
        "uses %s of %s bytes of memory (maxmemory): a full server grants no lock"
            .formatted(used, most));
    complaints.when(
        identity.connectedReplicas() > 0,
        "%s replicas are attached: if one is promoted, locks may be granted twice"
            .formatted(identity.connectedReplicas()));
    if (guard == RestartGuard.OFF) {
      complainOfPersistence(identity, complaints);
    }
  }

  /** Without the restart guard, grants must survive a power failure of the node. */
  private static void complainOfPersistence(NodeIdentity identity, Complaints complaints) {
    String sync = identity.appendFsync();
    boolean kept = identity.appendOnly();
    complaints.when(
        !kept, "forgets all locks when it restarts, and votes at once: RestartGuard.OFF");
    complaints.when(
        kept && sync.isEmpty(),
        "this user may not read appendfsync; RestartGuard.OFF needs appendfsync always");
    complaints.when(
        kept && !sync.isEmpty() && !sync.equals("always"),
        ("appendfsync is %s: a power failure loses locks, and with RestartGuard.OFF the node then"
                + " votes at once; set always")
            .formatted(sync));
  }
}
