package dev.redlock.testkit;

import dev.redlock.testkit.internal.PortReservation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The single thread of a gate. All methods except {@link #submit} and {@link #description} are
 * confined to it.
 *
 * <p>A selector waits in whole milliseconds. In the last millisecond before a delayed byte is due,
 * the loop sleeps in short steps, so that a delay of 200 µs does not become 1 ms.
 */
final class GateLoop implements Runnable {

  private static final int SCRATCH_BYTES = 256 << 10;
  private static final long NAP_NANOS = 50_000;

  final GateRules rules = new GateRules();

  // Written by the loop, read by any thread that asks for the state.
  final Set<GateLink> links = ConcurrentHashMap.newKeySet();
  private volatile String description = "open";

  // Written by any thread, emptied by the loop.
  private final Queue<Runnable> orders = new ConcurrentLinkedQueue<>();

  private final InetSocketAddress target;
  private final int port;
  private final Selector selector;
  private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);
  private @Nullable ServerSocketChannel listener;
  private boolean closed;

  GateLoop(InetSocketAddress target, int port) throws IOException {
    this.target = target;
    this.port = port;
    this.selector = Selector.open();
    listen();
  }

  String description() {
    return description;
  }

  /**
   * Runs a change on the loop. The task is done when its effects have reached the sockets. Bytes
   * that arrived before are handled by the rules that were in force then.
   */
  CompletableFuture<Void> submit(Runnable change) {
    return CompletableFuture.runAsync(
        () -> {
          look();
          change.run();
          description = rules.describe();
          look();
        },
        order -> {
          orders.add(order);
          selector.wakeup();
          if (!selector.isOpen()) { // The loop broke down: the order fails.
            order.run();
          }
        });
  }

  /**
   * Serves what is ready. The selector also processes closed channels: only then are their ports
   * free and their peers reset.
   */
  private void look() {
    try {
      selector.selectNow(this::serve);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void run() {
    try (selector) {
      while (!closed) {
        for (Runnable order = orders.poll(); order != null; order = orders.poll()) {
          order.run();
        }
        serveOrWait();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("The gate on port " + port + " broke down", e);
    } finally {
      resetAll();
      description = "closed";
      orders.forEach(Runnable::run); // They fail, or wait for nothing.
    }
  }

  private void serveOrWait() throws IOException {
    OptionalLong due = links.stream().flatMapToLong(GateLink::dueNanos).min();
    if (due.isEmpty()) {
      selector.select(this::serve);
      return;
    }
    long waitNanos = due.getAsLong() - System.nanoTime();
    if (waitNanos >= 2_000_000) {
      selector.select(this::serve, waitNanos / 1_000_000 - 1);
    } else if (selector.selectNow(this::serve) == 0 && orders.isEmpty() && waitNanos > 0) {
      LockSupport.parkNanos(Math.min(waitNanos, NAP_NANOS));
    }
    long now = System.nanoTime();
    links.forEach(link -> link.deliver(now));
  }

  private void serve(SelectionKey key) {
    if (key.isValid() && key.attachment() instanceof GateLink link) {
      try {
        link.onReady(key, scratch);
      } catch (IOException | RuntimeException e) {
        link.close(true); // The usual case: the node refuses the connection.
      }
    } else if (key.isValid() && key.channel() instanceof ServerSocketChannel open) {
      acceptAll(open);
    }
  }

  private void acceptAll(ServerSocketChannel open) {
    try {
      for (SocketChannel client = open.accept(); client != null; client = open.accept()) {
        GateLink link = new GateLink(this, client, SocketChannel.open());
        links.add(link);
        link.open(target);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("The gate on port " + port + " broke down", e);
    }
  }

  void register(SocketChannel channel, GateLink link) throws IOException {
    channel.configureBlocking(false);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    channel.register(selector, 0, link);
  }

  void setInterest(SocketChannel channel, int operations) {
    SelectionKey key = channel.keyFor(selector);
    if (key != null && key.isValid() && key.interestOps() != operations) {
      key.interestOps(operations);
    }
  }

  void cut() {
    rules.clear();
    rules.cut = true;
    description = rules.describe();
    resetAll();
    stopListening();
  }

  /** Returns to plain forwarding. Connections that lost bytes are reset. */
  void endFaults() {
    rules.clear();
    links.forEach(GateLink::endFaults);
    try {
      listen();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot listen on port " + port + " again", e);
    }
  }

  void resetAll() {
    links.forEach(link -> link.close(true));
  }

  void close() {
    closed = true;
    resetAll();
    stopListening();
  }

  private void listen() throws IOException {
    if (listener == null) {
      ServerSocketChannel channel = ServerSocketChannel.open();
      try {
        channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
        channel.configureBlocking(false);
        channel.bind(PortReservation.loopback(port), 1024);
        channel.register(selector, SelectionKey.OP_ACCEPT);
      } catch (IOException e) {
        channel.close();
        throw e;
      }
      listener = channel;
    }
  }

  private void stopListening() {
    ServerSocketChannel open = listener;
    listener = null;
    if (open != null) {
      try {
        open.close();
      } catch (IOException e) {
        throw new UncheckedIOException("Cannot stop listening on port " + port, e);
      }
    }
  }
}
