package dev.redlock.examples.recipes;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.LockRequest.QueueEntry;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** What locks cost one master: memory and bytes on the wire, from the master's own figures. */
final class Footprint {
  private static final int LOCKS = 10_000;
  private static final int AT_ONCE = 500;
  private static final long PATIENCE_MICROS = 60_000_000;
  private static final Duration WAIT = Duration.ofSeconds(30);

  /**
   * Bytes per lock.
   *
   * @param held memory while the lock is held
   * @param idle memory after its release, until the fence expires
   * @param received bytes that the master received for one acquire and one release
   * @param sent bytes that it sent for them
   * @param waiting memory for one process in the queue of a lock
   */
  record Bytes(long held, long idle, long received, long sent, long waiting) {}

  private Footprint() {}

  static Bytes measure(Consumer<String> out) {
    try (RedisNodes nodes = RedisNodes.start(1)) {
      LockNode adapter = LettuceNodes.standalone(nodes.uris()).get(0);
      try (Redlock redlock = Clients.ready(Redlock.builder().nodes(adapter))) {
        return measure(nodes, redlock, adapter, out);
      }
    }
  }

  private static Bytes measure(
      RedisNodes nodes, Redlock redlock, LockNode adapter, Consumer<String> out) {
    RedisNode node = nodes.get(0);
    redlock.lock("warm-up").acquire(WAIT).close();
    long before = info(node, "memory", "used_memory");
    long in = info(node, "stats", "total_net_input_bytes");
    long sent = info(node, "stats", "total_net_output_bytes");
    List<Lease> leases = new ArrayList<>();
    for (int from = 0; from < LOCKS; from += AT_ONCE) {
      List<CompletableFuture<Lease>> batch = new ArrayList<>();
      for (int i = from; i < from + AT_ONCE; i++) {
        String name = String.format(Locale.ROOT, "footprint:%06d", i);
        batch.add(redlock.lock(name).acquireAsync(WAIT));
      }
      batch.forEach(lease -> leases.add(lease.join()));
    }
    long held = info(node, "memory", "used_memory");
    leases.forEach(lease -> lease.releaseAsync().toCompletableFuture().join());
    long idle = info(node, "memory", "used_memory");
    Bytes bytes =
        new Bytes(
            (held - before) / LOCKS,
            (idle - before) / LOCKS,
            (info(node, "stats", "total_net_input_bytes") - in) / LOCKS,
            (info(node, "stats", "total_net_output_bytes") - sent) / LOCKS,
            waiting(node, redlock, adapter));
    out.accept(
        String.format(
            Locale.ROOT,
            "%,d locks on one master (%s):",
            LOCKS,
            nodes.source().replaceFirst("^.*\\((.*?) sha=.*$", "$1")));
    out.accept("  held:     " + bytes.held() + " bytes of memory per lock");
    out.accept("  released: " + bytes.idle() + " bytes per name, until its fence expires");
    out.accept(
        "  network:  "
            + bytes.received()
            + " bytes to the master and "
            + bytes.sent()
            + " back, for one acquire and one release");
    out.accept("  waiting:  " + bytes.waiting() + " bytes of memory per process in a queue");
    return bytes;
  }

  /**
   * Memory for one process that waits. All requests to be queued come over one connection here; the
   * node keeps the same entries as for a connection of each process.
   */
  private static long waiting(RedisNode node, Redlock redlock, LockNode adapter) {
    LockKeys keys = LockKeys.of("redlock", List.of("footprint"));
    try (Lease held = redlock.lock("footprint").acquire(WAIT)) {
      held.ensureValid();
      Queue<NodeReply> failed = new ConcurrentLinkedQueue<>();
      long before = info(node, "memory", "used_memory");
      for (int from = 0; from < LOCKS; from += AT_ONCE) {
        CountDownLatch replies = new CountDownLatch(AT_ONCE);
        for (int i = from; i < from + AT_ONCE; i++) {
          // As long as the ids that clients choose for themselves.
          String process = String.format(Locale.ROOT, "%012d", i);
          QueueEntry entry = new QueueEntry(keys.member(process), 0, PATIENCE_MICROS);
          adapter.send(
              new LockRequest.Enqueue(keys, entry, 0),
              reply -> {
                if (reply.code() != Code.HELD) {
                  failed.add(reply);
                }
                replies.countDown();
              });
        }
        awaitAll(replies);
      }
      long bytes = info(node, "memory", "used_memory") - before;
      // On a busy machine the connection may end, and the requests on it fail.
      long queued =
          Long.parseLong(String.valueOf(node.command("ZCARD", "redlock:{footprint}:1:queue")));
      if (queued < LOCKS / 2) {
        throw new IllegalStateException(
            queued
                + " of "
                + LOCKS
                + " processes are in the queue; "
                + failed.size()
                + " requests failed, the first with "
                + failed.peek());
      }
      return bytes / queued;
    }
  }

  private static void awaitAll(CountDownLatch replies) {
    try {
      if (!replies.await(WAIT.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException(replies.getCount() + " requests without a reply");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the requests were on their way", e);
    }
  }

  private static long info(RedisNode node, String section, String field) {
    Object reply = node.command("INFO", section);
    String text =
        reply instanceof byte[] raw
            ? new String(raw, StandardCharsets.UTF_8)
            : String.valueOf(reply);
    return text.lines()
        .filter(line -> line.startsWith(field + ":"))
        .mapToLong(line -> Long.parseLong(line.substring(field.length() + 1).strip()))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("INFO " + section + " has no " + field));
  }
}
