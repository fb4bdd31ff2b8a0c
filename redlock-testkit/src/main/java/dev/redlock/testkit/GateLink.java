package dev.redlock.testkit;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.LongStream;

/** One connection through a gate: two sockets, two directions. Confined to the gate's thread. */
final class GateLink {

  /**
   * Above this number of undelivered bytes the gate does not read from the sender, like a full
   * socket buffer.
   */
  private static final long MAX_BACKLOG_BYTES = 64L << 20;

  private enum Kind {
    BYTES,
    END,
    RESET
  }

  private record Parcel(long dueNanos, Kind kind, ByteBuffer bytes) {}

  private final GateLoop loop;
  private final SocketChannel client;
  private final SocketChannel node;
  private final Direction toNode;
  private final Direction fromNode;

  GateLink(GateLoop loop, SocketChannel client, SocketChannel node) {
    this.loop = loop;
    this.client = client;
    this.node = node;
    this.toNode = new Direction(client, node);
    this.fromNode = new Direction(node, client);
  }

  /**
   * Starts to connect an accepted connection to the node. Behind a black hole it is not connected
   * to the node at all.
   */
  void open(InetSocketAddress target) {
    try {
      loop.register(client, this);
      loop.register(node, this);
      toNode.lostBytes = loop.rules.blackHole();
      if (!toNode.lostBytes && !node.connect(target)) {
        loop.setInterest(node, SelectionKey.OP_CONNECT);
      } else {
        update();
      }
    } catch (IOException e) {
      close(true); // The node refused the connection at once, or the client has closed.
    }
  }

  /** When to call {@link #deliver}: for each direction with delayed bytes the time of the first. */
  LongStream dueNanos() {
    return LongStream.concat(toNode.dueNanos(), fromNode.dueNanos());
  }

  /** Handles the ready operations. */
  void onReady(SelectionKey key, ByteBuffer scratch) throws IOException {
    GateRules rules = loop.rules;
    long now = System.nanoTime();
    scratch.clear();
    if (key.isConnectable()) {
      node.finishConnect();
    }
    boolean fromClient = key.channel() == client;
    if (key.isWritable()) {
      (fromClient ? fromNode : toNode).blocked = false;
    }
    if (key.isReadable() && fromClient) {
      toNode.read(scratch, rules.dropsToNode, rules.delayToNodeNanos, now);
    } else if (key.isReadable()) {
      scratch.limit((int) Math.min(scratch.capacity(), rules.replyBudget));
      int count = fromNode.read(scratch, rules.dropsFromNode, rules.delayFromNodeNanos, now);
      rules.replyBudget -= rules.replyBudget == GateRules.NO_BUDGET ? 0 : count;
    }
    deliver(now);
    if (rules.replyBudget == 0) {
      loop.cut();
    }
  }

  /** Forwards the bytes that are due, as far as the receivers accept them. */
  void deliver(long nowNanos) {
    toNode.deliver(nowNanos);
    fromNode.deliver(nowNanos);
    if (toNode.isFinished() && fromNode.isFinished()) {
      close(false);
    }
    update();
  }

  /** Forwards all delayed bytes at once. A connection that lost bytes is reset. */
  void endFaults() {
    if (toNode.lostBytes || fromNode.lostBytes) {
      close(true);
    }
    long now = System.nanoTime();
    toNode.hurry(now);
    fromNode.hurry(now);
    deliver(now);
  }

  void close(boolean reset) {
    loop.links.remove(this);
    for (SocketChannel channel : List.of(client, node)) {
      try (channel) {
        if (reset && channel.isOpen()) {
          channel.setOption(StandardSocketOptions.SO_LINGER, 0);
        }
      } catch (IOException e) {
        // The connection is broken already; only the close remains.
      }
    }
  }

  private void update() {
    if (node.isConnected()) {
      set(node, fromNode, toNode);
    }
    if (node.isConnected() || toNode.lostBytes) {
      set(client, toNode, fromNode);
    }
  }

  private void set(SocketChannel channel, Direction in, Direction out) {
    boolean reads = !in.ended && in.backlogBytes < MAX_BACKLOG_BYTES;
    loop.setInterest(
        channel, (reads ? SelectionKey.OP_READ : 0) | (out.blocked ? SelectionKey.OP_WRITE : 0));
  }

  /**
   * One direction: the bytes in order, and then the end of the stream. They are queued with the
   * time at which they are due. The end of the stream is queued behind them, so that a close does
   * not discard bytes that were sent before it.
   */
  private final class Direction {
    private final SocketChannel from;
    private final SocketChannel to;
    private final ArrayDeque<Parcel> backlog = new ArrayDeque<>();
    private long backlogBytes;
    private long lastDueNanos;

    /** The sender has closed, and the end of the stream is queued, delivered or swallowed. */
    private boolean ended;

    /** No more bytes can or may be delivered. */
    private boolean finished;

    /** The receiver's buffer is full. */
    private boolean blocked;

    /** Bytes were swallowed, so that the rest of the stream is useless. */
    private boolean lostBytes;

    Direction(SocketChannel from, SocketChannel to) {
      this.from = from;
      this.to = to;
    }

    /**
     * Reads what the sender has sent, as far as the scratch buffer has room; returns the number of
     * bytes.
     */
    int read(ByteBuffer scratch, boolean drop, long delayNanos, long nowNanos) {
      Kind kind;
      try {
        kind = from.read(scratch) < 0 ? Kind.END : Kind.BYTES;
      } catch (IOException e) {
        kind = Kind.RESET;
      }
      ended = kind != Kind.BYTES;
      int count = scratch.flip().remaining();
      lostBytes |= drop && (ended || count > 0);
      if (!drop && !finished) {
        long due = nowNanos + delayNanos;
        if (!backlog.isEmpty() && due - lastDueNanos < 0) {
          due = lastDueNanos; // after a delay is shortened, bytes must not overtake earlier ones
        }
        lastDueNanos = due;
        backlogBytes += count;
        backlog.add(new Parcel(due, kind, ByteBuffer.allocate(count).put(scratch).flip()));
      }
      return count;
    }

    LongStream dueNanos() {
      return backlog.stream().limit(blocked ? 0 : 1).mapToLong(Parcel::dueNanos);
    }

    /** Makes all queued bytes due at once. */
    void hurry(long nowNanos) {
      List<Parcel> waiting = List.copyOf(backlog);
      backlog.clear();
      waiting.forEach(parcel -> backlog.add(new Parcel(nowNanos, parcel.kind, parcel.bytes)));
      lastDueNanos = nowNanos;
    }

    void deliver(long nowNanos) {
      while (!blocked && !backlog.isEmpty() && backlog.peek().dueNanos - nowNanos <= 0) {
        Parcel parcel = backlog.peek();
        try {
          switch (parcel.kind) {
            case BYTES -> backlogBytes -= to.write(parcel.bytes);
            case END -> {
              to.shutdownOutput();
              finish();
            }
            case RESET -> {
              close(true);
              finish();
            }
          }
          blocked = parcel.bytes.hasRemaining();
        } catch (IOException e) {
          finish(); // the receiver has closed; the other direction will read that
        }
        if (!blocked) {
          backlog.poll();
        }
      }
    }

    private void finish() {
      finished = true;
      backlog.clear();
      backlogBytes = 0;
    }

    boolean isFinished() {
      return finished || (lostBytes && ended && backlog.isEmpty());
    }
  }
}
