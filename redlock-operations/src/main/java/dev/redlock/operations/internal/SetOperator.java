package dev.redlock.operations.internal;

import dev.redlock.internal.sets.Members;
import dev.redlock.internal.sets.Seen;
import dev.redlock.internal.sets.Tell;
import dev.redlock.operations.SetProgress;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeRecord.Change.Kind;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Changes the set of nodes by one step: a member more, a member less, or another longest lease
 * time. Pure: what the nodes say is the argument, what to send them is the result. It remembers
 * nothing that another operator could not read from the nodes, so anyone can continue the change of
 * one that died.
 *
 * <p>The naive way writes the new list to all nodes and begins to use it. It fails when a client
 * still counts votes by the old list while another counts by the list after the next: their
 * majorities need not share a node. So at most two adjacent epochs are alive:
 *
 * <ol>
 *   <li><b>Promise.</b> A majority of the present set refuses earlier operators from now on, and
 *       says what they may have written. That is adopted: this is one round of Paxos for each
 *       epoch.
 *   <li><b>Open.</b> The next set is written to a member that is added, then to a majority of both
 *       sets. Votes of both epochs count. Until the added member has it, nothing is written to the
 *       others: one that stores nothing, because it is full, would keep the change open for ever.
 *   <li><b>Seal.</b> The floor is raised. Once a majority of the old set has raised it, no lease is
 *       granted or extended by the old set any more.
 *   <li><b>Wait</b> until <em>each</em> member of the new set has kept the raised floor for one
 *       guard time. A majority is not enough: a member that restarts empty copies the word of
 *       another, and that one may not have raised its floor. Only of a member that is gone for
 *       good, with its data, an operator may say so. Then it is noted on the members that the
 *       change is complete.
 * </ol>
 */
public final class SetOperator {
  /**
   * One step of a change.
   *
   * @param add the new member, or null
   * @param remove the member to remove, or null
   * @param maxLeaseMillis the new longest lease time, or 0 to keep it
   */
  public record Goal(@Nullable String add, @Nullable String remove, long maxLeaseMillis) {
    /** The members after it. */
    public Set<String> after(NodeRecord current) {
      Set<String> members = new TreeSet<>(current.members());
      if (add != null) {
        members.add(add);
      }
      if (remove != null) {
        members.remove(remove);
      }
      return members;
    }
  }

  /**
   * What to do next.
   *
   * @param tells what to send
   * @param progress what it waits for
   * @param done whether the change is complete
   * @param refusal why it cannot be done; null if it can
   */
  public record Step(
      List<Tell> tells, SetProgress progress, boolean done, @Nullable String refusal) {}

  /** A refusal after which another operator with a higher ballot can go on. */
  public static final String OVERTAKEN =
      "another operator changes the set, or a node has restarted: a new ballot is necessary";

  private enum Phase {
    PROMISE,
    OPEN,
    SEAL
  }

  private final Goal goal;

  /** Members that never come back, or only without their data. */
  private final Set<String> gone;

  private final long ballot;

  private @Nullable String awaited;
  private @Nullable NodeRecord next; // The set that is being written; its epoch does not change.
  private Phase phase = Phase.PROMISE;

  /** By member: since when it keeps the raised floor, on its own clock. */
  private Map<String, Long> kept = Map.of();

  private long keptNanos;

  /**
   * @param gone members that are gone for good, with their data, as people say; a member that is
   *     removed counts as one, because only people can know it as well
   * @param ballot higher than that of each operator before
   */
  public SetOperator(Goal goal, Set<String> gone, long ballot) {
    this.goal = goal;
    this.gone = new HashSet<>(gone);
    if (goal.remove() != null) {
      this.gone.add(goal.remove());
    }
    this.ballot = ballot;
  }

  /** The new member that has not stored the next set; null if none. An earlier call may add it. */
  public @Nullable String awaited() {
    return awaited;
  }

  /**
   * Decides what to do next.
   *
   * @param nodes all nodes that have a number
   * @param current the record of the set that this client works with
   */
  public Step next(List<Seen> nodes, NodeRecord current, long nowNanos) {
    awaited = null;
    if (!current.exists()) {
      return step(List.of(), "no node has a record of the set yet", Set.of());
    }
    NodeRecord writing = next;
    if (writing == null || current.epoch() > writing.epoch()) {
      writing = begin(current);
    }
    NodeRecord open = writing.epoch() == current.epoch() ? openedAfter(current, nodes) : null;
    if (open != null) {
      writing = begin(open); // Its operator has found the current set complete.
    }
    if (writing.epoch() == current.epoch() && current.isSealed()) {
      return keep(nodes, current, nowNanos); // The last change, perhaps of another operator.
    }
    return switch (phase) {
      case PROMISE -> promise(nodes, writing);
      case OPEN -> open(nodes, writing);
      case SEAL -> seal(nodes, writing);
    };
  }

  /** Each set needs promises of its own. */
  private NodeRecord begin(NodeRecord writing) {
    phase = Phase.PROMISE;
    next = writing;
    return writing;
  }

  /** The set after this one, if a node says that an operator has begun to open it. */
  private static @Nullable NodeRecord openedAfter(NodeRecord current, List<Seen> nodes) {
    for (Seen node : nodes) {
      NodeRecord record = said(node);
      if (record != null && record.epoch() == current.epoch() + 1) {
        return record;
      }
    }
    return null;
  }

  /** The next set; the present one if it is as wanted. */
  private NodeRecord successor(NodeRecord current) {
    long kept = current.maxLeaseMillis();
    long longest = goal.maxLeaseMillis() == 0 ? kept : goal.maxLeaseMillis();
    List<String> after = List.copyOf(goal.after(current));
    return after.equals(current.members()) && longest == kept
        ? current
        : new NodeRecord(
            current.id(),
            "",
            current.epoch() + 1,
            after,
            current.members(),
            current.epoch(),
            ballot,
            ballot,
            longest,
            kept,
            0);
  }

  private Step promise(List<Seen> nodes, NodeRecord writing) {
    Set<String> promised = new HashSet<>();
    List<Tell> tells = new ArrayList<>();
    NodeRecord adopted = null;
    for (int i = 0; i < nodes.size(); i++) {
      NodeRecord record = said(nodes.get(i));
      boolean young = nodes.get(i).status().state() == NodeStatus.State.QUARANTINED;
      if (record == null || !writing.before().contains(record.name()) || young) {
        continue; // A node that may have forgotten leases may have forgotten what it promised.
      }
      if (record.promised() > ballot) {
        return refused(OVERTAKEN);
      }
      if (record.promised() == ballot) {
        promised.add(record.name());
        boolean opened = record.epoch() == writing.epoch();
        if (opened && (adopted == null || record.ballot() > adopted.ballot())) {
          adopted = record;
        }
      } else {
        tells.add(tell(i, Kind.PROMISE, writing));
      }
    }
    if (promised.size() < Members.quorumOf(writing.before().size())) {
      return step(tells, "asks " + writing.before() + " for a promise", writing.before());
    }
    next = adopted == null ? writing : adopted.by(ballot);
    phase = Phase.OPEN;
    return step(List.of(), "opens " + next, Set.of());
  }

  private Step open(List<Seen> nodes, NodeRecord writing) {
    List<Tell> tells = new ArrayList<>();
    Set<String> opened = spread(nodes, writing, tells);
    TreeSet<String> first = new TreeSet<>(writing.members());
    first.removeAll(writing.before());
    first.removeAll(opened);
    first.removeAll(absent(nodes));
    if (overtaken(nodes, writing)) {
      return refused(OVERTAKEN);
    }
    if (!first.isEmpty()) {
      awaited = first.first();
      tells.removeIf(tell -> !first.contains(tell.change().record().name()));
      return step(tells, "writes the next set to " + first + ": " + writing, first);
    }
    if (count(opened, writing.before()) >= Members.quorumOf(writing.before().size())
        && count(opened, writing.members()) >= Members.quorumOf(writing.members().size())) {
      phase = Phase.SEAL;
    }
    return step(tells, "opens " + writing, Set.of());
  }

  /** Sends the set to those that lack it; returns the names of those that have it. */
  private Set<String> spread(List<Seen> nodes, NodeRecord writing, List<Tell> tells) {
    Set<String> opened = new HashSet<>();
    for (int i = 0; i < nodes.size(); i++) {
      NodeRecord record = nodes.get(i).record();
      String name = nodes.get(i).alias();
      boolean concerned = writing.members().contains(name) || writing.before().contains(name);
      if (!concerned || !nodes.get(i).status().usable()) {
        continue;
      }
      // With the ballot of an earlier operator it may lose to a set with a ballot between them.
      boolean counts = record.ballot() == ballot || record.isSealed();
      if (record.isOfSameSet(writing) && counts) {
        opened.add(name);
      } else if (record.epoch() <= writing.epoch()) {
        tells.add(tell(i, Kind.OPEN, writing.of(name)));
      }
    }
    return opened;
  }

  private Step seal(List<Seen> nodes, NodeRecord writing) {
    List<Tell> tells = new ArrayList<>();
    spread(nodes, writing, tells);
    sealOpen(nodes, writing, tells);
    return overtaken(nodes, writing)
        ? refused(OVERTAKEN)
        : step(tells, "seals " + writing, Set.of());
  }

  /** The floor is raised somewhere: each member must keep it for a guard time. */
  private Step keep(List<Seen> nodes, NodeRecord set, long nowNanos) {
    List<Tell> tells = new ArrayList<>();
    Set<String> marked = mark(nodes, set, tells);
    if (!marked.isEmpty()) {
      return count(marked, set.members()) < Members.quorumOf(set.members().size())
          ? step(tells, "notes that the change is complete: " + set, Set.of())
          : proceed(set, tells);
    }
    tells.clear();
    sealOpen(nodes, set, tells);
    Map<String, Long> now = keepers(nodes, set);
    if (!now.equals(kept)) {
      kept = now;
      keptNanos = nowNanos;
    }
    Set<String> missing = new TreeSet<>(set.members());
    missing.removeAll(now.keySet());
    missing.removeAll(absent(nodes));
    String untold = tellRemoved(nodes, set, tells);
    String waiting = missing.isEmpty() ? untold : missing.toString();
    if (waiting != null) {
      String otherwise =
          missing.isEmpty()
              ? "; if it cannot, stop it"
              : "; what is gone for good has to start again, empty, at its address, or be named as"
                  + " gone";
      Set<String> late = missing.isEmpty() ? Set.of(waiting) : missing;
      return step(tells, "waits for " + waiting + " to store " + set + otherwise, late);
    }
    long left = keptNanos + guardNanos(set) - nowNanos;
    if (left > 0) {
      Duration seconds = Duration.ofSeconds((left + 999_999_999) / 1_000_000_000);
      String doing = "waits for leases of the set before to end";
      return new Step(tells, new SetProgress(doing, List.of(), seconds), false, null);
    }
    mark(nodes, set, tells);
    return step(tells, "notes that the change is complete: " + set, Set.of());
  }

  /**
   * Notes on the members that the change is complete; returns those on which it is noted. So the
   * next change can remove a member that is dead by then.
   */
  private Set<String> mark(List<Seen> nodes, NodeRecord set, List<Tell> tells) {
    Set<String> marked = new HashSet<>();
    for (int i = 0; i < nodes.size(); i++) {
      NodeRecord record = said(nodes.get(i));
      if (record != null && record.isOfSameSet(set) && record.isComplete()) {
        marked.add(record.name());
      } else if (record != null && record.isOfSameSet(set) && record.isSealed()) {
        tells.add(tell(i, Kind.TELL, record.complete()));
      }
    }
    return marked;
  }

  /** The set is complete: begins this operator's own change, unless it is made. */
  private Step proceed(NodeRecord set, List<Tell> tells) {
    NodeRecord after = successor(set);
    if (after.members().isEmpty()) {
      return refused(goal.remove() + " is the only member");
    }
    boolean done = begin(after).epoch() == set.epoch();
    String doing = done ? "complete: " + set : "begins";
    return new Step(tells, new SetProgress(doing, List.of(), null), done, null);
  }

  private void sealOpen(List<Seen> nodes, NodeRecord set, List<Tell> tells) {
    for (int i = 0; i < nodes.size(); i++) {
      NodeRecord record = said(nodes.get(i));
      if (record != null && record.isOfSameSet(set) && !record.isSealed()) {
        tells.add(tell(i, Kind.SEAL, set));
      }
    }
  }

  /** The members that keep the raised floor, and since when. */
  private static Map<String, Long> keepers(List<Seen> nodes, NodeRecord set) {
    Map<String, Long> keepers = new HashMap<>();
    for (Seen node : nodes) {
      NodeRecord record = said(node);
      if (record != null
          && set.members().contains(record.name())
          && record.isOfSameSet(set)
          && record.isSealed()) {
        keepers.put(record.name(), record.sinceMicros());
      }
    }
    return keepers;
  }

  /**
   * Tells removed members of the set, and returns one that can be reached and does not know it yet;
   * null if there is none. It would vouch for the set before, also while it has the set without the
   * raised floor; and if it is empty now, because a client that was paused may write an old word
   * into it.
   */
  private @Nullable String tellRemoved(List<Seen> nodes, NodeRecord set, List<Tell> tells) {
    String untold = null;
    for (int i = 0; i < nodes.size(); i++) {
      Seen node = nodes.get(i);
      boolean removed =
          set.before().contains(node.alias()) && !set.members().contains(node.alias());
      if (removed && node.status().usable() && node.isBehind(set)) {
        untold = node.alias();
        tells.add(tell(i, Kind.TELL, set.of(untold)));
      }
    }
    return untold;
  }

  /** Those that are gone, as far as this client knows: it reaches none of them. */
  private Set<String> absent(List<Seen> nodes) {
    Set<String> absent = new HashSet<>(gone);
    for (Seen node : nodes) {
      if (node.status().usable()) {
        absent.remove(node.alias());
      }
    }
    return absent;
  }

  private static long guardNanos(NodeRecord set) {
    return RestartGuard.guardTime(Duration.ofMillis(set.longestValid())).toNanos();
  }

  private boolean overtaken(List<Seen> nodes, NodeRecord writing) {
    for (Seen node : nodes) {
      NodeRecord record = said(node);
      if (record != null
          && record.promised() > ballot
          && record.epoch() <= writing.epoch()
          && (writing.before().contains(record.name())
              || writing.members().contains(record.name()))) {
        return true;
      }
    }
    return false;
  }

  private static @Nullable NodeRecord said(Seen node) {
    return node.says() ? node.record() : null;
  }

  private Tell tell(int node, Kind kind, NodeRecord record) {
    long by = kind == Kind.TELL ? record.ballot() : ballot;
    return new Tell(node, new NodeRecord.Change(kind, record.by(by)));
  }

  private static int count(Set<String> some, List<String> of) {
    return (int) of.stream().filter(some::contains).count();
  }

  private static Step step(List<Tell> tells, String doing, Collection<String> nodes) {
    return new Step(tells, new SetProgress(doing, List.copyOf(nodes), null), false, null);
  }

  private static Step refused(String why) {
    return new Step(List.of(), new SetProgress(why, List.of(), null), false, why);
  }
}
