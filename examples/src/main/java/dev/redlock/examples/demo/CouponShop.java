package dev.redlock.examples.demo;

import dev.redlock.examples.demo.Sale.Outcome;
import dev.redlock.examples.fencing.RedisStock;
import dev.redlock.harness.timeline.Timeline;
import dev.redlock.harness.timeline.Timeline.HolderLane;
import dev.redlock.harness.timeline.Timeline.NodeLane;
import dev.redlock.harness.timeline.TimelineHtml;
import dev.redlock.testkit.RedisNodes;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** One run of the shop, from the start of the first process to the verdict. */
final class CouponShop implements AutoCloseable {
  private static final Duration START_PATIENCE = Duration.ofSeconds(60);
  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(15);

  private final Plan plan;
  private final RedisNodes till = RedisNodes.start(1);
  private final @Nullable Masters masters;
  private final RedisClient redis;
  private final RedisStock stock;
  private final List<WorkerProcess> workers = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();

  CouponShop(Plan plan) {
    this.plan = plan;
    masters = plan.locked() ? new Masters() : null;
    redis = RedisClient.create(till.uris().get(0));
    RedisCommands<String, String> commands = redis.connect().sync();
    stock = new RedisStock(commands, Plan.ITEM);
    stock.fill(Plan.COUPONS);
  }

  /** Runs the sales and returns the verdict. */
  Verdict run() throws InterruptedException, IOException {
    introduce();
    startWorkers();
    RunClock clock = RunClock.start();
    Ledger ledger = new Ledger(clock);
    Faults faults = null;
    Thread faultThread = new Thread(() -> {}, "faults");
    if (masters != null) {
      faults = new Faults(plan, clock, masters, workers, ledger, CouponShop::say);
      faultThread = new Thread(faults::run, "faults");
    }
    for (WorkerProcess worker : workers) {
      worker.reportTo(message -> ledger.accept(worker.number(), message));
      worker.command("open");
    }
    faultThread.start();
    showProgress(clock, ledger);
    faultThread.join();
    closeShop();
    return judge(clock, clock.now(), ledger, faults);
  }

  private void introduce() {
    say(
        String.format(
            Locale.ROOT,
            "demo: %d worker processes with %d threads each sell coupons from one stock; seed %d",
            Plan.WORKERS,
            Plan.THREADS,
            plan.seed()));
    if (masters == null) {
      say("demo: the control, without a lock: read the stock, wait, write one less");
    } else {
      say("demo: one lock on " + Plan.MASTERS + " masters: " + masters.server());
    }
  }

  private void startWorkers() throws InterruptedException {
    List<String> uris = masters == null ? List.of() : masters.uris();
    for (int i = 1; i <= Plan.WORKERS; i++) {
      String settings = Worker.settings(i, till.uris().get(0), uris, plan.seed());
      workers.add(new WorkerProcess(i, settings));
    }
    if (masters != null) {
      awaitTrust(masters);
    }
    for (WorkerProcess worker : workers) {
      worker.awaitReady(START_PATIENCE);
    }
  }

  /**
   * Waits until all masters vote. New masters are quarantined: a client cannot distinguish them
   * from masters that crashed and lost their keys. The demo could turn the guard off for the first
   * start, but then it would be off later too.
   */
  private static void awaitTrust(Masters masters) throws InterruptedException {
    boolean told = false;
    while (!masters.allVote()) {
      if (!told && !masters.untilTrusted().isZero()) {
        told = true;
        say(
            "demo: the masters have just started and may have lost leases in a crash;"
                + " they vote in "
                + Masters.upToSeconds(masters.untilTrusted()));
      }
      Thread.sleep(20);
    }
  }

  private void showProgress(RunClock clock, Ledger ledger) throws InterruptedException {
    int before = 0;
    for (int second = 1; second <= plan.length().toSeconds(); second++) {
      long left = second * 1_000_000_000L - clock.now();
      if (left > 0) {
        Thread.sleep(left / 1_000_000);
      }
      int sold = ledger.count(Outcome.SOLD);
      say(
          String.format(
              Locale.ROOT,
              "%4d s  sold %,7d  %+5d/s  %s%s",
              second,
              sold,
              sold - before,
              masters == null ? "" : String.format(Locale.ROOT, "%-28s", ledger.holder()),
              masters == null ? "no lock, no holder" : masters.summary()));
      before = sold;
    }
  }

  private void closeShop() throws InterruptedException {
    List<WorkerProcess> living = workers.stream().filter(WorkerProcess::alive).toList();
    living.forEach(worker -> worker.command("close"));
    for (WorkerProcess worker : living) {
      try {
        worker.awaitDone(CLOSE_PATIENCE);
      } catch (IllegalStateException e) {
        failures.add(String.valueOf(e.getMessage()));
      }
    }
  }

  private Verdict judge(RunClock clock, long endNanos, Ledger ledger, @Nullable Faults faults)
      throws IOException {
    List<HolderLane> holders = ShopTimeline.holders(ledger, endNanos);
    List<NodeLane> nodes = new ArrayList<>();
    if (masters != null && faults != null) {
      for (int i = 0; i < Plan.MASTERS; i++) {
        nodes.add(new NodeLane(Faults.master(i), masters.phases(i, clock, endNanos)));
      }
      failures.addAll(faults.failures(endNanos));
    }
    List<String> refusals = ledger.refusals();
    refusals.stream().limit(3).forEach(CouponShop::say);
    Verdict.Seen seen =
        new Verdict.Seen(
            plan,
            Audit.of(stock.book(), Plan.COUPONS, stock.readUnchecked()),
            ledger.waitsNanos(),
            ledger.count(Outcome.REJECTED),
            ledger.count(Outcome.VIOLATION),
            Timeline.builder("", endNanos).holders(holders).build().overlaps().size(),
            refusals.size(),
            ledger.longestGap(endNanos),
            failures);
    Verdict verdict = Verdict.of(seen);
    Timeline timeline =
        ShopTimeline.of(
            plan,
            verdict,
            ledger,
            holders,
            nodes,
            faults == null ? List.of() : faults.told(),
            endNanos);
    Files.writeString(plan.page(), TimelineHtml.render(timeline));
    say("demo: picture: " + plan.page());
    return verdict;
  }

  static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }

  @Override
  public void close() {
    workers.forEach(WorkerProcess::close);
    redis.shutdown();
    if (masters != null) {
      masters.close();
    }
    till.close();
  }
}
