package dev.redlock.simulation;

import dev.redlock.internal.protocol.Exchange;
import dev.redlock.lettuce.internal.ConnectionStates;
import dev.redlock.lettuce.internal.Probe;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.time.Duration;
import java.util.ArrayDeque;

/**
 * What lies between one client and one node: the adapter with its connection, probing and guard,
 * and the network. A connection is one ordered pipe each way; what was in flight when it broke may
 * still be executed, later, behind what newer connections brought.
 */
final class SimLink {
  final SimClient client;
  final SimNode node;
  final World world;
  Connection connection;
  private final ConnectionStates states;

  /** Whether this client would notice on its next look that the node was flushed. */
  private boolean markerSeen;

  private boolean probing;
  private NodeStatus status;
  private long stalledUntil;

  /** How many requests went out, whatever became of them. */
  long sent;

  SimLink(SimClient client, SimNode node) {
    this.client = client;
    this.node = node;
    world = client.world;
    states =
        new ConnectionStates(
            world.scenario.guard, Duration.ofNanos(world.scenario.maxLeaseNanos), client.mono());
    status = states.status();
  }

  NodeStatus status() {
    return status;
  }

  /** One request on its way there and back. */
  static final class Message {
    final SimLock lock;
    final Exchange exchange;
    final LockRequest request;
    final Connection connection;
    boolean gone;
    boolean executed;
    boolean answered;
    final long sequence;

    Message(SimLock lock, Exchange exchange, LockRequest request, Connection connection) {
      this.lock = lock;
      this.exchange = exchange;
      this.request = request;
      this.connection = connection;
      sequence = connection.sentCount++;
    }
  }

  /** One TCP connection. */
  static final class Connection {
    final SimLink link;
    final long session;
    final int run;
    long number;
    private final ArrayDeque<Message> outstanding = new ArrayDeque<>();
    private long lastThere;
    private long lastBack;
    private boolean dead;
    private boolean refused;
    private boolean watched;
    private long lastReadNanos;
    private long sentCount;
    private long executedCount;

    Connection(SimLink link, long session, int run) {
      this.link = link;
      this.session = session;
      this.run = run;
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
              link.node.arrive(m);
            }
          });
    }

    /** The node executes what one connection brings in the order in which it was sent. */
    void executed(Message m) {
      if (m.sequence < executedCount) {
        throw new Violation("order", "executed behind what was sent after it");
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
      m.lock.onReply(m.exchange, link.node.index, m.request, stamped(reply));
    }

    /** An answer belongs to the state in which it comes: what follows a flush counts again. */
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
              r.othersInLine(),
              r.error());
    }

    void push(String lockKey) {
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
        return;
      }
      if (w.faults && w.rng.chance(w.scenario.hintLate)) {
        long late = w.rng.between(0, 200) * Scenario.MS;
        w.at(
            w.now + link.delay() + late,
            () -> link.client.act(() -> link.client.hint(link.node.index, lockKey)));
        if (w.rng.chance(0.5)) {
          return; // Late; or else twice.
        }
      }
      back(0, () -> link.client.hint(link.node.index, lockKey));
    }

    /** The server does not know this connection: it says so, or its silence is noticed. */
    void refusedByNode() {
      if (!refused && !dead) {
        refused = true;
        World w = link.world;
        w.at(w.now + link.delay(), () -> link.client.act(() -> link.lose(this)));
      }
    }

    /** Looks for silence as the adapter does, but only when there may be something to see. */
    private void watch() {
      if (watched || dead) {
        return;
      }
      watched = true;
      link.client.atMono(
          lastReadNanos + ConnectionStates.DEAD_NANOS + 1,
          () -> {
            watched = false;
            boolean unanswered = !outstanding.isEmpty();
            long silent = link.client.mono() - lastReadNanos;
            if (!dead
                && ConnectionStates.judge(silent, unanswered) == ConnectionStates.Silence.GIVE_UP) {
              link.lose(this);
            } else if (unanswered) {
              watch();
            }
          });
    }

    /** While nothing was asked, the adapter has asked for signs of life. */
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
    long d = s.delayNanos + (long) (s.jitterNanos * w.rng.next());
    if (w.faults && w.rng.chance(s.slowMessage)) {
      d += (long) (s.slowNanos * w.rng.next());
    }
    return d;
  }

  // The client's side.

  void send(SimLock lock, Exchange exchange, LockRequest request) {
    Connection c = connection;
    if (c == null || !status.usable()) {
      NodeReply reply =
          NodeReply.failed(status.connection(), NodeError.Kind.DISCONNECTED, "not connected");
      client.soon(() -> lock.onReply(exchange, node.index, request, reply));
      return;
    }
    world.checker.onSend(lock, exchange, request, node.index);
    Message m = new Message(lock, exchange, request, c);
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

  /** The adapter answers for a node that does not. */
  private void timeOut(Message m) {
    Connection c = m.connection;
    long at = world.now + world.rng.between(1, 2 * world.scenario.terms.nodeTimeoutNanos());
    world.at(
        at,
        () ->
            client.act(
                () -> {
                  if (!c.dead) {
                    c.answered(m, NodeReply.failed(c.number, NodeError.Kind.TIMEOUT, "no answer"));
                  }
                }));
  }

  private void duplicate(Message m) {
    world.at(
        world.now + world.rng.spread(Scenario.MS, 5 * Scenario.SECOND),
        () -> {
          if (node.up && !node.isPaused()) {
            world.row(node.name, "a copy arrives");
            node.execute(m.request, m.connection);
          }
        });
  }

  void connect() {
    if (!client.alive || connection != null || blocked) {
      return;
    }
    states.onConnected(client.mono());
    update();
    probing = true;
    long sent = client.mono();
    world.at(world.now + 2 * delay(), () -> probe(sent));
  }

  private void probe(long sentNanos) {
    if (!client.alive) {
      return;
    }
    if (!node.up || blocked || world.now < stalledUntil) {
      client.act(this::connectFailed);
      return;
    }
    if (node.isPaused()) {
      // The handshake times out; the server may still be there by the next try.
      world.at(world.now + 500 * Scenario.MS, () -> client.act(this::connectFailed));
      return;
    }
    Probe probe = node.probe();
    long micros = node.clock();
    Connection c = new Connection(this, world.nextSession(), node.run);
    world.register(c);
    world.at(
        world.now + delay(),
        () ->
            client.act(
                () -> {
                  connection = c;
                  probing = false;
                  markerSeen = true;
                  states.onProbed(probe, client.mono());
                  c.number = states.status().connection();
                  if (!world.clocksUnknown) {
                    client.knowledge[node.index].observe(sentNanos, client.mono(), micros);
                  }
                  tickLater();
                  update();
                  if (!node.up || node.run != c.run) {
                    c.refusedByNode();
                  }
                }));
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

  private void onFlushSeen() {
    states.onFlush(client.mono());
    Connection c = connection;
    if (c != null) {
      c.number = states.status().connection();
      lookForMarker(c);
    }
    tickLater();
    update();
    client.hintAll(node.index);
  }

  private void lookForMarker(Connection c) {
    world.at(
        world.now + delay(),
        () -> {
          if (node.up && c.run == node.run) {
            Probe.Marker marker = node.marker();
            c.back(
                0,
                () -> {
                  states.onMarker(marker, client.mono());
                  tickLater();
                  update();
                });
          }
        });
  }

  /** Whether this client learns of a flush now: at once, or when it connects again. */
  boolean wouldSeeFlush() {
    return isLive() || (!probing && markerSeen && (connection == null || connection.dead));
  }

  private void update() {
    NodeStatus before = status;
    status = states.status();
    if (before.state() != status.state() || before.connection() != status.connection()) {
      if (world.tracing) {
        world.row(client.name(), node.name + " is " + status.state() + " #" + status.connection());
      }
      client.statusChanged(node.index);
    }
  }

  /** The connection is seen to be gone. */
  void lose(Connection c) {
    if (c.dead || connection != c) {
      return;
    }
    world.row(client.name(), "lost its connection to " + node.name);
    c.dead = true;
    connection = null;
    node.model.forgetSession(c.session);
    states.onLost("connection lost", client.mono());
    leaveInFlight(c);
    update();
    for (Message m : c.outstanding) {
      if (!m.answered) {
        m.answered = true;
        m.lock.onReply(
            m.exchange,
            node.index,
            m.request,
            NodeReply.failed(c.number, NodeError.Kind.DISCONNECTED, "connection lost"));
      }
    }
    c.outstanding.clear();
    if (client.alive) {
      reconnectLater();
    }
  }

  /** Some of what was under way is executed all the same, in order, perhaps much later. */
  private void leaveInFlight(Connection c) {
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
        Message late = new Message(m.lock, m.exchange, m.request, c);
        late.answered = true;
        world.straggles(at);
        world.at(
            at,
            () -> {
              if (node.up && c.run == node.run && !node.isPaused()) {
                world.row(node.name, "a straggler arrives");
                node.execute(late.request, c);
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
  }

  // By hand, in directed histories.

  boolean blocked;

  /** Nothing that a node pushes arrives. */
  boolean deaf;

  private boolean holdThere;
  private boolean holdBack;
  private final ArrayDeque<Message> heldThere = new ArrayDeque<>();
  private final ArrayDeque<Runnable> heldBack = new ArrayDeque<>();

  /** Requests stay on their way. */
  void holdRequests() {
    holdThere = true;
  }

  /** Answers and pushes stay on their way. */
  void holdReplies() {
    holdBack = true;
  }

  /** What was held arrives, in order, and the link works again. */
  void letGo() {
    holdThere = false;
    holdBack = false;
    while (!heldThere.isEmpty()) {
      Message m = heldThere.poll();
      m.connection.transmit(m);
    }
    while (!heldBack.isEmpty()) {
      heldBack.poll().run();
    }
  }

  /** The connection breaks and cannot be made again; what is held never arrives. */
  void cut() {
    blocked = true;
    lostRequests.addAll(heldThere);
    heldThere.clear();
    heldBack.clear();
    holdThere = false;
    holdBack = false;
    reset();
  }

  final ArrayDeque<Message> lostRequests = new ArrayDeque<>();

  /** A request that was on its way when the connection was cut is executed all the same, now. */
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
    long noticed =
        !world.faults || world.rng.chance(0.5) ? delay() : ConnectionStates.DEAD_NANOS + delay();
    world.at(world.now + noticed, () -> client.act(() -> lose(c)));
  }

  boolean isLive() {
    Connection c = connection;
    return c != null && !c.dead && !c.refused && node.up && c.run == node.run && status.usable();
  }

  boolean isVoting() {
    return isLive() && status.state() == NodeStatus.State.VOTING;
  }

  void close() {
    Connection c = connection;
    if (c != null) {
      c.dead = true;
      connection = null;
      node.model.forgetSession(c.session);
      leaveInFlight(c);
    }
  }
}
