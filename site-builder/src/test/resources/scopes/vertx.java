import dev.redlock.*;
import dev.redlock.micrometer.*;
import dev.redlock.vertx.*;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.*;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.*;

class Scope {
  interface Ledger {
    Future<Void> write(String entry, long token);
  }

  static class Report extends VerticleBase {}

  Vertx vertx;
  VertxRedlock redlock;
  RedlockOptions options;
  MeterRegistry registry;
  Ledger ledger;
  String entry, item;
  RoutingContext request;

  int takeOne(String item, long token) {
    return 0;
  }
}
