import dev.redlock.*;
import dev.redlock.reactor.ReactorLock;
import dev.redlock.shedlock.RedlockLockProvider;
import dev.redlock.spring.*;
import dev.redlock.spring.boot.*;
import dev.redlock.spring.integration.*;
import io.smallrye.mutiny.Uni;
import java.time.Duration;
import java.util.*;
import net.javacrumbs.shedlock.core.LockProvider;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Service;
import org.testcontainers.containers.GenericContainer;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Mono;

class Scope {
  Redlock redlock;
  ReactorLock lock;
  Duration wait;

  Mono<Receipt> pay(FencingToken token) {
    return Mono.empty();
  }

  Uni<Receipt> pay(Lease lease) {
    return Uni.createFrom().nothing();
  }
}

class Receipt {}
