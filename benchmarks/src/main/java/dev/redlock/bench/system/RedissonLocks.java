package dev.redlock.bench.system;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.redisson.Redisson;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's locks with its defaults, one client per node as its documentation shows. */
final class RedissonLocks implements LockClient {
  private static final long PATIENCE_SECONDS = 120;

  private final Peer kind;
  private final List<RedissonClient> clients = new ArrayList<>();

  /** Redisson identifies owners by thread id. Asynchronous calls need ids that no thread has. */
  private final AtomicLong owners = new AtomicLong(1L << 40);

  private RedissonLocks(Peer kind) {
    this.kind = kind;
  }

  static RedissonLocks connect(Peer kind, List<String> uris) {
    RedissonLocks locks = new RedissonLocks(kind);
    for (String uri : uris.subList(0, kind.nodesOf(uris.size()))) {
      Config config = new Config();
      config.useSingleServer().setAddress(uri);
      locks.clients.add(Redisson.create(config));
    }
    return locks;
  }

  /**
   * Clients with connections of their own. They share their threads, and open one connection to a
   * node instead of 24 at once: with the defaults a hundred clients on five nodes would have 16,000
   * threads and 12,500 connections.
   */
  static Crowd crowd(Peer kind, List<String> uris, int count) {
    EventLoopGroup io = new MultiThreadIoEventLoopGroup(4, NioIoHandler.newFactory());
    ExecutorService threads = Executors.newFixedThreadPool(16);
    return JvmCrowd.of(
        count,
        () -> {
          RedissonLocks locks = new RedissonLocks(kind);
          for (String uri : uris.subList(0, kind.nodesOf(uris.size()))) {
            Config config = new Config();
            config.setEventLoopGroup(io);
            config.setExecutor(threads);
            config.useSingleServer().setAddress(uri).setConnectionMinimumIdleSize(1);
            locks.clients.add(Redisson.create(config));
          }
          return locks;
        },
        null,
        () -> {
          threads.shutdownNow();
          io.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        });
  }

  @Override
  public Held acquire(String name) throws InterruptedException {
    RLock lock = lock(name);
    if (kind == Peer.REDISSON_RLOCK) {
      lock.lock();
    } else if (!lock.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      // lock() on several nodes limits each round to 1.5 s per node; with a hung node it never
      // succeeds.
      throw new IllegalStateException("not within " + PATIENCE_SECONDS + " s");
    }
    return lock::unlock;
  }

  @Override
  public boolean isAsync() {
    return true;
  }

  @Override
  public CompletionStage<Held> acquireAsync(String name) {
    RLock lock = lock(name);
    long owner = owners.incrementAndGet();
    return lock.lockAsync(owner).thenApply(done -> new OwnedLock(lock, owner));
  }

  @SuppressWarnings("deprecation") // RedissonRedLock is the measured class.
  private RLock lock(String name) {
    if (kind == Peer.REDISSON_RLOCK) {
      return clients.get(0).getLock(name);
    }
    RLock[] all = clients.stream().map(client -> client.getLock(name)).toArray(RLock[]::new);
    return kind == Peer.REDISSON_REDLOCK ? new RedissonRedLock(all) : new RedissonMultiLock(all);
  }

  @Override
  public void close() {
    clients.forEach(RedissonClient::shutdown);
  }

  private record OwnedLock(RLock lock, long owner) implements Held {
    @Override
    public void release() {
      lock.unlockAsync(owner).toCompletableFuture().join();
    }

    @Override
    public CompletionStage<?> releaseAsync() {
      return lock.unlockAsync(owner);
    }
  }
}
