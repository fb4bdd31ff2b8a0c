package dev.redlock.vertx;

import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** One process of a fleet. Prints when it works, and under which token. */
final class Member {
  /** Two instances of the work, as one verticle. */
  private static final int INSTANCES = 2;

  private static final AtomicInteger FAILING_STARTS = new AtomicInteger();
  private static volatile boolean failStop;

  /** The context of the work that was deployed last. */
  private static volatile Context inside;

  private Member() {}

  /** The work: prints a mark every few milliseconds while the lease is valid. */
  private static final class Marking extends VerticleBase {
    private final LockedVerticle[] outer;

    Marking(LockedVerticle[] outer) {
      this.outer = outer;
    }

    @Override
    public Future<?> start() {
      if (FAILING_STARTS.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        return Future.failedFuture("told to fail");
      }
      inside = context;
      dev.redlock.Lease lease = outer[0].election().lease();
      if (lease == null) {
        return Future.failedFuture("the lease has ended already");
      }
      mark(lease);
      vertx.setPeriodic(5, id -> mark(lease));
      return Future.succeededFuture();
    }

    /**
     * Prints that it runs, and whether the lease is valid. Reads the time before the validity, so a
     * pause in between produces no false mark.
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
      return failStop ? Future.failedFuture("told to fail") : Future.succeededFuture();
    }
  }

  public static void main(String[] args) throws Exception {
    long leaseMillis = Long.parseLong(args[1]);
    Vertx vertx = Vertx.vertx(CheckedVertx.options());
    CheckedVertx.watch(vertx, stack -> System.out.println("blocked " + stack.replace('\n', ' ')));
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
      } else if (line.equals("undeploy inner")) {
        Context work = inside;
        work.runOnContext(nothing -> vertx.undeploy(work.deploymentID()));
      } else if (line.equals("fail start")) {
        FAILING_STARTS.set(1);
      } else if (line.equals("fail stop")) {
        failStop = true;
      }
    }
    System.exit(0);
  }

  private static String deploy(Vertx vertx, VertxRedlock redlock, LockedVerticle[] outer) {
    outer[0] =
        LockedVerticle.builder(redlock, "job", () -> new Marking(outer))
            .deployment(new DeploymentOptions().setInstances(INSTANCES))
            .livenessProbe(true)
            .election(election -> election.stopMargin(Duration.ofMillis(300)))
            .build();
    return CheckedVertx.get(vertx.deployVerticle(outer[0]));
  }
}
