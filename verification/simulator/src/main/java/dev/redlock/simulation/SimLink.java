package dev.redlock.simulation;

import dev.redlock.internal.protocol.Exchange;
import dev.redlock.redis.internal.ConnectionStates;
import dev.redlock.redis.internal.Probe;
import dev.redlock.redis.internal.Silence;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * The path between one client and one node: the adapter with its connection, probes and restart
 * guard, and the network. A connection keeps the order of its messages in each direction. A request
 * that was in flight when the connection broke may still be executed, even after requests of newer
 * connections.
 */
final class SimLink {
  private static final String NO_PERMISSION = "NOPERM";
  private static final long AGAIN_NANOS = 5 * Scenario.SECOND;

  /**
   * One constant text for each change of state, because changes are frequent and strings are slow
   * to build.
   */
  private static final Map<NodeStatus.State, Map<NodeStatus.State, String>> TRANSITIONS =
      transitions();

  final SimClient client;
  final SimNode node;

  /** To which its name led at the last connection; see {@link Mistakes}. */
  SimNode server;

  final World world;
  Connection connection;
  private final ConnectionStates states;

  /** Whether this client's next probe would detect that the node was flushed. */
  private boolean markerSeen;

  private boolean probing;

  /** The connection whose probe the node has answered. */
  private Connection arriving;

  private NodeStatus status;

  /** When the status became the present one. */
  private long statusSince;

  private long stalledUntil;

  /** How often the client learnt of another status. */
  int changes;

  /** The user of this client has no permission for the marker of the node. */
  boolean unreadable;

  /** How many requests the client has sent. */
  long sent;

  private static Map<NodeStatus.State, Map<NodeStatus.State, String>> transitions() {
    Map<NodeStatus.State, Map<NodeStatus.State, String>> all =
        new EnumMap<>(NodeStatus.State.class);
    for (NodeStatus.State from : NodeStatus.State.values()) {
      Map<NodeStatus.State, String> row = new EnumMap<>(NodeStatus.State.class);
      for (NodeStatus.State to : NodeStatus.State.values()) {
        row.put(to, from + " to " + to);
      }
      all.put(from, row);
    }
    return all;
  }

  SimLink(SimClient client, SimNode node) {
    this.client = client;
    this.node = node;
    server = node;
    world = client.world;
    states =
        new ConnectionStates(
            world.scenario.guard,
            Duration.ofNanos(client.maxLeaseNanos),
            world.scenario.records,
            client.mono());
    shut = world.scenario.given > 0 && node.index >= world.scenario.given;
    status = states.status();
  }

  NodeStatus status() {
    return status;
  }

  /** Takes the reply to a request, once. */
  interface Taker {
    void onReply(Exchange exchange, int node, LockRequest request, NodeReply reply);
  }

  /** One request and its reply. */
  static final class Message {
    final Taker taker;
    final Exchange exchange;
    final LockRequest request;
    final Connection connection;
    boolean gone;
    boolean executed;
    boolean answered;

    /** Whether it carries the text of the script, not only its hash. */
    final boolean whole;

    final long sequence;

    Message(Taker taker, Exchange exchange, LockRequest request, Connection connection) {
      this(taker, exchange, request, connection, false);
    }

    Message(
        Taker taker, Exchange exchange, LockRequest request, Connection connection, boolean whole) {
      this.whole = whole;
      this.taker = taker;
      this.exchange = exchange;
      this.request = request;
      this.connection = connection;
      sequence = connection.sentCount++;
    }
  }

  /** A change of the node's record, on its way there and back. */
  private static final class Changing {
    final NodeRecord.Change change;
    final CompletableFuture<NodeRecord> result;
    boolean executed;

    Changing(NodeRecord.Change change, CompletableFuture<NodeRecord> result) {
      this.change = change;
      this.result = result;
    }
  }

  /** One TCP connection. */
  static final class Connection {
    final SimLink link;
    final SimNode server;
    final long session;
    final int run;
    long number;
    private final ArrayDeque<Message> outstanding = new ArrayDeque<>();
    private final List<Changing> changing = new ArrayList<>();
    private long lastThere;
    private long lastBack;
    private boolean dead;
    private boolean refused;
    private boolean watched;
    private long lastReadNanos;
    private long sentCount;
    private long executedCount;

    /** The sequence number of the last release of these names on this connection. */
    private final Map<LockKeys, Long> releases = new HashMap<>();

    /** Lease ids that the node has released on this connection. */
    private final Set<String> undone = new HashSet<>();

    /** How often each lease id was released while the node was known to err. */
    private final Map<String, Integer> repeats = new HashMap<>();

    private boolean trying;
    private long triedMono = Long.MIN_VALUE / 2;

    Connection(SimLink link, SimNode server, long session) {
      this.link = link;
      this.server = server;
      this.session = session;
      run = server.run;
      lastReadNanos = link.client.mono();
    }

    private void transmit(Message m) {
      World w = link.world;
      if (link.holdThere) {
        link.heldThere.add(m);
        return;
      }
      long at = Math.max(lastThere + 1, Math.max(w.now + link.delay(), link.stalledUntil));
      lastThere = at;
      w.at(
          at,
          () -> {
            if (!m.gone) {
              server.arrive(m);
            }
          });
    }

    /** A node executes the requests of one connection in the order in which they were sent. */
    void executed(Message m) {
      if (m.sequence < executedCount) {
        throw new Violation("order", "executed after a later request");
      }
      if (m.request instanceof LockRequest.Release r) {
        undone.add(r.leaseId());
      } else if (m.request instanceof LockRequest.Acquire a && undone.contains(a.leaseId())) {
        throw new Violation("order", a.leaseId() + " is requested after its release");
      } else if (m.request instanceof LockRequest.Extend e && undone.contains(e.leaseId())) {
        throw new Violation("order", e.leaseId() + " is extended after its release");
      }
      executedCount = m.sequence + 1;
      m.executed = true;
    }

    void reply(Message m, NodeReply reply) {
      World w = link.world;
      if (w.faults && w.rng.chance(w.scenario.dropReply)) {
        link.timeOut(m);
        return;
      }
      back(0, () -> answered(m, reply));
    }

    private void back(long extra, Runnable what) {
      World w = link.world;
      if (link.holdBack) {
        link.heldBack.add(() -> back(extra, what));
        return;
      }
      long at = Math.max(lastBack + 1, Math.max(w.now + link.delay() + extra, link.stalledUntil));
      lastBack = at;
      w.at(
          at,
          () ->
              link.client.act(
                  () -> {
                    if (!dead) {
                      lastReadNanos = link.client.mono();
                      what.run();
                    }
                  }));
    }

    private void answered(Message m, NodeReply reply) {
      if (m.answered) {
        return;
      }
      m.answered = true;
      if (outstanding.peek() == m) {
        outstanding.poll();
      } else {
        outstanding.remove(m);
      }
      NodeError error = reply.error();
      if (error != null && error.kind() == NodeError.Kind.NO_SCRIPT && mayBeSentAgain(m)) {
        Message again = new Message(m.taker, m.exchange, m.request, this, true);
        outstanding.add(again);
        transmit(again);
        return;
      }
      if (error != null
          && error.kind() != NodeError.Kind.NO_SCRIPT
          && error.kind() != NodeError.Kind.TIMEOUT) {
        tryNode();
      }
      m.taker.onReply(m.exchange, link.node.index, m.request, stamped(reply));
    }

    private void transmit(Changing it) {
      World w = link.world;
      if (link.holdThere) {
        link.heldChanges.add(() -> transmit(it));
        return;
      }
      long at = Math.max(lastThere + 1, Math.max(w.now + link.delay(), link.stalledUntil));
      lastThere = at;
      w.at(at, () -> arrive(it));
    }

    private void arrive(Changing it) {
      World w = link.world;
      if (dead) {
        return; // Whether it is executed was decided when the connection was lost.
      } else if (!isServed()) {
        refusedByNode();
        return;
      } else if (server.isPaused()) {
        w.at(server.pausedUntil() + 1, () -> arrive(it));
        return;
      }
      NodeError.Kind refusal = server.refusal();
      if (refusal != null) {
        back(0, () -> failed(it, refusal.name()));
        return;
      }
      it.executed = true;
      NodeRecord stored = server.change(it.change, this);
      if (w.faults && w.rng.chance(w.scenario.dropReply)) {
        back(0, () -> link.lose(this)); // TCP loses no reply alone.
        return;
      }
      back(
          0,
          () -> {
            link.states.onRecord(stored, link.client.mono());
            if (link.states.status().untilNanos() != link.status.untilNanos()) {
              link.tickLater(); // The record allows other leases.
            }
            number = link.states.status().connection();
            link.update();
            changing.remove(it);
            it.result.complete(stored);
          });
    }

    private void failed(Changing it, String why) {
      if (changing.remove(it)) {
        it.result.completeExceptionally(new IOException(link.node.name + ": " + why));
      }
    }

    /** Never lost: a connection keeps the order of its bytes, or ends. */
    void invalidateMarker() {
      if (!dead && !link.deaf) {
        back(0, link::onMarkerInvalidated);
      }
    }

    /** Not after a release that undoes it. */
    private boolean mayBeSentAgain(Message m) {
      boolean undone = releases.getOrDefault(m.request.keys(), -1L) > m.sequence;
      return !m.whole && (m.request instanceof LockRequest.Release || !undone);
    }

    /** After an error the adapter tries a script from time to time until the node executes it. */
    private void tryNode() {
      if (!trying) {
        trying = true;
        tryLater();
      }
    }

    private void tryLater() {
      link.client.atMono(
          Math.max(link.client.mono(), triedMono + 200 * Scenario.MS),
          () -> {
            if (!dead) {
              World w = link.world;
              w.at(w.now + link.delay(), this::tried);
            }
          });
    }

    private void tried() {
      World w = link.world;
      if (!isServed()) {
        return;
      }
      if (server.isPaused()) {
        w.at(Math.min(server.pausedUntil(), w.now + Scenario.SECOND), this::tried);
        return;
      }
      String error = server.tried();
      back(
          0,
          () -> {
            triedMono = link.client.mono();
            link.states.onTrial(error);
            link.update();
            if (error != null) {
              tryLater();
            } else {
              trying = false;
              repeats.clear();
            }
          });
    }

    /** An erring node must cost no more requests than a dead one. */
    private void requireModest(LockRequest request) {
      if (request instanceof LockRequest.Acquire) {
        throw new Violation(
            "erring", "a node that is known to err gets an acquire for " + request.keys());
      }
      if (request instanceof LockRequest.Enqueue || request instanceof LockRequest.Inspect) {
        throw new Violation(
            "erring", "a node that is known to err is asked to wake for " + request.keys());
      }
      if (request instanceof LockRequest.Release r
          && repeats.merge(r.leaseId(), 1, Integer::sum) > 2) {
        throw new Violation("erring", r.leaseId() + " is released repeatedly");
      }
    }

    /** A reply belongs to the state in which it comes: replies after a flush count again. */
    private NodeReply stamped(NodeReply r) {
      return r.connection() == number
          ? r
          : new NodeReply(
              r.code(),
              number,
              r.nodeMicros(),
              r.fence(),
              r.remainingMillis(),
              r.mark(),
              r.othersQueued(),
              r.error());
    }

    void invalidate(String lockKey) {
      World w = link.world;
      if (dead) {
        return;
      }
      if (link.deaf) {
        return;
      }
      if (lockKey == null) {
        back(0, link::onFlushSeen);
        return;
      }
      if (w.faults && w.rng.chance(w.scenario.hintLost)) {
        w.disturbed(w.now);
        return;
      }
      if (w.faults && w.rng.chance(w.scenario.hintLate)) {
        long late = w.rng.between(0, 200) * Scenario.MS;
        w.disturbed(w.now + late);
        w.at(
            w.now + link.delay() + late,
            () -> link.client.act(() -> link.client.invalidated(link.node.index, lockKey)));
        if (w.rng.chance(0.5)) {
          return; // Late only; otherwise twice.
        }
      }
      back(0, () -> link.client.invalidated(link.node.index, lockKey));
    }

    /** Whether the server runs, and has not restarted since. */
    boolean isServed() {
      return server.up && server.run == run;
    }

    /** The server does not know this connection, and the client detects that. */
    void refusedByNode() {
      if (!refused && !dead) {
        refused = true;
        World w = link.world;
        w.at(w.now + link.delay(), () -> link.client.act(() -> link.lose(this)));
      }
    }

    /** Checks for silence as the adapter does, but only while a reply is outstanding. */
    private void watch() {
      if (watched || dead) {
        return;
      }
      watched = true;
      link.client.atMono(
          lastReadNanos + Silence.DEAD_NANOS + 1,
          () -> {
            watched = false;
            boolean unanswered = !outstanding.isEmpty();
            long silent = link.client.mono() - lastReadNanos;
            if (!dead && Silence.judge(silent, unanswered) == Silence.GIVE_UP) {
              link.lose(this);
            } else if (unanswered) {
              watch();
            }
          });
    }

    /** A connection that is silent while a change has no reply is given up. */
    private void watchChanges() {
      link.client.atMono(
          link.client.mono() + Silence.DEAD_NANOS + 1,
          () -> {
            if (!dead && !changing.isEmpty()) {
              if (link.client.mono() - lastReadNanos > Silence.DEAD_NANOS) {
                link.lose(this);
              } else {
                watchChanges();
              }
            }
          });
    }

    /** While the connection was idle, the adapter sent pings and got replies. */
    private void beforeSend() {
      long now = link.client.mono();
      long asked = now - 2 * Scenario.SECOND;
      if (outstanding.isEmpty() && asked - lastReadNanos > 0) {
        lastReadNanos = asked;
      }
    }
  }

  private long delay() {
    World w = world;
    Scenario s = w.scenario;
    long d = far + s.delayNanos + (long) (s.jitterNanos * w.rng.next());
    if (w.faults && w.rng.chance(s.slowMessage)) {
      d += (long) (s.slowNanos * w.rng.next());
      w.disturbed(w.now + d);
    }
    return d;
  }

  // The client's side.

  void send(SimLock lock, Exchange exchange, LockRequest request) {
    send(lock, lock, exchange, request);
  }

  /** Lock and exchange are null if an operator asks. */
  void send(SimLock lock, Taker taker, Exchange exchange, LockRequest request) {
    Connection c = connection;
    if (c == null || !status.usable()) {
      NodeReply reply =
          NodeReply.failed(
              status.connection(),
              new NodeError(NodeError.Kind.DISCONNECTED, "not connected", true));
      client.soon(() -> taker.onReply(exchange, node.index, request, reply));
      return;
    }
    world.checker.onSend(lock, exchange, request, node.index);
    if (lock != null && status.erring() && lock.decidedTrue() >= statusSince) {
      c.requireModest(request);
    }
    Message m = new Message(taker, exchange, request, c);
    if (request instanceof LockRequest.Release) {
      c.releases.put(request.keys(), m.sequence);
    }
    sent++;
    c.beforeSend();
    c.outstanding.add(m);
    if (world.faults && world.rng.chance(world.scenario.dropRequest)) {
      world.row(client.name(), "→ " + node.name + " lost");
      timeOut(m);
    } else {
      c.transmit(m);
    }
    if (world.faults
        && !(request instanceof LockRequest.Break)
        && world.rng.chance(world.scenario.duplicate)) {
      duplicate(m);
    }
    c.watch();
  }

  /** Changes the node's record; completes in the client's turn. */
  void change(NodeRecord.Change change, CompletableFuture<NodeRecord> result) {
    Connection c = connection;
    boolean omitted =
        world.sets != null && world.sets.mistakes.omits(change.record().members(), client);
    if (c == null || !status.usable() || unreadable || omitted) {
      client.soon(() -> result.completeExceptionally(new IOException(node.name + " is not there")));
      return;
    }
    Changing it = new Changing(change, result);
    c.changing.add(it);
    if (world.faults && world.rng.chance(world.scenario.dropRequest)) {
      long at = world.now + world.rng.between(1, 2 * world.scenario.config.nodeTimeout().toNanos());
      world.disturbed(at);
      world.at(at, () -> client.act(() -> lose(c)));
    } else {
      c.transmit(it);
    }
    if (world.faults && world.rng.chance(world.scenario.duplicate)) {
      executeLater(change, c, world.now + world.rng.spread(Scenario.MS, 5 * Scenario.SECOND));
    }
    c.watchChanges();
  }

  private void executeLater(NodeRecord.Change change, Connection c, long at) {
    world.disturbed(at);
    world.at(
        at,
        () -> {
          if (c.isServed() && !c.server.isPaused()) {
            c.server.change(change, null);
          }
        });
  }

  /** The adapter reports a timeout for a node that does not reply. */
  private void timeOut(Message m) {
    Connection c = m.connection;
    long at = world.now + world.rng.between(1, 2 * world.scenario.config.nodeTimeout().toNanos());
    world.disturbed(at);
    world.at(
        at,
        () ->
            client.act(
                () -> {
                  if (!c.dead) {
                    c.answered(m, NodeReply.failed(c.number, NodeError.Kind.TIMEOUT, "no reply"));
                  }
                }));
  }

  private void duplicate(Message m) {
    long at = world.now + world.rng.spread(Scenario.MS, 5 * Scenario.SECOND);
    world.copied(at);
    world.at(
        at,
        () -> {
          SimNode to = m.connection.server;
          if (to.up && !to.isPaused()) {
            world.disturbed(world.now);
            world.row(to.name, "a copy arrives");
            to.execute(m.request, m.connection);
          }
        });
  }

  void connect() {
    if (!client.alive || connection != null || blocked || shut) {
      return;
    }
    states.onConnected(client.mono());
    update();
    probing = true;
    long sent = client.mono();
    world.at(world.now + 2 * delay(), () -> probe(sent));
  }

  private void probe(long sentNanos) {
    if (!client.alive || shut) {
      return;
    }
    SimNode found = found();
    if (!found.up || blocked || world.now < stalledUntil) {
      client.act(this::connectFailed);
      return;
    }
    if (found.isPaused()) {
      // The handshake times out; the server may still be there by the next try.
      world.at(world.now + 500 * Scenario.MS, () -> client.act(this::connectFailed));
      return;
    }
    Probe probe = unreadable ? unread(found.probe()) : found.probe();
    long micros = found.clock();
    Connection c = new Connection(this, found, world.nextSession());
    world.register(c);
    arriving = c;
    long back = delay();
    c.lastBack = world.now + back;
    world.probed(found, back);
    world.at(
        c.lastBack,
        () ->
            client.act(
                () -> {
                  if (shut) {
                    return;
                  }
                  arriving = null;
                  if (found != found()) {
                    connectFailed(); // The address has another server since.
                    return;
                  }
                  connection = c;
                  server = found;
                  probing = false;
                  markerSeen = true;
                  String objection = client.objection(node.index, probe);
                  states.onProbed(probe, objection, client.mono());
                  if (objection != null) { // The adapter asks again from time to time.
                    client.atMono(client.mono() + AGAIN_NANOS, () -> lose(c));
                  }
                  c.number = states.status().connection();
                  if (!world.clocksUnknown) {
                    client.clockRead(node.index, sentNanos, micros);
                  }
                  tickLater();
                  update();
                  if (!c.isServed()) {
                    c.refusedByNode();
                  }
                }));
  }

  private SimNode found() {
    return world.sets == null ? node : world.sets.mistakes.serverOf(node, client);
  }

  private static Probe unread(Probe probe) {
    return new Probe(
        probe.identity(),
        probe.infoRefused(),
        null,
        NO_PERMISSION,
        probe.nowMicros(),
        false,
        probe.masterForMicros());
  }

  /** The reply to the probe is on its way, and the invalidation follows it. */
  void flushedWhileProbing() {
    Connection c = arriving;
    if (world.scenario.isWide() && c != null) {
      world.coverage.count("flush", "before the probe was through");
      c.invalidate(null);
    }
  }

  private void connectFailed() {
    probing = false;
    states.onLost("cannot connect", client.mono());
    update();
    reconnectLater();
  }

  private void reconnectLater() {
    world.at(world.now + world.rng.between(20, 500) * Scenario.MS, () -> client.act(this::connect));
  }

  private void tickLater() {
    NodeStatus s = states.status();
    if (s.state() == NodeStatus.State.QUARANTINED) {
      client.atMono(
          s.untilNanos(),
          () -> {
            states.onTick(client.mono());
            update();
          });
    }
  }

  /** Whether it has a connection to this server, or one whose probe the server has answered. */
  boolean leadsTo(SimNode to) {
    return (connection != null && connection.server == to)
        || (arriving != null && arriving.server == to);
  }

  /**
   * Another client has changed the record.
   *
   * @param by the connection of the client that did
   */
  void markerChanged(Connection by) {
    Connection c = connection;
    if (c != null && c != by && c.isServed()) {
      c.invalidateMarker();
    }
    Connection probed = arriving; // The reply to its probe is on its way, the invalidation follows.
    if (probed != null && probed.isServed()) {
      probed.invalidateMarker();
    }
  }

  private void onMarkerInvalidated() {
    states.onMarkerInvalidated(client.mono());
    readAgain();
  }

  private void onFlushSeen() {
    states.onFlush(client.mono());
    readAgain();
    client.allInvalidated(node.index);
  }

  private void readAgain() {
    Connection c = connection;
    if (c != null) {
      c.number = states.status().connection();
      readMarker(c);
    }
    tickLater();
    update();
  }

  private void readMarker(Connection c) {
    world.at(
        world.now + delay(),
        () -> {
          if (c.isServed()) {
            Probe.Marker marker = unreadable ? null : c.server.marker();
            c.back(
                0,
                () -> {
                  states.onMarker(marker, unreadable ? NO_PERMISSION : null, client.mono());
                  c.number = states.status().connection();
                  tickLater();
                  update();
                });
          }
        });
  }

  /** Whether this client would detect a flush now: at once, or when it connects again. */
  boolean wouldSeeFlush() {
    return isLive()
        || (arriving != null && world.scenario.isWide() && arriving.isServed())
        || (!probing && markerSeen && (connection == null || connection.dead));
  }

  private void update() {
    NodeStatus before = status;
    status = states.status();
    if (before.state() != status.state()) {
      world.coverage.count("node", TRANSITIONS.get(before.state()).get(status.state()));
    }
    if (before.erring() != status.erring()) {
      world.coverage.count("node", status.erring() ? "errs" : "errs no longer");
    }
    if (before.state() != status.state()
        || before.connection() != status.connection()
        || before.erring() != status.erring()
        || !Objects.equals(before.record(), status.record())) {
      statusSince = world.now;
      changes++;
      world.disturbed(world.now);
      if (world.tracing) {
        String errs = status.erring() ? ", errs" : "";
        world.row(
            client.name(), node.name + " is " + status.state() + " #" + status.connection() + errs);
      }
      client.statusChanged(node.index);
    }
  }

  /** The client detects that the connection is broken. */
  void lose(Connection c) {
    if (c.dead || connection != c) {
      return;
    }
    world.row(client.name(), "lost its connection to " + node.name);
    c.dead = true;
    connection = null;
    c.server.model.forgetSession(c.session);
    states.onLost("connection lost", client.mono());
    leaveInFlight(c);
    update();
    // A copy: a client may send, and lose another connection, while it handles a reply.
    for (Message m : List.copyOf(c.outstanding)) {
      if (!m.answered) {
        m.answered = true;
        m.taker.onReply(
            m.exchange,
            node.index,
            m.request,
            NodeReply.failed(c.number, NodeError.Kind.DISCONNECTED, "connection lost"));
      }
    }
    c.outstanding.clear();
    for (Changing it : List.copyOf(c.changing)) {
      c.failed(it, "connection lost");
    }
    if (client.alive && !shut) {
      reconnectLater();
    }
  }

  /** The node still executes some of the requests in flight, in order, perhaps much later. */
  private void leaveInFlight(Connection c) {
    for (Changing it : c.changing) {
      if (!it.executed && !blocked && world.rng.chance(0.5)) {
        executeLater(it.change, c, world.now + world.rng.spread(Scenario.MS, 8 * Scenario.SECOND));
      }
    }
    long at = world.now;
    boolean executed = world.rng.chance(0.7);
    for (Message m : c.outstanding) {
      if (m.executed || m.gone) {
        continue;
      }
      m.gone = true;
      if (blocked) {
        continue;
      }
      executed &= !world.rng.chance(0.3);
      if (executed) {
        at += world.rng.chance(0.7) ? delay() : world.rng.spread(Scenario.MS, 8 * Scenario.SECOND);
        Message late = new Message(m.taker, m.exchange, m.request, c);
        late.answered = true;
        world.straggles(at);
        world.at(
            at,
            () -> {
              if (c.isServed() && !c.server.isPaused()) {
                world.row(c.server.name, "a straggler arrives");
                c.server.execute(late.request, c);
              }
            });
      }
    }
  }

  // Faults.

  void reset() {
    Connection c = connection;
    if (c != null) {
      world.fault(client.name(), "connection to " + node.name + " reset");
      client.act(() -> lose(c));
    }
  }

  void stall(long nanos) {
    world.fault(client.name(), "link to " + node.name + " stalls for " + Scenario.ms(nanos));
    stalledUntil = Math.max(stalledUntil, world.now + nanos);
    world.disturbed(stalledUntil);
  }

  /** The network works again, although a stall would last longer. */
  void stallEnds() {
    stalledUntil = world.now;
  }

  // Control by directed histories.

  boolean blocked;

  /** No invalidation arrives. */
  boolean deaf;

  /** How much longer than other links it takes, each way. */
  long far;

  private boolean holdThere;
  private boolean holdBack;
  private final ArrayDeque<Message> heldThere = new ArrayDeque<>();
  private final ArrayDeque<Runnable> heldChanges = new ArrayDeque<>();
  private final ArrayDeque<Runnable> heldBack = new ArrayDeque<>();

  /** Delays requests until {@link #letGo}. */
  void holdRequests() {
    holdThere = true;
  }

  /** Delays replies and invalidations until {@link #letGo}. */
  void holdReplies() {
    holdBack = true;
  }

  /** Delivers the delayed messages in order; the link works again. */
  void letGo() {
    holdThere = false;
    holdBack = false;
    while (!heldThere.isEmpty()) {
      Message m = heldThere.poll();
      m.connection.transmit(m);
    }
    while (!heldChanges.isEmpty()) {
      heldChanges.poll().run();
    }
    while (!heldBack.isEmpty()) {
      heldBack.poll().run();
    }
  }

  /** Breaks the connection until {@link #mend}; delayed messages never arrive. */
  void cut() {
    blocked = true;
    lostRequests.addAll(heldThere);
    heldThere.clear();
    heldChanges.clear();
    heldBack.clear();
    holdThere = false;
    holdBack = false;
    reset();
  }

  final ArrayDeque<Message> lostRequests = new ArrayDeque<>();

  /** The node executes now a request that was in flight when the connection was cut. */
  NodeReply straggle() {
    Message m = lostRequests.remove();
    world.row(node.name, "a straggler arrives");
    return node.execute(m.request, m.connection);
  }

  void mend() {
    blocked = false;
    if (connection == null) {
      connect();
    }
  }

  void nodeGone() {
    Connection c = connection;
    if (c == null) {
      return;
    }
    for (Message m : c.outstanding) {
      m.gone |= !m.executed;
    }
    long detected = !world.faults || world.rng.chance(0.5) ? delay() : Silence.DEAD_NANOS + delay();
    world.at(world.now + detected, () -> client.act(() -> lose(c)));
  }

  boolean isLive() {
    Connection c = connection;
    return c != null && !c.dead && !c.refused && c.isServed() && status.usable();
  }

  long statusSince() {
    return statusSince;
  }

  boolean isStalled() {
    return world.now < stalledUntil;
  }

  boolean isVoting() {
    return isLive() && status.votes();
  }

  /** The client closes its node: requests without a reply fail, and it connects no more. */
  void shut() {
    shut = true;
    world.checker.nodeClosed(client, node);
    Connection c = connection;
    if (c != null) {
      lose(c);
    }
  }

  /** The client makes another node for the same server. */
  void open() {
    shut = false;
    connect();
  }

  /** The client is not given this node: it makes a sibling when it needs one. */
  void withhold() {
    shut = true;
  }

  private boolean shut;

  boolean isShut() {
    return shut;
  }

  void close() {
    Connection c = connection;
    if (c != null) {
      c.dead = true;
      connection = null;
      c.server.model.forgetSession(c.session);
      leaveInFlight(c);
    }
  }
}
