import dev.redlock.*;
import dev.redlock.shedlock.RedlockLockProvider;
import dev.redlock.spring.integration.RedlockLockRegistry;
import dev.redlock.vertx.*;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.Lock;
import java.util.function.*;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
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

  Future<Void> sell() {
    return Future.succeededFuture();
  }

  Future<Void> sell(FencingToken token) {
    return Future.succeededFuture();
  }

  Receipt update(FencingToken token) {
    return new Receipt();
  }

  CompletableFuture<Integer> read(FencingToken token) {
    return CompletableFuture.completedFuture(1);
  }

  CompletableFuture<Void> write(int left, FencingToken token) {
    return CompletableFuture.completedFuture(null);
  }

  void update() {}

  void ship() {}

  void busy() {}
}

class Receipt {}
