package dev.redlock.vertx;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** One process of a fleet: tells when it works, and under which token. */
final class Member {
  private Member() {}

  /** The work: a mark each few milliseconds, while the lease is valid. */
  private static final class Marking extends VerticleBase {
    private final LockedVerticle[] outer;

    Marking(LockedVerticle[] outer) {
      this.outer = outer;
    }

    @Override
    public Future<?> start() {
      dev.redlock.Lease lease = outer[0].election().lease();
      if (lease == null) {
        return Future.failedFuture("the lease has ended already");
      }
      mark(lease);
      vertx.setPeriodic(5, id -> mark(lease));
      return Future.succeededFuture();
    }

    /**
     * That it runs, and whether it may. The time is read before validity is: a pause in between
     * makes no false mark.
     */
    private static void mark(dev.redlock.Lease lease) {
      long now = System.nanoTime();
      System.out.println("R " + lease.fencingToken() + " " + now);
      if (lease.isValid()) {
        System.out.println("T " + lease.fencingToken() + " " + now);
      }
    }

    @Override
    public Future<?> stop() {
      System.out.println("inner stopped");
      return Future.succeededFuture();
    }
  }

  public static void main(String[] args) throws Exception {
    long leaseMillis = Long.parseLong(args[1]);
    Vertx vertx = Vertx.vertx(CheckedVertx.options());
    VertxRedlock redlock =
        CheckedVertx.voting(
            VertxRedlock.create(
                vertx,
                new RedlockOptions()
                    .setNodes(List.of(args[0].split(",")))
                    .setRestartGuard("off")
                    .setLeaseTimeMillis(leaseMillis)
                    .setNodeTimeoutMillis(200)));
    LockedVerticle[] outer = new LockedVerticle[1];
    String id = deploy(vertx, redlock, outer);
    System.out.println("up");
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (line.equals("undeploy")) {
        CheckedVertx.get(vertx.undeploy(id));
      } else if (line.equals("deploy")) {
        id = deploy(vertx, redlock, outer);
      }
    }
    System.exit(0);
  }

  private static String deploy(Vertx vertx, VertxRedlock redlock, LockedVerticle[] outer) {
    outer[0] =
        LockedVerticle.builder(redlock, "job", () -> new Marking(outer))
            .stopMargin(Duration.ofMillis(300))
            .build();
    return CheckedVertx.get(vertx.deployVerticle(outer[0]));
  }
}
