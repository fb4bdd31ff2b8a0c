package dev.redlock.examples.demo;

import dev.redlock.harness.timeline.Timeline.Fault;
import dev.redlock.harness.timeline.Timeline.Phase;
import dev.redlock.harness.timeline.Timeline.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;

/**
 * Injects the faults of real systems into the run and prints them. Injects them one after another,
 * on one thread.
 */
final class Faults {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Plan plan;
  private final RunClock clock;
  private final Masters masters;
  private final List<WorkerProcess> workers;
  private final Ledger ledger;
  private final Consumer<String> say;
  private final int killed;
  private final int paused;
  // Written by the thread of the faults, read once it has ended.
  private final List<Fault> told = new ArrayList<>();
  private final List<String> failures = new ArrayList<>();

  Faults(
      Plan plan,
      RunClock clock,
      Masters masters,
      List<WorkerProcess> workers,
      Ledger ledger,
      Consumer<String> say) {
    this.plan = plan;
    this.clock = clock;
    this.masters = masters;
    this.workers = workers;
    this.ledger = ledger;
    this.say = say;
    Random random = new Random(plan.seed());
    killed = random.nextInt(Plan.MASTERS);
    paused = (killed + 1 + random.nextInt(Plan.MASTERS - 1)) % Plan.MASTERS;
  }

  /** Injects all faults, spread over the run. Keeps failures for the verdict. */
  void run() {
    try {
      killMaster();
      pauseMaster();
      bringMasterBackEmpty();
      killHolder();
      pauseHolderBeyondItsLease();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      failures.add("a fault could not be injected: " + e.getMessage());
    }
  }

  private void killMaster() throws InterruptedException {
    awaitShare(0.10);
    masters.kill(killed);
    tell(master(killed), "killed (SIGKILL)");
  }

  private void pauseMaster() throws InterruptedException {
    awaitShare(0.20);
    masters.pause(paused);
    tell(
        master(paused), "paused (SIGSTOP): two of five masters are down, three are still a quorum");
    awaitShare(0.32);
    masters.resume(paused);
    tell(master(paused), "resumed");
  }

  private void bringMasterBackEmpty() throws InterruptedException {
    awaitShare(0.36);
    masters.tellWhenTrusted(
        back ->
            say.accept(
                ">>> " + RunClock.seconds(clock.now()) + "  " + master(back) + " votes again"));
    masters.restartEmpty(killed);
    tell(
        master(killed),
        "restarted empty: it may have forgotten leases, so it must not vote for "
            + Masters.upToSeconds(Plan.MAX_LEASE.plusSeconds(2)));
  }

  private void killHolder() throws InterruptedException {
    awaitShare(0.48);
    WorkerProcess worker = likelyHolder();
    Ledger.Stuck stuck = stopInMidSale(worker);
    worker.kill();
    long atNanos = clock.now();
    ledger.cut(stuck, atNanos);
    ledger.away(worker.number(), State.DEAD, atNanos, Long.MAX_VALUE);
    tell(
        name(worker),
        "killed (SIGKILL) during a sale; its lease ends at "
            + RunClock.seconds(clock.of(stuck.untilNanos())));
  }

  private void pauseHolderBeyondItsLease() throws InterruptedException {
    awaitShare(0.70);
    WorkerProcess worker = likelyHolder();
    Ledger.Stuck stuck = stopInMidSale(worker);
    worker.pause();
    long pausedNanos = clock.now();
    tell(
        name(worker),
        "paused (SIGSTOP) between its last check and its write; its lease ends at "
            + RunClock.seconds(clock.of(stuck.untilNanos())));
    awaitNanos(clock.of(stuck.untilNanos()) + 1_000_000_000L);
    worker.command("thaw");
    long resumedNanos = clock.now();
    worker.resume();
    ledger.away(worker.number(), State.PAUSED, pausedNanos, resumedNanos);
    tell(
        name(worker),
        "resumed after the end of its lease: it writes at once, and the shop checks its token");
  }

  private WorkerProcess likelyHolder() {
    int latest = ledger.latestHolder();
    return workers.stream()
        .filter(WorkerProcess::alive)
        .min((a, b) -> Integer.compare(distance(a, latest), distance(b, latest)))
        .orElseThrow(() -> new IllegalStateException("no worker runs"));
  }

  private static int distance(WorkerProcess worker, int latest) {
    return Math.abs(worker.number() - latest);
  }

  private Ledger.Stuck stopInMidSale(WorkerProcess worker) throws InterruptedException {
    worker.command("freeze");
    long deadlineNanos = clock.now() + PATIENCE.toNanos();
    while (clock.now() < deadlineNanos) {
      Optional<Ledger.Stuck> stuck = ledger.stuck(worker.number());
      if (stuck.isPresent()) {
        return stuck.get();
      }
      Thread.sleep(1);
    }
    throw new IllegalStateException(
        name(worker) + " did not get the lock within " + PATIENCE.toSeconds() + " s");
  }

  private void awaitShare(double share) throws InterruptedException {
    awaitNanos((long) (share * plan.length().toNanos()));
  }

  private void awaitNanos(long runNanos) throws InterruptedException {
    long left = runNanos - clock.now();
    if (left > 0) {
      Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
    }
  }

  private void tell(String lane, String what) {
    long atNanos = clock.now();
    told.add(new Fault(atNanos, lane + " " + what, lane));
    say.accept(">>> " + RunClock.seconds(atNanos) + "  " + lane + " " + what);
  }

  List<Fault> told() {
    return told;
  }

  /** The failures of the faults themselves and of their expected consequences. */
  List<String> failures(long endNanos) {
    List<String> all = new ArrayList<>(failures);
    List<Phase> phases = masters.phases(killed, clock, endNanos);
    boolean seenOut =
        phases.stream()
            .anyMatch(
                phase ->
                    phase.state() == State.QUARANTINED
                        && phase.toNanos() - phase.fromNanos() >= Plan.MAX_LEASE.toNanos());
    boolean seenBack = phases.get(phases.size() - 1).state() == State.VOTING;
    if (!seenOut || !seenBack) {
      all.add(
          master(killed)
              + " was not quarantined for "
              + Plan.MAX_LEASE
              + " and back in time: "
              + phases);
    }
    return all;
  }

  static String master(int index) {
    return "master " + (index + 1);
  }

  static String name(WorkerProcess worker) {
    return "worker " + worker.number();
  }
}
