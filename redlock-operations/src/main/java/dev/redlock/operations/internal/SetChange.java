package dev.redlock.operations.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.LockOptions;
import dev.redlock.RedlockClosedException;
import dev.redlock.internal.operations.OperatorClient;
import dev.redlock.internal.operations.OperatorClient.OperatedSet;
import dev.redlock.internal.sets.Loopback;
import dev.redlock.internal.sets.Members;
import dev.redlock.internal.sets.Seen;
import dev.redlock.operations.SetProgress;
import dev.redlock.operations.internal.SetOperator.Goal;
import dev.redlock.operations.internal.SetOperator.Step;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.Time;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A change of the set of nodes that this client makes for an operator, under a lock of its own. The
 * token of its lease is the ballot, so that a later operator is the one that counts. If this client
 * dies, another one continues by the same call: what was done stands on the nodes.
 */
final class SetChange {
  private static final String NOT_TOLD =
      " was not told that it is removed: keep it off, or delete its data";

  private static final Duration WAIT_FOR_OTHERS = Duration.ofSeconds(30);

  /** A member that restarts refuses the ballots of the time before: a new lease has a new one. */
  private static final int MAX_LEASES = 20;

  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long CONNECT_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** How long a member that is being replaced may be away before it is removed first. */
  private static final long GONE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long SKEW_MICROS = 1_000_000;

  private final OperatorClient client;
  private final OperatedSet set;
  private final Time time;
  private final List<Goal> all;
  private final Queue<Goal> goals; // Confined to the chain of ticks.

  /** The new member of a replacement; if it is one, and the old one is none, all is done. */
  private final @Nullable String inPlace;

  /** Members that are gone for good, as the operator says. */
  private final Set<String> gone;

  private final Consumer<SetProgress> progress;
  private final CompletableFuture<List<String>> result = new CompletableFuture<>();

  // Confined to the chain of ticks.
  private int leases;
  private @Nullable SetOperator operator;
  private long begunNanos;

  /** Since when a new member has been asked to store the next set; null if it is not, or has. */
  private @Nullable Long openingNanos;

  private @Nullable SetProgress told;
  private CompletableFuture<Void> lastTold = CompletableFuture.completedFuture(null);

  /** Whether the master that is being removed has stored the set without it. */
  private boolean removedKnows;

  SetChange(
      OperatorClient client, List<Goal> goals, Set<String> gone, Consumer<SetProgress> progress) {
    this.client = client;
    set = client.set();
    time = client.settings().time();
    all = List.copyOf(goals);
    this.goals = new ArrayDeque<>(all);
    inPlace = goals.stream().map(Goal::add).filter(Objects::nonNull).findFirst().orElse(null);
    this.gone = Set.copyOf(gone);
    this.progress = progress;
  }

  CompletableFuture<List<String>> start() {
    result.whenComplete((done, failure) -> unreserve());
    acquire(client.lock(OperatorClient.SET_LOCK, options(client.defaultOptions())));
    CompletableFuture<List<String>> users = new CompletableFuture<>();
    result.whenCompleteAsync(
        (done, failure) -> {
          if (failure != null) {
            users.completeExceptionally(failure);
          } else {
            users.complete(done);
          }
        },
        client.callbacks());
    return users;
  }

  private void unreserve() {
    all.forEach(goal -> set.reserve(goal.add(), false));
  }

  /** A change takes longer than a guard time, whatever the leases of this client's users may. */
  static LockOptions options(LockOptions defaults) {
    return defaults.toBuilder().autoExtend(true).noHoldCap().minimumHold(Duration.ZERO).build();
  }

  private void acquire(DistributedLock lock) {
    lock.acquireAsync(WAIT_FOR_OTHERS)
        .whenComplete(
            (lease, failure) -> {
              if (failure != null) {
                result.completeExceptionally(failure);
                return;
              }
              leases++;
              result.whenComplete(
                  (done, why) -> {
                    var unused = lease.releaseAsync();
                  });
              lease.whenEnded().thenAccept(end -> onEnd(lock, lease, end));
              operator = null;
              begunNanos = time.nanos();
              if (leases == 1) {
                tick(lease);
              } else {
                time.schedule(() -> tick(lease), TICK_NANOS);
              }
            });
  }

  /**
   * A lease that was released for a new ballot is followed by another one, at once: no timer of a
   * client that closes now would call back, but a lease or an acquire ends.
   */
  private void onEnd(DistributedLock lock, Lease lease, LeaseEnd end) {
    if (end == LeaseEnd.RELEASED && !result.isDone()) {
      acquire(lock);
    } else if (end == LeaseEnd.CLOSED) {
      result.completeExceptionally(Refusals.untraced(new RedlockClosedException()));
    } else {
      var lost = new LeaseLostException(lock.names(), lease.fencingToken(), end);
      result.completeExceptionally(Refusals.untraced(lost)); // The same call continues it.
    }
  }

  private void tick(Lease lease) {
    if (result.isDone()) {
      return;
    }
    try {
      Goal goal = goals.element();
      SetProgress obstacle = operator == null ? prepare(goal) : null;
      if (obstacle != null) {
        tell(obstacle);
      } else if (!result.isDone() && advance(goal, lease)) {
        return;
      }
    } catch (Throwable e) { // Else the lock would be held for ever.
      client.report("a change of the set of nodes", "", e);
      result.completeExceptionally(e);
      return;
    }
    if (result.isDone()) {
      unreserve(); // It may have ended while this tick reserved.
      return;
    }
    time.schedule(() -> tick(lease), TICK_NANOS);
  }

  /** Makes what can be made now; returns whether this lease has nothing more to do. */
  private boolean advance(Goal goal, Lease lease) {
    if (operator == null) {
      operator = new SetOperator(goal, gone, lease.fencingToken().value());
    }
    SetOperator asked = requireNonNull(operator);
    Step step =
        set.advance((nodes, current) -> asked.next(nodes, current, time.nanos()), Step::tells);
    if (SetOperator.OVERTAKEN.equals(step.refusal()) && leases < MAX_LEASES) {
      var unused = lease.releaseAsync();
      return true;
    }
    if (step.refusal() != null) {
      boolean overtaken = SetOperator.OVERTAKEN.equals(step.refusal());
      fail(step.refusal() + (overtaken ? "; redlock doctor shows clocks that are ahead" : ""));
      return true;
    }
    String added = asked.awaited();
    if (isRefusedBy(added)) {
      fail(
          "%s did not store the next set (%s); the members keep their set"
              .formatted(added, set.lastFailure(requireNonNull(added))));
      return true;
    }
    String removed = goal.remove();
    removedKnows |= removed != null && knowsThatItIsRemoved(removed);
    tell(
        step.done() && removed != null && !removedKnows
            ? does(step.progress() + "; " + removed + NOT_TOLD, Set.of(removed))
            : step.progress());
    if (!step.done()) {
      return false;
    }
    removedKnows = false;
    set.reserve(goal.add(), false);
    goals.remove();
    operator = null;
    begunNanos = time.nanos();
    if (goals.isEmpty()) {
      result.complete(set.current().members());
      return true;
    }
    return false;
  }

  private boolean isRefusedBy(@Nullable String added) {
    Long since = openingNanos;
    openingNanos = added == null ? null : since == null ? (Long) time.nanos() : since;
    return added != null && since != null && time.nanos() - since > CONNECT_NANOS;
  }

  private boolean knowsThatItIsRemoved(String removed) {
    NodeRecord current = set.current();
    return set.seen().stream()
        .filter(node -> node.alias().equals(removed) && node.status().usable())
        .map(node -> node.status().record())
        .anyMatch(record -> record != null && record.isSealed() && record.isOfSameSet(current));
  }

  /** One sentence after the other, whichever thread says it. */
  private void tell(SetProgress step) {
    if (!step.equals(told)) {
      told = step;
      lastTold = lastTold.thenRunAsync(() -> report(step), client.callbacks());
    }
  }

  private static SetProgress does(String doing, Set<String> nodes) {
    return new SetProgress(doing, List.copyOf(nodes), null);
  }

  private void report(SetProgress step) {
    try {
      progress.accept(step);
    } catch (Throwable e) {
      client.report("the progress of a change of the set of nodes", "", e);
    }
  }

  /** Returns null: there is nothing to wait for. */
  private @Nullable SetProgress fail(String why) {
    result.completeExceptionally(Refusals.because(why));
    return null;
  }

  // What must be so before anything is written.

  /** What to wait for before the change begins; null if it can begin. Fails what is hopeless. */
  private @Nullable SetProgress prepare(Goal goal) {
    NodeRecord current = set.current();
    if (!current.exists()) {
      return hopelessAfter(CONNECT_NANOS, "the nodes have no record of their set", Set.of());
    }
    for (Goal later : goals) {
      SetProgress obstacle =
          later.add() == null ? null : obstacleOf(later, later.equals(goal), current);
      if (obstacle != null || result.isDone()) {
        return obstacle; // A dead member is removed only if the one in its place is there.
      }
    }
    String remove = goal.remove();
    if (remove != null && current.members().equals(List.of(remove))) {
      return fail(remove + " is the only member");
    }
    boolean removedBefore =
        remove != null && current.isComplete() && !current.members().contains(remove);
    removedKnows |= removedBefore; // Or it never was one: this change writes nothing.
    if (removedBefore && inPlace != null && !current.members().contains(inPlace)) {
      return fail(
          "%s is no member of the set: %s; if it was removed before, just add %s"
              .formatted(remove, current, inPlace));
    }
    long own = client.settings().maxLeaseTime().toMillis();
    if (goal.maxLeaseMillis() > 0 && goal.maxLeaseMillis() < own) {
      return fail(
          ("this client uses maxLeaseTime %s ms, which is longer than %s ms:"
                  + " lower that of all clients first")
              .formatted(own, goal.maxLeaseMillis()));
    }
    Set<String> target = goal.after(current);
    Set<String> missing = unreachable(current, target);
    String unreachable = missing.stream().filter(target::contains).findFirst().orElse(null);
    if (unreachable != null && waited(GONE_NANOS) && isRemovedNext(unreachable)) {
      // It died after the call. The client had not noticed, and would have added before.
      goals.add(goals.remove());
      begunNanos = time.nanos();
      return does(unreachable + " does not come back, and is removed first", Set.of(unreachable));
    }
    return unreachable == null
        ? null
        : hopelessAfter(
            CONNECT_NANOS,
            ("each member must store the new set %s, and this client cannot reach %s;"
                    + " if that is gone for good with its data, name it as gone in this call (--gone)")
                .formatted(target, String.join(", ", missing)),
            missing);
  }

  private boolean isRemovedNext(String name) {
    return goals.stream().skip(1).anyMatch(goal -> name.equals(goal.remove()));
  }

  /** The members of both sets that this client does not reach, but for those that are gone. */
  private Set<String> unreachable(NodeRecord current, Set<String> target) {
    Set<String> names = new TreeSet<>(target);
    names.addAll(current.members());
    names.removeAll(gone);
    names.removeAll(reached());
    return names;
  }

  private Set<String> reached() {
    Set<String> reached = new HashSet<>();
    for (Seen node : set.seen()) {
      if (node.status().usable()) {
        reached.add(node.alias());
      }
    }
    return reached;
  }

  /** Why the new node cannot be a member yet; null if it can, or is one. */
  private @Nullable SetProgress obstacleOf(Goal goal, boolean now, NodeRecord current) {
    String name = requireNonNull(goal.add());
    if (current.members().contains(name)) {
      return null;
    }
    if (current.members().size() == Members.MAX) {
      return fail("a set has at most " + Members.MAX + " members");
    }
    List<String> names = new ArrayList<>(current.members());
    names.add(name);
    if (Loopback.isMixed(names)) {
      return fail(name + " cannot be a member beside " + current.members() + Loopback.WHY);
    }
    int node = set.reserve(name, true);
    if (node < 0) {
      return fail(
          set.seen().size() == Members.MAX
              ? "this client has known " + Members.MAX + " nodes: make the change from another one"
              : "this client was given nodes, and cannot connect to " + name + " itself");
    }
    NodeStatus status = set.seen().get(node).status();
    NodeRecord record = status.record();
    if (!status.usable()) {
      return waited(CONNECT_NANOS)
          ? fail("cannot connect to " + name + ": " + status.cause())
          : does("connects to " + name, Set.of(name));
    }
    if (status.state() == NodeStatus.State.QUARANTINED && status.untilNanos() == 0) {
      return fail(name + " cannot vote: " + status.cause());
    } else if (record == null) {
      return fail(name + " keeps no record of the set");
    } else if (isAlien(record, current)) {
      return fail(
          "%s belongs to another set (%s), and this is %s; if that set is given up, restart it empty"
              .formatted(name, record.withId(), current.withId()));
    } else if (record.exists() && !record.name().equals(name)) {
      return fail(name + " has been a member as " + record.name() + ": use this name");
    } else if (evicts(node) != null) {
      return fail(
          ("%s may drop locks when its memory is full:"
                  + " its maxmemory-policy is %s, and must be noeviction")
              .formatted(name, evicts(node)));
    } else if (now && status.state() == NodeStatus.State.QUARANTINED) {
      return does(name + " may not vote yet: " + status.cause(), Set.of(name));
    } else if (status.erring()) {
      String why = name + " replies with errors: " + status.cause();
      return hopelessAfter(CONNECT_NANOS, why, Set.of(name));
    } else if (Math.abs(skewMicros(node)) > SKEW_MICROS) {
      long millis = skewMicros(node) / 1_000;
      return fail("the clock of %s is off by %s ms from the other nodes".formatted(name, millis));
    }
    return null;
  }

  /**
   * Whether it has the record of a set that did not lead to this one. A former member was told that
   * it is none; the next set was opened on it by an operator that has ended.
   */
  private static boolean isAlien(NodeRecord record, NodeRecord current) {
    if (!record.exists()) {
      return record.isProposal();
    } else if (!record.id().equals(current.id())) {
      return true;
    } else if (record.epoch() > current.epoch()) {
      return record.epoch() > current.epoch() + 1 || !record.before().equals(current.members());
    }
    return record.epoch() == current.epoch()
        ? !record.isOfSameSet(current)
        : record.members().contains(record.name());
  }

  /** The eviction policy of the node if it drops keys; null if it drops none, or is unknown. */
  private @Nullable String evicts(int node) {
    String policy = Doctor.identity(client, node).map(NodeIdentity::maxmemoryPolicy).orElse("");
    return policy.isEmpty() || policy.equals("noeviction") ? null : policy;
  }

  private long skewMicros(int node) {
    Duration skew = client.clock(node).skew();
    return skew == null ? 0 : skew.toNanos() / 1_000;
  }

  private @Nullable SetProgress hopelessAfter(long nanos, String why, Set<String> nodes) {
    return waited(nanos) ? fail(why) : does(why, nodes);
  }

  private boolean waited(long nanos) {
    return time.nanos() - begunNanos >= nanos;
  }
}
