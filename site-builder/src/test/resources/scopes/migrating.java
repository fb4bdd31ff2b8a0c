import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.cp.lock.FencedLock;
import dev.redlock.*;
import dev.redlock.shedlock.RedlockLockProvider;
import dev.redlock.spring.integration.RedlockLockRegistry;
import dev.redlock.vertx.*;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.grpc.stub.StreamObserver;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.Lock;
import java.util.function.*;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;

class Scope {
  Redlock redlock;
  RedissonClient redisson, first, second, third;
  LockRegistry<? extends Lock> registry;
  LockProvider oldProvider, newProvider;
  Vertx vertx;
  VertxRedlock vertxRedlock;
  HazelcastInstance hazelcast;
  CuratorFramework curator;
  Client etcd;
  StreamObserver<LeaseKeepAliveResponse> observer;

  /** What the programs of the page did; ProgramsTest reads it. */
  final BlockingQueue<String> done = new LinkedBlockingQueue<>();

  Future<Void> sell() {
    done.add("sell");
    return Future.succeededFuture();
  }

  Future<Void> sell(FencingToken token) {
    return sell();
  }

  void sell(long fence) {
    sell();
  }

  Receipt update(FencingToken token) {
    update();
    return new Receipt();
  }

  CompletableFuture<Integer> read(FencingToken token) {
    return CompletableFuture.completedFuture(1);
  }

  CompletableFuture<Void> write(int left, FencingToken token) {
    done.add("write");
    return CompletableFuture.completedFuture(null);
  }

  void update() {
    done.add("update");
  }

  void ship() {
    done.add("ship");
  }

  void busy() {}
}

class Receipt {}
