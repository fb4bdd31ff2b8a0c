import dev.redlock.*;
import dev.redlock.vertx.*;
import io.vertx.core.*;
import java.time.Duration;
import java.util.*;

class Scope {
  interface Ledger {
    Future<Void> write(String entry, long token);
  }

  static class Report extends VerticleBase {}

  Vertx vertx;
  VertxRedlock redlock;
  Ledger ledger;
  String entry;
}
