package dev.redlock.internal.protocol;

import dev.redlock.internal.sets.Membership;
import dev.redlock.operations.internal.SetOperator;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.RestartGuard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One random history of {@link Membership}, {@link SetOperator} and the records of the nodes: the
 * set changes while clients acquire one lock, connections break and delay, clients pause, operators
 * die, nodes restart empty. Virtual time in milliseconds; all chance comes from the seed.
 *
 * <p>What is not modelled: several names, tokens, drift of clocks, the fair queue.
 */
final class SetWorld {
  /** A rule that the world breaks, to show that it would find the defect. */
  enum Break {
    /** A change replaces one member by another. */
    TWO_MEMBERS,
    /** Operators take each opened set for a sealed one. */
    NEXT_BEFORE_SEAL,
    /** Operators do not wait for a guard time. */
    NO_WAIT,
    /** Clients write what they know into each node that has no record. */
    OWN_WORD,
    /** Nodes accept each operator, and operators do not ask what others opened. */
    NO_PROMISES,
    /** Operators take a set for sealed on all members when a majority has sealed it. */
    MAJORITY_SEAL,
    /** A change of the longest lease time counts when it begins, in both directions. */
    RAISED_AT_ONCE,
    /** Nodes stay out for the guard time of the client that asks, whatever their records say. */
    OWN_GUARD,
    /** Votes count also for leases that are longer than the record of the node allows. */
    UNLIMITED_LEASES,
    /** Nodes restart empty at any time, also while a removed member was not told. */
    FORGETFUL
  }

  static final long MAX_LEASE = 5_000;

  /** What an operator may raise it to. */
  static final long LONG_LEASE = 12_000;

  static final long ROUND_TIMEOUT = 500;
  static final int POOL = 6;
  private static final int RESTARTS_IN_A_CHANGE = 2;
  private static final long CHAOS_ENDS = 80_000;
  private static final long ENDS = 145_000;

  final SplittableRandom random;
  final Set<Break> broken;
  final Coverage coverage;
  final List<WorldNode> nodes = new ArrayList<>();
  final List<WorldClient> clients = new ArrayList<>();
  final List<WorldOperator> operators = new ArrayList<>();
  final List<String> trace = new ArrayList<>();
  private final boolean tracing;
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingLong(Event::time).thenComparingLong(Event::order));
  private final List<WorldClient.Lease> leases = new ArrayList<>();
  private final List<String> firstList;
  final double growth;
  private final long gap;
  private long order;
  long now;
  private long ids;
  private long lastBallot;
  @Nullable String violation;

  /** The newest epoch of which an operator has said that it is complete; and its set. */
  private NodeRecord complete = NodeRecord.NONE;

  private long opened;
  private int restartsInChange;

  /** Each set that was ever recorded. */
  private final Set<List<String>> sets = new HashSet<>();

  private boolean finalDone;
  boolean contradicted;
  private long lastGrant;

  private record Event(long time, long order, Runnable action) {}

  /** What the worlds of a test did, all together. */
  static final class Coverage {
    long worlds;
    long worldsWithChange;
    long changes;
    long removals;
    long resumed;
    long refused;
    long died;
    long grants;
    long extensions;
    long repairs;
    long restarts;
    long restartsInChange;
    long untoldEnds;
    long tells;
    long contradictions;
    long corrected;
    long events;

    @Override
    public String toString() {
      return ("%d worlds, %d with a change; %d changes, %d removals, operators: %d died, %d refused,"
              + " %d continued; %d grants, %d extensions, %d repairs; %d restarts, %d in a change;"
              + " %d tells, %d contradictions, %d corrected lists, %d events")
          .formatted(
              worlds,
              worldsWithChange,
              changes,
              removals,
              died,
              refused,
              resumed,
              grants,
              extensions,
              repairs,
              restarts,
              restartsInChange,
              tells,
              contradictions,
              corrected,
              events);
    }
  }

  SetWorld(long seed, Set<Break> broken, Coverage coverage, boolean tracing) {
    random = new SplittableRandom(seed * 0x9E3779B97F4A7C15L + 1);
    this.broken = broken.isEmpty() ? EnumSet.noneOf(Break.class) : EnumSet.copyOf(broken);
    this.coverage = coverage;
    this.tracing = tracing;
    for (int i = 1; i <= POOL; i++) {
      nodes.add(new WorldNode(this, i));
    }
    gap = 4_000L << random.nextInt(3);
    growth = random.nextDouble();
    int[] sizes = {1, 2, 2, 3, 3, 3, 3, 3, 4, 5};
    int size = sizes[random.nextInt(sizes.length)];
    firstList = IntStream.rangeClosed(1, size).mapToObj(i -> "n" + i).toList();
  }

  static long guard(long maxLease) {
    return RestartGuard.guardTime(Duration.ofMillis(maxLease)).toMillis();
  }

  boolean breaks(Break rule) {
    return broken.contains(rule);
  }

  void trace(Supplier<String> line) {
    if (tracing) {
      trace.add(now + " " + line.get());
    }
  }

  void at(long time, Runnable action) {
    events.add(new Event(Math.max(time, now), order++, action));
  }

  void after(long millis, Runnable action) {
    at(now + millis, action);
  }

  boolean chance(double probability) {
    return random.nextDouble() < probability;
  }

  long between(long least, long most) {
    return random.nextLong(least, most + 1);
  }

  long nextId() {
    return ++ids;
  }

  /** Ballots are times, so that a node can refuse those from before its start. */
  long nextBallot() {
    lastBallot = Math.max(lastBallot + 1, now * 1000);
    return lastBallot;
  }

  boolean calm() {
    return now >= CHAOS_ENDS;
  }

  /** The node that a client reaches by this name, however it is spelled. */
  WorldNode node(String name) {
    return nodes.get(Integer.parseInt(name.substring(1)) - 1);
  }

  @Nullable String run() {
    int count = (int) between(2, 3);
    for (int i = 0; i < count; i++) {
      WorldClient client = new WorldClient(this, i);
      clients.add(client);
      client.start(firstList);
    }
    if (count == 3 && chance(0.4)) {
      double kind = random.nextDouble();
      at(11_000, kind < 0.3 ? this::growAround : kind < 0.7 ? this::changeAround : this::lengthen);
      boolean quiet = chance(0.7);
      at(quiet ? 60_000 : between(1_000, 9_000), this::chaos);
      at(quiet ? 60_000 : between(3_000, 50_000), this::operate);
    } else {
      after(between(1_000, 9_000), this::chaos);
      after(between(3_000, 8_000), this::operate);
    }
    at(CHAOS_ENDS, this::heal);
    while (violation == null) {
      Event event = events.poll();
      if (event == null || event.time > ENDS) {
        break;
      }
      now = event.time;
      coverage.events++;
      event.action.run();
    }
    coverage.worlds++;
    coverage.worldsWithChange += complete.epoch() > 1 ? 1 : 0;
    if (violation == null) {
      checkLiveness();
    }
    return violation;
  }

  private void checkLiveness() {
    if (contradicted) {
      coverage.contradictions++; // Two restarts have hidden the set of another operator.
    } else if (!finalDone) {
      violation = "liveness: the last change is not complete: " + states();
    } else if (lastGrant < ENDS - 15_000) {
      violation = "liveness: no client acquires: " + states();
    }
  }

  String states() {
    StringBuilder all = new StringBuilder();
    for (WorldNode node : nodes) {
      all.append("\n  ").append(node);
    }
    for (WorldClient client : clients) {
      all.append("\n  ").append(client);
    }
    for (WorldOperator operator : operators) {
      all.append("\n  ").append(operator);
    }
    return all.toString();
  }

  // Checks.

  void granted(WorldClient.Lease lease) {
    coverage.grants++;
    lastGrant = now;
    leases.removeIf(other -> other.ended || other.validUntil <= now);
    for (WorldClient.Lease other : leases) {
      violation = "two leases: " + other + " and " + lease + " at " + now + states();
    }
    leases.add(lease);
  }

  void recordChanged(WorldNode node, NodeRecord before, NodeRecord after) {
    if (after.epoch() < before.epoch() || after.floor() < before.floor()) {
      violation = node + ": epoch or floor fell from " + before;
    }
    sets.add(after.members());
    if (after.epoch() > opened) {
      opened = after.epoch();
      coverage.removals += after.before().size() > after.members().size() ? 1 : 0;
      restartsInChange = 0;
      if (!complete.exists()) {
        complete = after; // The first set is complete at once.
      } else if (complete.epoch() < opened - 1) {
        complete = earlier(after); // As its operator has found.
      }
    }
  }

  private static NodeRecord earlier(NodeRecord r) {
    long epoch = r.epoch() - 1;
    return new NodeRecord(
        r.id(),
        "",
        epoch,
        r.before(),
        List.of(),
        epoch,
        0,
        0,
        r.maxLeaseBefore(),
        r.maxLeaseBefore(),
        0);
  }

  void completed(NodeRecord set) {
    if (set.epoch() > complete.epoch()) {
      coverage.changes += set.epoch() > 1 ? 1 : 0;
      complete = set;
      trace(() -> "complete: " + set);
    }
  }

  void finalStepDone() {
    finalDone = true;
  }

  // Faults.

  private void chaos() {
    if (calm()) {
      return;
    }
    WorldClient client = clients.get(random.nextInt(clients.size()));
    WorldNode node = nodes.get(random.nextInt(POOL));
    switch (random.nextInt(12)) {
      case 0, 1 -> client.cut(node, between(500, 5_000));
      case 2 -> {
        if (chance(0.5)) {
          cutLong(client);
        } else {
          straggle(client);
        }
      }
      case 3, 4 -> client.delay(node, between(100, 4_000));
      case 5 -> client.pause(chance(0.7) ? between(100, 3_000) : between(5_000, 20_000));
      case 6, 7, 8 -> restart(node);
      case 9 -> node.down(between(500, 8_000));
      case 10 -> {
        if (now > 10_000) {
          client.restart(chance(0.5) ? firstList : listNow());
        }
      }
      default -> {
        for (WorldOperator operator : operators) {
          if (chance(0.2)) {
            operator.die();
          }
        }
      }
    }
    after(between(200, gap), this::chaos);
  }

  private List<String> listNow() {
    List<String> list = complete.exists() ? complete.members() : firstList;
    return chance(0.5) ? list : list.stream().map(name -> "m" + name.substring(1)).toList();
  }

  private void cutLong(WorldClient client) {
    long millis = between(8_000, 30_000);
    for (WorldNode node : nodes) {
      if (chance(0.4)) {
        client.cut(node, millis);
      }
    }
  }

  /**
   * The client is cut off while the set changes. Then it reaches a few nodes of its set, which the
   * other clients do not reach for a while, and of which some restart.
   */
  private void straggle(WorldClient straggler) {
    if (calm()) {
      return;
    }
    List<String> set = straggler.membership.current().members();
    int size = (int) between(1, Math.max(1, set.size() / 2 + 1));
    Set<WorldNode> island = new LinkedHashSet<>();
    for (int i = 0; i < size && !set.isEmpty(); i++) {
      island.add(node(set.get(random.nextInt(set.size()))));
    }
    long alone = chance(0.5) ? between(1, 4_000) : between(5_000, 35_000);
    long later = between(10_000, 25_000);
    for (WorldNode node : nodes) {
      straggler.cut(node, island.contains(node) ? alone : alone + later);
    }
    after(
        alone,
        () -> {
          for (WorldNode node : island) {
            for (WorldClient other : clients) {
              if (other != straggler && !calm()) {
                other.cut(node, between(1_000, 15_000));
              }
            }
            if (chance(0.6) && !calm()) {
              restart(node);
            }
          }
        });
  }

  /**
   * Two members are added around a client that is cut off. Then two of the first members restart,
   * and only this client reaches them for a while: its set must not come back.
   */
  private void growAround() {
    NodeRecord set = clients.get(0).membership.current();
    if (set.members().size() != 3) {
      return;
    }
    WorldClient straggler = clients.get(2);
    WorldNode a = node(set.members().get(0));
    WorldNode b = node(set.members().get(1));
    long alone = between(30_000, 36_000);
    nodes.forEach(node -> straggler.cut(node, node == a || node == b ? alone : alone + 22_000));
    WorldOperator.adds(this, clients.get(0), "n4", "n5");
    after(
        alone - between(0, 1_000),
        () -> {
          restart(a);
          restart(b);
          for (WorldClient other : clients.subList(0, 2)) {
            other.cut(a, between(6_000, 15_000));
            other.cut(b, between(6_000, 15_000));
          }
        });
  }

  /**
   * A member is added and another removed while one member hears of nothing. Then another restarts,
   * and a client that is cut off from the rest reaches both: their old set must not come back.
   */
  private void changeAround() {
    NodeRecord set = clients.get(0).membership.current();
    if (set.members().size() < 3) {
      return;
    }
    WorldClient straggler = clients.get(2);
    WorldNode a = node(set.members().get(0));
    WorldNode b = node(set.members().get(1));
    nodes.forEach(node -> straggler.cut(node, node == b ? 1 : 45_000));
    long dark = between(14_000, 30_000);
    clients.subList(0, 2).forEach(other -> other.cut(b, dark));
    WorldOperator.replaces(this, clients.get(0), set.members().get(chance(0.5) ? 0 : 1), "n6");
    whenSealed(a, set.epoch() + 1, straggler);
    if (chance(0.5)) {
      String lost = set.members().get(1);
      after(between(5_000, 12_000), () -> WorldOperator.removes(this, clients.get(0), lost));
    }
  }

  /**
   * A client has a long lease on two members, of which one restarts, while the operator raises the
   * longest lease time; or before, or after it. Another client reaches that member and the third.
   */
  private void lengthen() {
    NodeRecord set = clients.get(0).membership.current();
    if (set.members().size() != 3) {
      return;
    }
    WorldClient holder = clients.get(1);
    WorldClient other = clients.get(2);
    WorldNode a = node(set.members().get(0));
    WorldNode c = node(set.members().get(2));
    boolean known = chance(0.5);
    boolean raised = chance(0.7);
    if (!known) {
      nodes.forEach(node -> other.cut(node, node == c ? 0 : 20_000));
      clients.subList(0, 2).forEach(client -> client.cut(c, 40_000));
    }
    if (raised) {
      new WorldOperator(this, clients.get(0), null, null, LONG_LEASE, false).start();
    }
    when(
        () -> !known || !raised || complete.maxLeaseMillis() == LONG_LEASE,
        () -> {
          holder.restart(set.members(), LONG_LEASE);
          holder.cut(c, 40_000);
          when(
              holder::holds,
              () -> {
                holder.pause(15_000);
                clients.get(0).cut(known ? c : a, 15_000);
                restart(a);
                other.uncut(a);
              });
        });
  }

  private void when(BooleanSupplier condition, Runnable action) {
    if (condition.getAsBoolean()) {
      action.run();
    } else if (!calm()) {
      after(20, () -> when(condition, action));
    }
  }

  private void whenSealed(WorldNode a, long epoch, WorldClient straggler) {
    if (calm()) {
      return;
    }
    if (a.record.epoch() != epoch || !a.record.isSealed()) {
      after(50, () -> whenSealed(a, epoch, straggler));
      return;
    }
    after(
        between(250, 1_200), // The operator has seen that a majority has sealed the set.
        () -> {
          restart(a);
          straggler.uncut(a);
          clients.subList(0, 2).forEach(other -> other.cut(a, between(7_000, 10_000)));
        });
  }

  private void restart(WorldNode node) {
    if (breaks(Break.FORGETFUL) || mayForget(node)) {
      coverage.restarts++;
      coverage.restartsInChange += opened > complete.epoch() ? 1 : 0;
      restartsInChange++;
      node.restart();
      if (chance(0.5)) {
        node.down(between(100, 3_000));
      }
    }
  }

  /** The assumption under which two owners are impossible. */
  private boolean mayForget(WorldNode node) {
    boolean changing = opened > complete.epoch();
    if (changing && restartsInChange >= RESTARTS_IN_A_CHANGE) {
      return false;
    }
    for (WorldNode other : nodes) {
      if (isKnown(other) && !isMember(complete, other) && other.record.epoch() < complete.epoch()) {
        return false; // A removed member that was not told.
      }
    }
    if (nodes.stream().noneMatch(other -> other != node && other.record.epoch() == opened)) {
      return false; // No node would know the newest set.
    }
    boolean removed = isKnown(node) && !isMember(complete, node) && !changing;
    return complete.exists()
        && !removed
        && sets.stream().allMatch(set -> set.stream().anyMatch(name -> says(name, node)));
  }

  /** Whether it is, or was, a member. */
  private boolean isKnown(WorldNode node) {
    return sets.stream().anyMatch(set -> set.stream().anyMatch(name -> node(name) == node));
  }

  private boolean says(String name, WorldNode except) {
    return node(name) != except && node(name).record.exists();
  }

  private boolean isMember(NodeRecord set, WorldNode node) {
    return set.members().stream().anyMatch(name -> node(name) == node);
  }

  private void heal() {
    nodes.forEach(WorldNode::heal);
    clients.forEach(WorldClient::heal);
  }

  // Operators.

  private void operate() {
    operators.removeIf(operator -> operator.ended);
    if (calm()) {
      correctLists();
      if (!finalDone && operators.isEmpty()) {
        new WorldOperator(this, clients.get(0), null, null, 0, true).start();
      }
      after(2_000, this::operate);
      return;
    }
    if (operators.isEmpty() || (operators.size() < 2 && chance(0.15))) {
      WorldClient client = clients.get(random.nextInt(clients.size()));
      WorldOperator.random(this, client);
      WorldClient other = clients.get(random.nextInt(clients.size()));
      if (chance(0.1)) {
        WorldOperator.random(this, other);
      }
      if (other != client && chance(0.15)) {
        after(between(1, 12_000), () -> straggle(other));
      }
    }
    after(between(500, 4_000), this::operate);
  }

  /** A list of which no majority shows the deployment any more: its client says so, and waits. */
  private void correctLists() {
    for (WorldClient client : clients) {
      if (!client.membership.current().exists() && complete.exists()) {
        coverage.corrected++;
        client.restart(complete.members(), client.maxLease);
      }
    }
  }

  /** What the node stores after the change. */
  NodeRecord after(NodeRecord stored, NodeRecord.Change change) {
    if (breaks(Break.NO_PROMISES) && change.kind() != NodeRecord.Change.Kind.TELL) {
      NodeRecord given = change.record();
      NodeRecord careless = WorldOperator.promised(stored, given.promised());
      boolean other =
          change.kind() == NodeRecord.Change.Kind.OPEN
              && stored.epoch() == given.epoch()
              && !stored.members().equals(given.members());
      return other ? stored : NodeRecord.after(careless, change, now * 1000);
    }
    return NodeRecord.after(stored, change, now * 1000);
  }
}
