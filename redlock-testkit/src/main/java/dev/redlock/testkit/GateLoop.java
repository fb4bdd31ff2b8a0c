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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The single thread of a gate. All methods except {@link #submit} are confined to it.
 *
 * <p>A selector waits in whole milliseconds. In the last millisecond before a delayed byte is due,
 * the loop sleeps in short steps, so that a delay of 200 µs does not become 1 ms.
 */
final class GateLoop implements Runnable {

  private static final int SCRATCH_BYTES = 256 << 10;
  private static final long NAP_NANOS = 50_000;

  private final InetSocketAddress target;
  private final int port;
  private final Selector selector;
  private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);
  private final Set<GateLink> links = new LinkedHashSet<>();
  private final GateRules rules = new GateRules();
  private @Nullable ServerSocketChannel listener;
  private boolean closed;

  // Written by any thread, emptied by the loop.
  private final Queue<Runnable> orders = new ConcurrentLinkedQueue<>();

  // Written by the loop, read by any thread that asks for the state.
  private volatile int linkCount;
  private volatile String description = "open";

  GateLoop(InetSocketAddress target, int port) throws IOException {
    this.target = target;
    this.port = port;
    this.selector = Selector.open();
    listen();
  }

  int linkCount() {
    return linkCount;
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
          settle();
          serveReady();
          change.run();
          settle();
        },
        order -> {
          orders.add(order);
          selector.wakeup();
          if (!selector.isOpen()) { // The loop broke down: the order fails.
            order.run();
          }
        });
  }

  GateRules rules() {
    return rules;
  }

  @Override
  public void run() {
    try (selector) {
      while (!closed) {
        for (Runnable order = orders.poll(); order != null; order = orders.poll()) {
          order.run();
        }
        awaitSomething();
        serveReady();
        long now = System.nanoTime();
        links.removeIf(link -> link.waits() && !link.advance(now));
        linkCount = links.size();
      }
    } catch (IOException e) {
      throw new UncheckedIOException("The gate on port " + port + " broke down", e);
    } finally {
      resetAll();
      description = "closed";
      orders.forEach(Runnable::run); // They fail, or wait for nothing.
    }
  }

  private void serveReady() {
    // Iterate over a copy: a cut cancels keys and thereby changes the selected set.
    List<SelectionKey> ready = List.copyOf(selector.selectedKeys());
    selector.selectedKeys().clear();
    long now = System.nanoTime();
    for (SelectionKey key : ready) {
      if (key.isValid() && key.attachment() instanceof GateLink link) {
        serve(link, key, now);
      } else if (key.isValid()) {
        acceptAll();
      }
    }
  }

  private void serve(GateLink link, SelectionKey key, long now) {
    try {
      int replyBytes = link.onReady(key, scratch, rules, now);
      if (!link.advance(now)) {
        links.remove(link);
      }
      if (rules.replyBudget != GateRules.NO_BUDGET) {
        rules.replyBudget -= replyBytes;
        if (rules.replyBudget <= 0) {
          cut();
        }
      }
    } catch (IOException | RuntimeException e) {
      // The usual case: the node refuses the connection.
      link.reset();
      links.remove(link);
    }
  }

  private void awaitSomething() throws IOException {
    long due = Long.MAX_VALUE;
    for (GateLink link : links) {
      due = Math.min(due, link.nextDueNanos());
    }
    if (due == Long.MAX_VALUE) {
      selector.select();
      return;
    }
    long waitNanos = due - System.nanoTime();
    if (waitNanos >= 2_000_000) {
      selector.select(waitNanos / 1_000_000 - 1);
      return;
    }
    selector.selectNow();
    if (selector.selectedKeys().isEmpty() && orders.isEmpty() && waitNanos > 0) {
      LockSupport.parkNanos(Math.min(waitNanos, NAP_NANOS));
    }
  }

  private void acceptAll() {
    ServerSocketChannel open = listener;
    while (open != null && open.isOpen()) {
      SocketChannel client = acceptOne(open);
      if (client == null) {
        return;
      }
      try {
        links.add(new GateLink(client, target, selector, rules));
      } catch (IOException e) {
        // The node refused the connection at once, or the client has closed; the link has closed
        // both sides.
      }
    }
  }

  private @Nullable SocketChannel acceptOne(ServerSocketChannel open) {
    try {
      return open.accept();
    } catch (IOException e) {
      throw new UncheckedIOException("The gate on port " + port + " broke down", e);
    }
  }

  void cut() {
    rules.clear();
    rules.cut = true;
    resetAll();
    stopListening();
    settle();
  }

  /** Returns to plain forwarding. Connections that lost bytes are reset. */
  void endFaults() {
    rules.clear();
    long now = System.nanoTime();
    links.removeIf(
        link -> {
          if (link.isBroken()) {
            link.reset();
            return true;
          }
          link.hurry(now);
          return !link.advance(now);
        });
    try {
      listen();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot listen on port " + port + " again", e);
    }
  }

  void resetAll() {
    List.copyOf(links).forEach(GateLink::reset);
    links.clear();
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

  /**
   * Lets the selector process closed channels: only then are their ports free and their peers
   * reset.
   */
  private void settle() {
    try {
      selector.selectNow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    linkCount = links.size();
    description = rules.describe();
  }
}
