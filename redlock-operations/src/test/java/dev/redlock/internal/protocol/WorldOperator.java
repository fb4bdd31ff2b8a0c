package dev.redlock.internal.protocol;

import dev.redlock.internal.protocol.SetWorld.Break;
import dev.redlock.internal.sets.Seen;
import dev.redlock.internal.sets.Tell;
import dev.redlock.operations.internal.SetOperator;
import dev.redlock.operations.internal.SetOperator.Step;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** An operator of {@link SetWorld}: changes the set by one step with what its client sees. */
final class WorldOperator {
  private static final long MICRO = 1_000_000; // ms to ns

  private final SetWorld world;
  private final WorldClient client;
  private final @Nullable String add;
  private final @Nullable String remove;
  private final boolean last;
  private final long ballot;
  private final SetOperator operator;
  private @Nullable Supplier<WorldOperator> then; // With a ballot of its own time.
  boolean ended;
  private String progress = "";
  private long ticks;
  private boolean wrote;

  /** With {@link Break#MAJORITY_SEAL}: which set a majority has sealed, and since when. */
  private long sealedEpoch;

  private long sealedMicros;

  /** With {@link Break#TWO_MEMBERS}: sets as this operator means them, and as it writes them. */
  private final Map<List<String>, List<String>> written = new HashMap<>();

  WorldOperator(
      SetWorld world,
      WorldClient client,
      @Nullable String add,
      @Nullable String remove,
      long maxLeaseMillis,
      boolean last) {
    this.world = world;
    this.client = client;
    this.add = add;
    this.remove = remove;
    this.last = last;
    ballot = world.nextBallot();
    operator = new SetOperator(new SetOperator.Goal(add, remove, maxLeaseMillis), Set.of(), ballot);
  }

  /** Adds, removes, or replaces in either order, or changes the longest lease time. */
  static void random(SetWorld world, WorldClient client) {
    NodeRecord current = client.membership.current();
    if (!current.exists()) {
      return;
    }
    List<String> members = current.members();
    List<String> others = new ArrayList<>();
    for (WorldNode node : world.nodes) {
      if (members.stream().noneMatch(name -> world.node(name) == node)) {
        others.add("n" + node.number);
      }
    }
    String in = others.isEmpty() ? null : others.get((int) world.between(0, others.size() - 1));
    String out = members.get((int) world.between(0, members.size() - 1));
    int kind = (int) world.between(0, 11);
    boolean grow = world.chance(world.growth);
    if (kind < 6 && grow && in != null && members.size() < 5) {
      new WorldOperator(world, client, in, null, 0, false).start();
    } else if (kind < 6 && !grow && members.size() > 1) {
      new WorldOperator(world, client, null, out, 0, false).start();
    } else if (kind < 9 && in != null && members.size() > 1) {
      boolean addFirst = world.chance(0.5);
      var first =
          new WorldOperator(world, client, addFirst ? in : null, addFirst ? null : out, 0, false);
      first.then =
          () ->
              new WorldOperator(
                  world, client, addFirst ? null : in, addFirst ? out : null, 0, false);
      first.start();
    } else if (kind > 8) {
      boolean shorter = current.maxLeaseMillis() > SetWorld.MAX_LEASE && world.chance(0.8);
      long longest = shorter ? SetWorld.MAX_LEASE : SetWorld.LONG_LEASE;
      new WorldOperator(world, client, null, null, longest, false).start();
    }
  }

  static void adds(SetWorld world, WorldClient client, String one, String two) {
    var first = new WorldOperator(world, client, one, null, 0, false);
    first.then = () -> new WorldOperator(world, client, two, null, 0, false);
    first.start();
  }

  static void removes(SetWorld world, WorldClient client, String out) {
    new WorldOperator(world, client, null, out, 0, false).start();
  }

  static void replaces(SetWorld world, WorldClient client, String out, String in) {
    var first = new WorldOperator(world, client, in, null, 0, false);
    first.then = () -> new WorldOperator(world, client, null, out, 0, false);
    first.start();
  }

  void start() {
    world.operators.add(this);
    client.reserve(add);
    world.trace(() -> "starts " + this);
    if (!last && world.chance(0.25)) {
      world.after(world.between(100, 15_000), this::die);
    }
    world.after(1, this::tick);
  }

  void die() {
    if (!ended && !last) {
      world.coverage.died++;
      end("dies");
    }
  }

  void clientRestarted(WorldClient other) {
    if (other == client) {
      end("ends with its client");
    }
  }

  private void end(String how) {
    if (!ended) {
      client.unreserve(add);
      ended = true;
      world.trace(() -> how + ": " + this);
    }
  }

  private void tick() {
    if (ended) {
      return;
    }
    if (!client.isPaused()) {
      step();
    }
    world.after(200, this::tick);
  }

  private void step() {
    List<Seen> nodes = client.membership.heard(client.seen());
    NodeRecord current = client.membership.current();
    long now = client.nanos();
    if (world.breaks(Break.NO_WAIT)) {
      now += ++ticks * SetWorld.guard(SetWorld.LONG_LEASE) * MICRO;
    }
    Step step = operator.next(view(nodes, current), view(current), now);
    if (!step.progress().equals(progress)) {
      progress = step.progress();
      world.trace(() -> "step of " + this);
    }
    step.tells().stream()
        .filter(tell -> tell.node() < client.links.size()) // Not to what a broken rule invents.
        .forEach(tell -> client.send(written(tell)));
    if (!step.tells().isEmpty() && !wrote && !current.isSealed()) {
      wrote = true;
      world.coverage.resumed++;
    }
    if (step.refusal() != null) {
      world.coverage.refused++;
      end("is refused");
    } else if (step.done()) {
      end("is done");
      world.completed(current);
      Supplier<WorldOperator> next = then;
      if (last) {
        world.finalStepDone();
      } else if (next != null) {
        next.get().start();
      }
    }
  }

  // What a broken rule shows to the operator, and writes for it.

  private NodeRecord view(NodeRecord record) {
    NodeRecord shown = record;
    if (world.breaks(Break.TWO_MEMBERS)) {
      for (Map.Entry<List<String>, List<String>> entry : written.entrySet()) {
        if (entry.getValue().equals(record.members())) {
          shown = withMembers(record, entry.getKey());
        }
      }
    }
    if (world.breaks(Break.NEXT_BEFORE_SEAL) && shown.exists()) {
      shown = sealed(shown, 0);
    }
    return shown;
  }

  private List<Seen> view(List<Seen> nodes, NodeRecord current) {
    if (world.broken.isEmpty()) {
      return nodes;
    }
    List<Seen> shown = new ArrayList<>();
    nodes.forEach(node -> shown.add(view(node)));
    if (world.breaks(Break.MAJORITY_SEAL) && isSealedByMajority(current, nodes)) {
      if (sealedEpoch != current.epoch()) {
        sealedEpoch = current.epoch();
        sealedMicros = world.now * 1000;
      }
      for (String member : current.members()) {
        NodeRecord record = sealed(current.of(member), sealedMicros);
        shown.add(
            new Seen(
                member, new NodeStatus(NodeStatus.State.VOTING, 0, 0, 0, "", false, record), ""));
      }
    }
    return shown;
  }

  private Seen view(Seen node) {
    NodeRecord record = node.status().record();
    if (record == null || !record.exists()) {
      return node;
    }
    NodeRecord shown = view(record);
    if (world.breaks(Break.NO_PROMISES)) {
      shown = promised(shown, ballot);
    }
    if (world.breaks(Break.MAJORITY_SEAL)) {
      shown = record.epoch() == sealedEpoch ? sealed(shown, sealedMicros) : shown;
    }
    return new Seen(node.name(), node.status().with(shown), "");
  }

  private static boolean isSealedByMajority(NodeRecord record, List<Seen> all) {
    long sealed =
        all.stream()
            .map(seen -> seen.status().record())
            .filter(r -> r != null && r.isOfSameSet(record) && r.isSealed())
            .count();
    return sealed > record.members().size() / 2;
  }

  private Tell written(Tell tell) {
    NodeRecord record = tell.change().record();
    boolean open = tell.change().kind() == NodeRecord.Change.Kind.OPEN;
    if (world.breaks(Break.RAISED_AT_ONCE) && open) {
      NodeRecord raised = complete(record);
      return new Tell(tell.node(), new NodeRecord.Change(tell.change().kind(), raised));
    }
    if (world.breaks(Break.TWO_MEMBERS) && tell.change().kind() != NodeRecord.Change.Kind.PROMISE) {
      List<String> other =
          open
              ? written.computeIfAbsent(record.members(), set -> replaced(set, record.before()))
              : written.getOrDefault(record.members(), record.members());
      return new Tell(
          tell.node(), new NodeRecord.Change(tell.change().kind(), withMembers(record, other)));
    }
    return tell;
  }

  /** One member more goes, or comes. */
  private List<String> replaced(List<String> set, List<String> before) {
    TreeSet<String> other = new TreeSet<>(set);
    if (set.size() > before.size()) {
      other.remove(before.get(0));
    } else if (set.size() < before.size()) {
      for (WorldNode node : world.nodes) {
        if (set.size() == other.size() && !before.contains("n" + node.number)) {
          other.add("n" + node.number);
        }
      }
    }
    return List.copyOf(other);
  }

  private static NodeRecord withMembers(NodeRecord r, List<String> members) {
    return new NodeRecord(
        r.id(),
        r.name(),
        r.epoch(),
        members,
        r.before(),
        r.floor(),
        r.ballot(),
        r.promised(),
        r.maxLeaseMillis(),
        r.maxLeaseBefore(),
        r.sinceMicros());
  }

  /** Allows the longest lease time of the set at once; no node knows that of the set before. */
  private static NodeRecord complete(NodeRecord r) {
    return new NodeRecord(
        r.id(),
        r.name(),
        r.epoch(),
        r.members(),
        r.before(),
        r.floor(),
        r.ballot(),
        r.promised(),
        r.maxLeaseMillis(),
        r.maxLeaseMillis(),
        r.sinceMicros());
  }

  static NodeRecord promised(NodeRecord r, long promised) {
    return new NodeRecord(
        r.id(),
        r.name(),
        r.epoch(),
        r.members(),
        r.before(),
        r.floor(),
        r.ballot(),
        r.exists() ? promised : 0,
        r.maxLeaseMillis(),
        r.maxLeaseBefore(),
        r.sinceMicros());
  }

  private static NodeRecord sealed(NodeRecord r, long since) {
    return new NodeRecord(
        r.id(),
        r.name(),
        r.epoch(),
        r.members(),
        r.before(),
        r.epoch(),
        r.ballot(),
        r.promised(),
        r.maxLeaseMillis(),
        r.maxLeaseBefore(),
        since);
  }

  @Override
  public String toString() {
    return "operator "
        + ballot
        + " of c"
        + client.number
        + (add == null ? "" : " adds " + add)
        + (remove == null ? "" : " removes " + remove)
        + ": "
        + progress;
  }
}
