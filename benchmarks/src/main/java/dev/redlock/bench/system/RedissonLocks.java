package dev.redlock.bench.system;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
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

  /** Owners are thread ids; calls without a thread need ids that no thread has. */
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

  /** The lock of a cluster: {@code RLock}, the only kind that takes one. */
  static RedissonLocks connectToCluster(List<String> uris) {
    RedissonLocks locks = new RedissonLocks(Peer.REDISSON_RLOCK);
    Config config = new Config();
    config.useClusterServers().addNodeAddress(uris.toArray(String[]::new));
    locks.clients.add(Redisson.create(config));
    return locks;
  }

  @Override
  public Held acquire(String name) throws InterruptedException {
    RLock lock = lock(name);
    if (kind == Peer.REDISSON_RLOCK) {
      lock.lock();
    } else if (!lock.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      // lock() of several nodes gives each round 1.5 s a node: with a hung one it never ends.
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

  @SuppressWarnings("deprecation") // RedissonRedLock is what is compared with.
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
