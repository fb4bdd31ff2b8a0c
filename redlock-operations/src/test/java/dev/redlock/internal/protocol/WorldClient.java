package dev.redlock.internal.protocol;

import dev.redlock.internal.sets.Members;
import dev.redlock.internal.sets.Membership;
import dev.redlock.internal.sets.Membership.Decision;
import dev.redlock.internal.sets.Seen;
import dev.redlock.internal.sets.Tell;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A client of {@link SetWorld}: follows the set, and acquires, extends and releases one lock. */
final class WorldClient implements Nodes {
  private static final long MICRO = 1_000_000; // ms to ns
  private static final long DRIFT = 52;

  private final SetWorld world;
  final int number;
  private int life;
  long maxLease = SetWorld.MAX_LEASE;
  List<WorldLink> links = new ArrayList<>();
  private List<@Nullable String> objections = new ArrayList<>();
  private List<String> list = List.of();
  Membership membership;
  private Members members;
  private final BitSet telling = new BitSet();
  private final long[] outside = new long[64];
  private long pausedUntil;
  private final ArrayDeque<Runnable> inbox = new ArrayDeque<>();
  private boolean reviewing;
  private boolean reviewAgain;
  private @Nullable Lease lease;
  private boolean asking;

  /** The nodes that operators add by this client. */
  private final List<@Nullable String> reserved = new ArrayList<>();

  /** A lease as its holder sees it. */
  static final class Lease {
    final WorldClient client;
    final long id;
    final Members members;
    long validUntil;
    boolean ended;

    Lease(WorldClient client, long id, Members members, long validUntil) {
      this.client = client;
      this.id = id;
      this.members = members;
      this.validUntil = validUntil;
    }

    @Override
    public String toString() {
      return "lease "
          + id
          + " of c"
          + client.number
          + " by epoch "
          + members.epoch()
          + members.names()
          + " until "
          + validUntil;
    }
  }

  WorldClient(SetWorld world, int number) {
    this.world = world;
    this.number = number;
    membership =
        new Membership(1, false, this::deploymentId, maxLease, SetWorld.guard(maxLease) * MICRO, 0);
    members = Members.all(1);
  }

  // Life.

  void start(List<String> seeds) {
    life++;
    list = seeds;
    links = new ArrayList<>();
    objections = new ArrayList<>();
    telling.clear();
    inbox.clear();
    lease = null;
    asking = false;
    reserved.clear();
    long limit = world.breaks(SetWorld.Break.UNLIMITED_LEASES) ? 0 : maxLease;
    membership =
        new Membership(
            seeds.size(),
            false,
            this::deploymentId,
            limit,
            SetWorld.guard(maxLease) * MICRO,
            nanos());
    members = Members.all(seeds.size());
    for (String seed : seeds) {
      add(seed);
    }
    int in = life;
    world.after(world.between(0, 500), () -> beat(in));
    world.after(world.between(500, 2_000), () -> use(in));
  }

  private void add(String name) {
    WorldLink link = new WorldLink(world, this, name);
    links.add(link);
    objections.add(null);
    link.connect();
  }

  /** Another process with another list; what this one held, it forgets. */
  void restart(List<String> seeds) {
    // One client never needs longer leases than each set allows.
    boolean longer = number > 0 && world.chance(0.5);
    restart(seeds, longer ? SetWorld.LONG_LEASE : SetWorld.MAX_LEASE);
  }

  void restart(List<String> seeds, long longestLease) {
    world.trace(() -> this + " restarts with " + seeds + " and leases of " + longestLease);
    Lease held = lease;
    if (held != null) {
      held.ended = true;
    }
    links.forEach(WorldLink::close);
    world.operators.forEach(operator -> operator.clientRestarted(this));
    pausedUntil = world.now;
    maxLease = longestLease;
    start(seeds);
  }

  void pause(long millis) {
    world.trace(() -> "c" + number + " pauses for " + millis);
    pausedUntil = Math.max(pausedUntil, world.now + millis);
    world.at(pausedUntil, this::resume);
  }

  boolean isPaused() {
    return world.now < pausedUntil;
  }

  private void resume() {
    while (!isPaused() && !inbox.isEmpty()) {
      inbox.remove().run();
    }
  }

  /** Runs it now, or after the pause, in order. */
  void deliver(Runnable action) {
    int in = life;
    Runnable checked =
        () -> {
          if (in == life) {
            action.run();
          }
        };
    if (isPaused() || !inbox.isEmpty()) {
      inbox.add(checked);
    } else {
      checked.run();
    }
  }

  void cut(WorldNode node, long millis) {
    world.trace(() -> "c" + number + " is cut from n" + node.number + " for " + millis);
    links.stream().filter(link -> link.node == node).forEach(link -> link.cut(millis));
  }

  void uncut(WorldNode node) {
    links.stream().filter(link -> link.node == node).forEach(WorldLink::heal);
  }

  void delay(WorldNode node, long millis) {
    links.stream().filter(link -> link.node == node).forEach(link -> link.slow(millis));
  }

  void heal() {
    pausedUntil = world.now;
    resume();
    links.forEach(WorldLink::heal);
  }

  private String deploymentId() {
    return "d" + world.between(100, 999) + "c" + number + "." + life;
  }

  boolean holds() {
    return lease != null;
  }

  long nanos() {
    return world.now * MICRO;
  }

  // The set of nodes, as SetKeeper keeps it.

  private void beat(int in) {
    if (in == life) {
      deliver(this::review);
      world.after(500, () -> beat(in));
    }
  }

  List<Seen> seen() {
    List<Seen> seen = new ArrayList<>(links.size());
    for (WorldLink link : links) {
      seen.add(new Seen(link.name, link.status(), ""));
    }
    return seen;
  }

  void review() {
    if (reviewing) {
      reviewAgain = true;
      return;
    }
    reviewing = true;
    do {
      reviewAgain = false;
      reviewOnce();
    } while (reviewAgain);
    reviewing = false;
  }

  private void reviewOnce() {
    Decision decision = membership.review(seen(), nanos());
    if (!decision.members().equals(members)) {
      members = decision.members();
      world.trace(() -> "c" + number + " works with " + members);
    }
    for (int i = 0; i < decision.objections().size(); i++) {
      objections.set(i, decision.objections().get(i));
    }
    if (decision.objections().stream().anyMatch(o -> o != null && o.startsWith("contra"))) {
      world.contradicted = true;
    }
    decision.tells().forEach(this::tell);
    if (world.breaks(SetWorld.Break.OWN_WORD)) {
      tellOwnWord();
    }
    for (String name : decision.missing()) {
      if (links.size() < 63) {
        add(name);
      }
    }
    closeOthers();
  }

  private void tell(Tell tell) {
    if (!telling.get(tell.node())) {
      telling.set(tell.node());
      int in = life;
      world.after(
          1_000,
          () -> {
            if (in == life) {
              telling.clear(tell.node());
            }
          });
      send(tell);
    }
  }

  /** Sends a change; its reply shows the record. */
  void send(Tell tell) {
    world.coverage.tells++;
    WorldLink link = links.get(tell.node());
    link.send(
        () -> link.node.change(tell.change()),
        stored -> {
          telling.clear(tell.node());
          link.onRecord(stored);
          membership.answered(tell, stored);
          review();
        });
  }

  private void tellOwnWord() {
    NodeRecord own = membership.current();
    for (int i = 0; i < links.size(); i++) {
      NodeStatus status = links.get(i).status();
      String name = links.get(i).name;
      if (status.usable()
          && NodeRecord.NONE.equals(status.record())
          && own.members().contains(name)) {
        tell(new Tell(i, new NodeRecord.Change(NodeRecord.Change.Kind.TELL, own.by(0).of(name))));
      }
    }
  }

  /** Connects to a node that may become a member, and stays connected. */
  void reserve(@Nullable String name) {
    reserved.add(name);
    if (name != null && membership.numberOf(name) < 0 && links.size() < 63) {
      add(name);
      review();
    }
  }

  void unreserve(@Nullable String name) {
    reserved.remove(name);
  }

  private void closeOthers() {
    for (int i = 0; i < links.size(); i++) {
      boolean out =
          members.epoch() > 0
              && !members.contains(i)
              && !membership.isWanted(i)
              && !reserved.contains(membership.nameOf(i));
      if (!out) {
        outside[i] = world.now;
      } else if (!links.get(i).closed && world.now - outside[i] > SetWorld.guard(maxLease)) {
        membership.forget(i);
        links.get(i).close();
      }
    }
  }

  // The lock.

  /** Now and then acquires the lock, keeps it for a while, releases it. */
  private void use(int in) {
    if (in != life) {
      return;
    }
    if (lease == null && !asking) {
      deliver(this::acquire);
    }
    world.after(world.between(100, 1_500), () -> use(in));
  }

  private void acquire() {
    if (lease != null || asking) {
      return;
    }
    Round round = new Round(world.nextId(), members);
    asking = true;
    for (int i = 0; i < links.size(); i++) {
      WorldLink link = links.get(i);
      int node = i;
      if (members.contains(i) && status(i).votes()) {
        link.send(() -> link.node.acquire(round.id, maxLease), code -> round.acquired(node, code));
      }
    }
    int in = life;
    world.after(
        SetWorld.ROUND_TIMEOUT,
        () ->
            deliver(
                () -> {
                  if (in == life && !round.decided) {
                    round.decided = true;
                    asking = false;
                    release(round.id);
                  }
                }));
  }

  private void release(long id) {
    for (WorldLink link : links) {
      link.send(() -> link.node.release(id), code -> {});
    }
  }

  private void granted(Lease won) {
    lease = won;
    asking = false;
    world.trace(() -> "granted " + won);
    world.granted(won);
    boolean extended = world.chance(0.8);
    long hold =
        world.calm() || world.chance(0.7) ? world.between(10, 2_000) : world.between(2_000, 25_000);
    if (extended) {
      world.after(maxLease / 3, () -> deliver(() -> extend(won)));
    }
    world.after(hold, () -> deliver(() -> end(won, world.chance(0.8))));
    watch(won);
  }

  private void watch(Lease held) {
    world.at(
        held.validUntil,
        () ->
            deliver(
                () -> {
                  if (held.validUntil <= world.now) {
                    end(held, true);
                  } else if (!held.ended) {
                    watch(held);
                  }
                }));
  }

  private void end(Lease held, boolean released) {
    if (held.ended) {
      return;
    }
    held.ended = true;
    if (lease == held) {
      lease = null;
    }
    if (released) {
      release(held.id);
    }
  }

  private void extend(Lease held) {
    if (held.ended || held.validUntil <= world.now) {
      return;
    }
    Round round = new Round(held.id, members);
    for (int i = 0; i < links.size(); i++) {
      WorldLink link = links.get(i);
      int node = i;
      if (members.contains(i) && status(i).usable()) {
        link.send(
            () -> link.node.extend(held.id, maxLease), code -> round.extended(held, node, code));
      }
    }
    world.after(maxLease / 3, () -> deliver(() -> extend(held)));
  }

  /** A round that asks the members with which it began. */
  private final class Round {
    final long id;
    final Members of;
    final long sent = world.now;
    final NodeReply[] replies = new NodeReply[links.size()];
    boolean decided;

    Round(long id, Members of) {
      this.id = id;
      this.of = of;
    }

    void acquired(int node, Code code) {
      replies[node] = NodeReply.of(code, links.get(node).connection(), 0, 0);
      if (decided || world.now - sent > SetWorld.ROUND_TIMEOUT) {
        return;
      }
      int votes = 0;
      for (int i = 0; i < replies.length; i++) {
        NodeReply reply = replies[i];
        boolean yes = reply != null && reply.code() == Code.GRANTED;
        votes += yes && of.contains(i) && isVote(i, reply) ? 1 : 0;
      }
      if (votes >= of.quorum()) {
        decided = true;
        granted(new Lease(WorldClient.this, id, of, sent + maxLease - DRIFT));
      }
    }

    private boolean isVote(int node, NodeReply reply) {
      return votes(node, reply, of);
    }

    void extended(Lease held, int node, Code code) {
      replies[node] = NodeReply.of(code, links.get(node).connection(), 0, 0);
      world.coverage.repairs += code == Code.REPAIRED ? 1 : 0;
      boolean late = world.now - sent > SetWorld.ROUND_TIMEOUT || world.now >= held.validUntil;
      if (decided || late || held.ended) {
        return;
      }
      int votes = 0;
      int lost = 0;
      for (int i = 0; i < replies.length; i++) {
        NodeReply reply = replies[i];
        if (reply != null && of.contains(i)) {
          boolean no = reply.code() == Code.LOST;
          lost += no && isVote(i, reply) ? 1 : 0;
          votes += !no && counts(i, reply) ? 1 : 0;
        }
      }
      if (votes >= of.quorum()) {
        decided = true;
        world.coverage.extensions++;
        held.validUntil = sent + maxLease - DRIFT;
      } else if (lost >= of.blocking()) {
        decided = true;
        end(held, true);
      }
    }

    /** As {@link ExtendRound} counts. */
    private boolean counts(int node, NodeReply reply) {
      NodeStatus status = status(node);
      if (status.connection() != reply.connection() || !of.admittedBy(status.record())) {
        return false;
      }
      return switch (status.state()) {
        case VOTING -> true;
        case QUARANTINED ->
            status.untilNanos() != 0
                && nanos() - status.sinceNanos() >= ExtendRound.QUARANTINE_COUNTS_NANOS;
        default -> false;
      };
    }
  }

  // Nodes.

  @Override
  public int count() {
    return links.size();
  }

  @Override
  public Members members() {
    return members;
  }

  @Override
  public String name(int node) {
    return links.get(node).name;
  }

  @Override
  public NodeStatus status(int node) {
    NodeStatus own = links.get(node).status();
    String objection = objections.get(node);
    return objection == null || !own.usable()
        ? own
        : new NodeStatus(
            NodeStatus.State.QUARANTINED,
            own.connection(),
            own.sinceNanos(),
            0,
            objection,
            false,
            own.record());
  }

  @Override
  public NodeKnowledge knowledge(int node) {
    return NodeKnowledge.NONE;
  }

  @Override
  public void learn(int node, UnaryOperator<NodeKnowledge> change) {}

  @Override
  public RoundLimiter limiter() {
    throw new UnsupportedOperationException();
  }

  @Override
  public ExtendQueue extensions() {
    throw new UnsupportedOperationException();
  }

  @Override
  public String toString() {
    return "c"
        + number
        + " "
        + list
        + (isPaused() ? " paused " : " ")
        + membership.current()
        + " floor "
        + membership.current().floor()
        + " members "
        + members
        + " "
        + links
        + " objections "
        + objections
        + " lease "
        + lease;
  }
}
