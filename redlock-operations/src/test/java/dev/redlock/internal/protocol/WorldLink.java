package dev.redlock.internal.protocol;

import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.NodeStatus.State;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The connection of a client to one node, as the adapter keeps it: requests, replies and
 * invalidations arrive in order; the connection number rises with each change of the record.
 */
final class WorldLink {
  private static final long MICRO = 1_000_000; // ms to ns

  private final SetWorld world;
  final WorldClient client;
  final String name;
  final WorldNode node;
  private State state = State.CONNECTING;
  private long connection = 1;
  private long since;
  private NodeRecord record = NodeRecord.NONE;

  /** Rises with each connection, and when one breaks: its replies are lost from then on. */
  private int wire;

  private boolean dead = true; // The connection is broken; the client may not know it yet.

  private int knownRun;
  private long quarantinedSince;
  private long lost = -1_000_000; // When the node may last have lost its keys.
  private int unread;
  private long cutUntil;
  private long slowUntil;
  private long toNode;
  private long toClient;
  boolean closed;
  private boolean connecting;

  WorldLink(SetWorld world, WorldClient client, String name) {
    this.world = world;
    this.client = client;
    this.name = name;
    node = world.node(name);
  }

  NodeStatus status() {
    boolean held = unread > 0 || world.now < lost + guard();
    State shown = state == State.VOTING && held ? State.QUARANTINED : state;
    long from = unread > 0 ? since : quarantinedSince;
    long until = (unread > 0 ? since : lost) + guard();
    return shown == State.QUARANTINED
        ? new NodeStatus(shown, connection, from * MICRO, until * MICRO, "", false, record)
        : new NodeStatus(shown, connection, since * MICRO, 0, "", false, record);
  }

  private long guard() {
    long longest = world.breaks(SetWorld.Break.OWN_GUARD) ? 0 : record.longestValid();
    return SetWorld.guard(Math.max(client.maxLease, longest));
  }

  long connection() {
    return connection;
  }

  void cut(long millis) {
    cutUntil = Math.max(cutUntil, world.now + millis);
    // The client notices soon, or late: until then it sends in vain.
    die(world.chance(0.5) ? 1 : world.between(1, 3_000));
  }

  /** The connection breaks now, and the client notices later. */
  void die(long noticedAfter) {
    if (!dead) {
      dead = true;
      wire++;
      node.leave(this);
      int on = wire;
      world.after(
          noticedAfter,
          () ->
              client.deliver(
                  () -> {
                    if (on == wire) {
                      broke();
                    }
                  }));
    }
  }

  void slow(long millis) {
    slowUntil = Math.max(slowUntil, world.now + millis);
  }

  void heal() {
    cutUntil = world.now;
    slowUntil = world.now;
  }

  private boolean isCut() {
    return world.now < cutUntil || !node.isUp();
  }

  void connect() {
    if (closed || connecting || state != State.CONNECTING) {
      return;
    }
    connecting = true;
    world.after(world.between(1, 300), () -> client.deliver(this::tryConnect));
  }

  private void tryConnect() {
    connecting = false;
    if (closed || state != State.CONNECTING) {
      return;
    }
    if (isCut()) {
      connecting = true;
      world.after(world.between(100, 500), () -> client.deliver(this::tryConnect));
      return;
    }
    wire++;
    dead = false;
    toNode = 0;
    toClient = 0;
    state = State.PROBING;
    send(
        () -> {
          node.listen(this);
          return new Hello(node.record, node.started, node.run);
        },
        this::probed);
    int attempt = wire;
    world.after(
        1_000,
        () ->
            client.deliver(
                () -> {
                  if (wire == attempt && state == State.PROBING) {
                    broke();
                  }
                }));
  }

  private record Hello(NodeRecord record, long started, int run) {}

  private void probed(Hello hello) {
    if (state != State.PROBING) {
      return;
    }
    connection++;
    unread = 0;
    state = State.VOTING;
    since = world.now;
    record = hello.record;
    if (hello.run != knownRun) {
      knownRun = hello.run;
      quarantinedSince = world.now;
      lost = hello.started;
      long until = lost + guard();
      if (until > world.now) {
        world.at(until, () -> client.deliver(client::review));
      }
    }
    client.review();
  }

  /** The client notices that the connection is gone. */
  void broke() {
    if (state != State.CONNECTING) {
      dead = true;
      wire++;
      node.leave(this);
      connection++;
      state = State.CONNECTING;
      since = world.now;
      record = NodeRecord.NONE;
      unread = 0;
      client.review();
    }
    connect();
  }

  /** Called at the node: its record has changed. */
  void invalidate() {
    int on = wire;
    world.at(arrival(false), () -> client.deliver(() -> onInvalidated(on)));
  }

  private void onInvalidated(int on) {
    if (on != wire || state != State.VOTING) {
      return;
    }
    connection++;
    unread++;
    since = world.now;
    send(
        () -> node.record,
        read -> {
          unread--;
          onRecord(read);
          client.review();
        });
    client.review();
  }

  /** The reply to a change that this client has sent, or to a read. */
  void onRecord(NodeRecord stored) {
    if (state == State.VOTING) {
      if (!stored.isOfSameSet(record)
          || stored.maxLeaseBefore() != record.maxLeaseBefore()
          || stored.floor() != record.floor()
          || stored.sinceMicros() != record.sinceMicros()
          || !stored.name().equals(record.name())) {
        connection++;
      }
      record = stored;
    }
  }

  /** Sends a request; the reply comes if the connection lives. */
  <T> void send(Supplier<T> request, Consumer<T> reply) {
    if (dead) {
      return;
    }
    int on = wire;
    int run = node.run;
    boolean late = world.chance(0.5); // What was on its way when the connection broke may arrive.
    world.at(
        arrival(true),
        () -> {
          if (node.run != run || !node.isUp() || (wire != on && !late)) {
            return;
          }
          T result = request.get();
          if (wire == on) {
            world.at(arrival(false), () -> client.deliver(() -> replied(on, result, reply)));
          }
        });
  }

  private <T> void replied(int on, T result, Consumer<T> reply) {
    if (wire == on && !closed) {
      reply.accept(result);
    }
  }

  /** When what is sent now arrives: after what was sent before. */
  private long arrival(boolean atNode) {
    long delay = world.chance(0.9) ? world.between(1, 10) : world.between(10, 400);
    long time = Math.max(world.now, slowUntil) + delay;
    if (atNode) {
      toNode = Math.max(toNode, time);
      return toNode;
    }
    toClient = Math.max(toClient, time);
    return toClient;
  }

  void close() {
    closed = true;
    node.leave(this);
    state = State.CONNECTING;
    connection++;
    wire++;
    dead = true;
    record = NodeRecord.NONE;
  }

  @Override
  public String toString() {
    return name + " " + status().state() + "/" + connection + " " + record + "^" + record.floor();
  }
}
