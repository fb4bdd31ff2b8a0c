package dev.redlock.examples.tutorial;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.examples.fencing.RedisStock;
import dev.redlock.examples.fencing.StaleTokenException;
import dev.redlock.spi.RestartGuard;
import dev.redlock.testkit.RedisNodes;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** The six steps. Each returns whether it went as its page describes. */
final class Steps {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String NAME = "coupons";

  private final Consumer<String> out;

  Steps(Consumer<String> out) {
    this.out = out;
  }

  /** No expiry: the holder dies, and the lock is taken for ever. */
  boolean noExpiry() throws InterruptedException {
    try (Shop shop = new Shop(1)) {
      SetNxLock dead = new SetNxLock(shop.master(0), NAME);
      say("A takes the lock: " + dead.tryLock() + ". Then A's process dies");
      SetNxLock other = new SetNxLock(shop.master(0), NAME);
      boolean granted = within(Duration.ofSeconds(1), other::tryLock);
      long ttl = shop.master(0).pttl(NAME);
      say("B tries for a second: " + granted + ". PTTL is " + ttl + ": the key never expires");
      say("-> the lock is taken for ever. It needs an expiry");
      return !granted && ttl == -1;
    }
  }

  /** No owner: a late holder deletes the lock of its successor. */
  boolean noOwner() throws InterruptedException {
    try (Shop shop = new Shop(1)) {
      ExpiringLock a = new ExpiringLock(shop.master(0), NAME, 200);
      ExpiringLock b = new ExpiringLock(shop.master(0), NAME, 60_000);
      ExpiringLock c = new ExpiringLock(shop.master(0), NAME, 60_000);
      say("A takes the lock for 200 ms: " + a.tryLock() + ". A's work takes longer");
      boolean second = within(PATIENCE, b::tryLock);
      say("the key expires, and B takes the lock for 60 s: " + second);
      a.unlock();
      boolean third = c.tryLock();
      say("A is done and deletes the key. C takes the lock: " + third);
      say("-> B and C both hold it. The key needs the id of its owner");
      return second && third;
    }
  }

  /** One master: it stops, and all stop; it comes back empty, and a second holder gets in. */
  boolean oneMaster() {
    try (Shop shop = new Shop(1)) {
      OwnedLock a = new OwnedLock(shop.master(0), NAME, 60_000);
      say("A takes the lock for 60 s: " + a.tryLock());
      shop.kill(0);
      String error = "";
      try {
        new OwnedLock(shop.master(0), NAME, 60_000).tryLock();
      } catch (RedisException e) {
        error = e.getClass().getSimpleName();
      }
      say("the master is killed. B tries: " + error + ". There is no lock at all now");
      shop.restartEmpty(0);
      boolean second = new OwnedLock(shop.master(0), NAME, 60_000).tryLock();
      say("the master restarts without its keys. B tries again: " + second);
      say("-> A and B both hold it. It needs more than one master");
      return !error.isEmpty() && second;
    }
  }

  /** No drift: the holder counts more time than the masters do. */
  boolean noDrift() throws InterruptedException {
    try (Shop shop = new Shop(3)) {
      shop.kill(2);
      QuorumLock plain = quorum(shop, 2_000, 0, true, 1.0, 0);
      say("three masters, one of them dead. A takes the lock: " + plain.tryLock());
      plain.unlock();

      long late = overlap(shop, quorum(shop, 1_500, 0, false, 1.0, 1_000));
      say(
          "A takes it for 1.5 s, and is paused for 1 s before it reads the replies. A counts"
              + " from the replies. Both hold it: "
              + word(late));
      long slow = overlap(shop, quorum(shop, 2_000, 0, true, 0.8, 0));
      say("A's clock runs 20 % too slow, and A counts from its first request: " + word(slow));
      long safe = overlap(shop, quorum(shop, 2_000, 500, true, 0.8, 0));
      say("the same with a drift of 500 ms taken off the 2 s: " + word(safe));
      say("-> count from before the first request, and take the drift off");
      return late > 0 && slow > 0 && safe == 0;
    }
  }

  private static String word(long overlapMillis) {
    return overlapMillis > 0 ? "yes" : "no";
  }

  /** The milliseconds for which the holder believes in its lock after another one got it. */
  private static long overlap(Shop shop, QuorumLock holder) throws InterruptedException {
    QuorumLock other = quorum(shop, 10_000, 0, true, 1.0, 0);
    if (!holder.tryLock()) {
      throw new IllegalStateException("the lock is not free");
    }
    if (!within(PATIENCE, other::tryLock)) {
      throw new IllegalStateException("the lock does not expire");
    }
    long overlap = 0;
    // A holder that does not believe in its lock overlaps nothing, however long that check takes.
    if (holder.isValid()) {
      long start = System.nanoTime();
      while (holder.isValid()) {
        Thread.sleep(1);
      }
      overlap = Math.max(1, (System.nanoTime() - start) / 1_000_000);
    }
    other.unlock();
    return overlap;
  }

  /** No token: a write after a pause overwrites that of the next holder. */
  boolean noToken() throws InterruptedException {
    try (Shop shop = new Shop(3);
        Shop till = new Shop(1)) {
      RedisStock stock = new RedisStock(till.master(0), "coupon");
      stock.fill(100);
      QuorumLock a = quorum(shop, 2_000, 50, true, 1.0, 0);
      boolean first = a.tryLock() && a.isValid();
      int seen = stock.readUnchecked();
      say("A takes the lock, reads " + seen + ", and checks that the lock is valid: " + first);
      say("A is paused, by its garbage collector or its host");
      QuorumLock b = quorum(shop, 60_000, 602, true, 1.0, 0);
      boolean second = within(PATIENCE, b::tryLock);
      stock.sellUnchecked(stock.readUnchecked() - 1, "to B's customer");
      say("the keys expire. B takes the lock, and sells one: " + stock.readUnchecked() + " left");
      stock.sellUnchecked(seen - 1, "to A's customer");
      int left = stock.readUnchecked();
      say("A continues and writes: " + left + " left, and " + stock.book().size() + " sold");
      say("-> 100 coupons, 2 sold, 99 left. The stock must see who is late: it needs a token");
      return first && second && left == 99 && stock.book().size() == 2;
    }
  }

  /** This library: the same history, and the late write is rejected. */
  boolean library() {
    try (Shop shop = new Shop(3);
        Shop till = new Shop(1);
        Redlock first = connect(shop);
        Redlock second = connect(shop)) {
      RedisStock stock = new RedisStock(till.master(0), "coupon");
      stock.fill(100);
      shop.kill(2);
      say("three masters, one of them is killed");
      LockOptions pause =
          LockOptions.builder().leaseTime(Duration.ofMillis(500)).autoExtend(false).build();
      Lease a = first.lock(NAME, pause).acquire(PATIENCE);
      int seen = stock.read(a.fencingToken().value());
      say("A takes the lock, and reads " + seen + ". A is paused");
      DistributedLock lock = second.lock(NAME);
      // tutorial: library
      try (Lease b = lock.acquire(PATIENCE)) {
        long token = b.fencingToken().value();
        stock.sell(stock.read(token) - 1, "to B's customer", token);
      }
      // tutorial.
      say("B takes the lock, and sells one: " + stock.readUnchecked() + " left");
      boolean rejected = false;
      try {
        stock.sell(seen - 1, "to A's customer", a.fencingToken().value());
      } catch (StaleTokenException e) {
        rejected = true;
        say("A continues and writes: rejected, token " + a.fencingToken().value() + " is too low");
      }
      say("-> " + stock.book().size() + " sold, " + stock.readUnchecked() + " left. Now: ./demo");
      return rejected && stock.book().size() == 1 && stock.readUnchecked() == 99;
    }
  }

  private static Redlock connect(Shop shop) {
    Redlock redlock =
        Redlock.builder()
            .nodes(shop.nodes.uris().toArray(String[]::new))
            // These masters are new and have forgotten nothing; keep the guard in production.
            .restartGuard(RestartGuard.OFF)
            .build();
    if (!redlock.awaitReady(PATIENCE)) {
      redlock.close();
      throw new IllegalStateException("no quorum votes after " + PATIENCE.toSeconds() + " s");
    }
    return redlock;
  }

  private static QuorumLock quorum(
      Shop shop,
      long ttlMillis,
      long driftMillis,
      boolean countElapsed,
      double clockRate,
      long pauseMillis) {
    return new QuorumLock(
        shop.masters,
        NAME,
        ttlMillis,
        driftMillis,
        countElapsed,
        () -> (long) (System.nanoTime() / 1e6 * clockRate),
        () -> pause(pauseMillis));
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static boolean within(Duration patience, BooleanSupplier attempt)
      throws InterruptedException {
    long deadline = System.nanoTime() + patience.toNanos();
    while (!attempt.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      Thread.sleep(2);
    }
    return true;
  }

  private void say(String line) {
    out.accept(line);
  }

  /** Masters of the step, and a plain connection to each of them. */
  private static final class Shop implements AutoCloseable {
    final RedisNodes nodes;
    final List<RedisCommands<String, String>> masters = new ArrayList<>();
    private final List<RedisClient> clients = new ArrayList<>();

    Shop(int count) {
      nodes = RedisNodes.start(count);
      for (String uri : nodes.uris()) {
        RedisURI address = RedisURI.create(uri);
        address.setTimeout(Duration.ofSeconds(5));
        RedisClient client = RedisClient.create(address);
        // A command to a dead master fails at once, and is not sent later. A connection that
        // reconnects while its client shuts down would be logged as an error.
        client.setOptions(
            ClientOptions.builder()
                .autoReconnect(false)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
                .build());
        clients.add(client);
        masters.add(client.connect().sync());
      }
    }

    RedisCommands<String, String> master(int index) {
      return masters.get(index);
    }

    void kill(int index) {
      nodes.get(index).kill();
    }

    void restartEmpty(int index) {
      nodes.get(index).restart();
      masters.set(index, clients.get(index).connect().sync());
    }

    @Override
    public void close() {
      clients.forEach(RedisClient::shutdown);
      nodes.close();
    }
  }
}
