package dev.redlock.testkit;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** One connection through a gate: two sockets, two directions. Confined to the gate's thread. */
final class GateLink {

  private final SocketChannel client;
  private final SocketChannel node;
  private final SelectionKey clientKey;
  private final @Nullable SelectionKey nodeKey;
  private final GateDirection toNode;
  private final GateDirection fromNode;

  /**
   * Takes an accepted connection and starts to connect it to the node. Behind a black hole it is
   * not connected to the node at all.
   */
  GateLink(SocketChannel client, InetSocketAddress target, Selector selector, GateRules rules)
      throws IOException {
    this.client = client;
    this.node = SocketChannel.open();
    this.toNode = new GateDirection(client, node);
    this.fromNode = new GateDirection(node, client);
    try {
      configure(client);
      configure(node);
      if (rules.blackHole()) {
        this.nodeKey = null;
      } else {
        boolean connected = node.connect(target);
        int interest = connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT;
        this.nodeKey = node.register(selector, interest, this);
      }
      this.clientKey = client.register(selector, 0, this);
      updateInterest();
    } catch (IOException e) {
      reset();
      throw e;
    }
  }

  private static void configure(SocketChannel channel) throws IOException {
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
  }

  /** Whether delayed bytes are queued. */
  boolean waits() {
    return toNode.waits() || fromNode.waits();
  }

  /** When to call {@link #advance} at the latest; {@link Long#MAX_VALUE} if nothing waits. */
  long nextDueNanos() {
    return Math.min(toNode.nextDueNanos(), fromNode.nextDueNanos());
  }

  /** Makes all delayed bytes due at once. */
  void hurry(long nowNanos) {
    toNode.hurry(nowNanos);
    fromNode.hurry(nowNanos);
  }

  /** Handles the ready operations; returns how many bytes arrived from the node. */
  int onReady(SelectionKey key, ByteBuffer scratch, GateRules rules, long nowNanos)
      throws IOException {
    if (key.isConnectable()) {
      node.finishConnect();
    }
    if (key.isWritable()) {
      (key == clientKey ? fromNode : toNode).deliver(nowNanos);
    }
    if (!key.isValid() || !key.isReadable()) {
      return 0;
    }
    if (key == clientKey) {
      toNode.read(scratch.clear(), rules.dropsToNode, rules.delayToNodeNanos, nowNanos);
      return 0;
    }
    ByteBuffer room = scratch.clear().limit((int) Math.min(scratch.capacity(), rules.replyBudget));
    return fromNode.read(room, rules.dropsFromNode, rules.delayFromNodeNanos, nowNanos);
  }

  /**
   * Delivers the bytes that are due and sets the next interest set; returns false once the
   * connection has ended.
   */
  boolean advance(long nowNanos) {
    if (toNode.waits()) {
      toNode.deliver(nowNanos);
    }
    if (fromNode.waits()) {
      fromNode.deliver(nowNanos);
    }
    boolean reset = !client.isOpen() || !node.isOpen();
    if (reset || (toNode.isFinished() && fromNode.isFinished())) {
      close(reset);
      return false;
    }
    updateInterest();
    return true;
  }

  /** Whether bytes were swallowed, so that the rest of the stream is useless. */
  boolean isBroken() {
    return nodeKey == null || toNode.hasLost() || fromNode.hasLost();
  }

  void reset() {
    close(true);
  }

  private void close(boolean reset) {
    closeOne(client, reset);
    closeOne(node, reset);
  }

  private static void closeOne(SocketChannel channel, boolean reset) {
    try {
      if (reset && channel.isOpen()) {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
      }
    } catch (IOException e) {
      // The connection is broken already; only the close remains.
    }
    try {
      channel.close();
    } catch (IOException e) {
      // Same.
    }
  }

  private void updateInterest() {
    SelectionKey nodeSide = nodeKey;
    boolean connected = nodeSide == null || node.isConnected();
    set(clientKey, connected && toNode.wantsRead(), fromNode.wantsWrite());
    if (nodeSide != null && connected) {
      set(nodeSide, fromNode.wantsRead(), toNode.wantsWrite());
    }
  }

  private static void set(SelectionKey key, boolean read, boolean write) {
    int interest = (read ? SelectionKey.OP_READ : 0) | (write ? SelectionKey.OP_WRITE : 0);
    if (key.isValid() && key.interestOps() != interest) {
      key.interestOps(interest);
    }
  }
}
