import dev.redlock.*;
import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.election.LeaderElection;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Future;
import io.vertx.ext.web.RoutingContext;
import java.sql.Connection;
import java.time.Duration;
import java.util.*;
import org.springframework.context.annotation.Bean;

class Scope {
  interface Stock {
    int read(String item, long token);

    void write(String item, int amount, long token);
  }

  Stock stock;
  Redlock redlock;
  VertxRedlock vertxRedlock;
  String user;
  int partition;
  int k;
  RoutingContext request;
  LeaderElection.Work work;
  Connection transaction;

  boolean claim(String period, FencingToken token) {
    return false;
  }

  void writeInvoices(Connection transaction) {}

  void markDone(Connection transaction, String period, FencingToken token) {}

  Future<Integer> addPoints(String user, FencingToken token) {
    return Future.succeededFuture(1);
  }

  boolean busy(Throwable failure) {
    return failure instanceof LockTimeoutException;
  }

  void sell(String article, FencingToken token) {}

  void sayBusy() {}

  List<Integer> shuffled(int k) {
    return List.of();
  }
}
