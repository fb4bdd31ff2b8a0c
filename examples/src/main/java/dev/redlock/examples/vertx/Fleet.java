package dev.redlock.examples.vertx;

import dev.redlock.election.LeaderElection;
import dev.redlock.harness.ForkedJvm;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.vertx.LockedVerticle;
import dev.redlock.vertx.RedlockOptions;
import dev.redlock.vertx.VertxRedlock;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** Three processes, of which one works. The program kills it, and another takes over. */
public final class Fleet {
  private static final int MEMBERS = 3;

  private Fleet() {}

  /** Starts three masters and the fleet, and kills the worker once. */
  public static void main(String[] args) throws InterruptedException {
    BlockingQueue<Integer> works = new LinkedBlockingQueue<>();
    List<ForkedJvm> members = new ArrayList<>();
    try (RedisNodes nodes = RedisNodes.start(3)) {
      for (int i = 0; i < MEMBERS; i++) {
        int number = i;
        members.add(
            ForkedJvm.of(Member.class)
                .name("member " + i)
                .args(String.join(",", nodes.uris()))
                .onLine(
                    line -> {
                      System.out.println("member " + number + ": " + line);
                      if (line.equals(Report.STARTED)) {
                        works.add(number);
                      }
                    })
                .start());
      }
      int first = works.take();
      System.out.println("member " + first + " is killed");
      members.get(first).kill();
      long killed = System.nanoTime();
      int second = works.take();
      System.out.printf(
          "member %d works %d ms later%n", second, (System.nanoTime() - killed) / 1_000_000);
    } finally {
      members.forEach(ForkedJvm::close);
    }
  }

  /** The work that only one member may do. */
  private static final class Report extends VerticleBase {
    static final String STARTED = "writes the report";

    @Override
    public Future<?> start() {
      System.out.println(STARTED);
      return Future.succeededFuture();
    }

    @Override
    public Future<?> stop() {
      System.out.println("stops writing");
      return Future.succeededFuture();
    }
  }

  /** One process. */
  static final class Member {
    private Member() {}

    public static void main(String[] args) {
      Vertx vertx = Vertx.vertx();
      VertxRedlock redlock =
          VertxRedlock.create(
              vertx,
              new RedlockOptions()
                  .setNodes(List.of(args[0].split(",")))
                  .setRestartGuard(
                      "off") // These masters are new and have forgotten nothing; keep the guard in
                  // production.
                  .setLeaseTimeMillis(2_000));
      LockedVerticle locked =
          LockedVerticle.builder(redlock, "report", Report::new)
              .election(election -> election.listener(new Told()))
              .build();
      vertx.deployVerticle(locked).onFailure(Throwable::printStackTrace);
    }
  }

  private static final class Told implements LeaderElection.Listener {
    @Override
    public void onState(LeaderElection.State from, LeaderElection.State to) {
      System.out.println(from + " -> " + to);
    }
  }
}
