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
  private final GatePipe toNode;
  private final GatePipe fromNode;

  /**
   * Takes an accepted connection and begins to connect it to the node. Behind a black hole it is
   * not connected: the node never hears of it.
   */
  GateLink(SocketChannel client, InetSocketAddress target, Selector selector, GateRules rules)
      throws IOException {
    this.client = client;
    this.node = SocketChannel.open();
    this.toNode = new GatePipe(client, node);
    this.fromNode = new GatePipe(node, client);
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

  /** Whether bytes wait for their time. */
  boolean waits() {
    return toNode.waits() || fromNode.waits();
  }

  /** When to call {@link #advance} at the latest; {@link Long#MAX_VALUE} if nothing waits. */
  long nextDueNanos() {
    return Math.min(toNode.nextDueNanos(), fromNode.nextDueNanos());
  }

  /** What was delayed is due at once. */
  void hurry(long nowNanos) {
    toNode.hurry(nowNanos);
    fromNode.hurry(nowNanos);
  }

  /** Handles what the selector found; returns how many bytes came from the node. */
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

  /** Delivers what is due and sets what to wait for; false once the connection is over. */
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

  /** True if bytes were swallowed, so that a protocol on top can no longer make sense. */
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
      // It is broken already; closing is all that is left.
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
