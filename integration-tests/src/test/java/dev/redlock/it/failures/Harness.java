package dev.redlock.it.failures;

import dev.redlock.it.failures.Nemesis.Fault;
import dev.redlock.operations.NodeState;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisReplyException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;

/** Runs the workers, injects faults into them and into the masters, and waits for the recovery. */
final class Harness {
  private static final Duration LOOK = Duration.ofMillis(100);

  private final Plan plan;
  private final Random random;
  private final List<Nemesis> still = new ArrayList<>();
  private int secondHolders;

  /**
   * The settings of a run.
   *
   * @param out the directory for history and picture
   */
  record Plan(
      Settings settings,
      int workers,
      Duration length,
      List<Nemesis> nemeses,
      long seed,
      Path out,
      boolean progress) {}

  Harness(Plan plan) {
    this.plan = plan;
    this.random = new Random(plan.seed());
  }

  /** Executes the whole run. The verdict depends only on the returned history. */
  List<Event> run() throws InterruptedException {
    Path scratch = plan.out().resolve("clocks");
    try (History history = new History(plan.out().resolve("history.txt"));
        RunningSystem world =
            new RunningSystem(plan.settings(), plan.workers(), history, scratch, plan.seed())) {
      say("masters: " + world.source());
      Thread looking = watch(world);
      try {
        world.awaitReady();
        say(plan.workers() + " workers, seed " + plan.seed() + ", faults begin");
        say("n0 to n4 are the masters; w1.2 is the second process of worker 1");
        history.add("harness", "begin", "seed", plan.seed());
        long end = System.nanoTime() + plan.length().toNanos();
        while (System.nanoTime() - end < (isFutile() ? plan.length().toNanos() : 0)) {
          if (plan.settings().guard()) {
            strike(world);
          } else {
            strikeBeyondTheAssumptions(world);
          }
        }
        comeToRest(world);
      } finally {
        looking.interrupt();
        looking.join(5_000);
      }
      return history.events();
    }
  }

  /** One fault, or two at the same time, and the recovery. */
  private void strike(RunningSystem world) throws InterruptedException {
    History history = world.history();
    Nemesis nemesis = next();
    long lease = plan.settings().leaseTime().toMillis();
    if (nemesis.losesKeysUnnoticed()) {
      awaitAllVoting(world);
      Thread.sleep(lease); // By then every lease is stored on all masters.
    }
    List<Fault> faults = new ArrayList<>();
    faults.add(begin(world, nemesis));
    if (!nemesis.losesKeysUnnoticed() && random.nextInt(3) == 0) {
      Thread.sleep(random.nextInt(500));
      Nemesis second = plan.nemeses().get(random.nextInt(plan.nemeses().size()));
      if (!second.losesKeysUnnoticed() && second != nemesis) {
        begin(world, second, faults);
      }
    }
    for (Fault fault : faults) {
      Thread.sleep(fault.length().toMillis());
      end(fault);
    }
    if (nemesis.losesKeysUnnoticed()) {
      Thread.sleep(lease);
    }
    world.lookForImmortals();
    history.add("harness", "recovered");
    awaitServed(world);
  }

  /**
   * Each fault occurs once, in random order, before any fault repeats, so that short runs also
   * contain most of them.
   */
  private Nemesis next() {
    if (still.isEmpty()) {
      still.addAll(plan.nemeses());
      Collections.shuffle(still, random);
    }
    return still.remove(still.size() - 1);
  }

  private Fault begin(RunningSystem world, Nemesis nemesis) {
    List<Fault> one = new ArrayList<>();
    begin(world, nemesis, one);
    return one.get(0);
  }

  /**
   * A second fault may hit a process that the first fault has stopped, or a master that replies
   * with errors by the first. Then only the first fault counts.
   */
  private void begin(RunningSystem world, Nemesis nemesis, List<Fault> faults) {
    try {
      Fault fault = nemesis.begin(world, random);
      faults.add(fault);
      world
          .history()
          .add(
              "harness",
              "fault",
              "code",
              nemesis.code(),
              "where",
              fault.where(),
              "text",
              fault.text());
      say(line(nemesis, fault));
    } catch (IllegalStateException | UncheckedIOException | RedisReplyException e) {
      if (faults.isEmpty()) {
        throw e;
      }
      say(nemesis.label() + ": not now: " + e.getMessage());
    }
  }

  private void end(Fault fault) {
    try {
      fault.end().run();
    } catch (IllegalStateException e) {
      say(fault.where() + ": " + e.getMessage()); // The other fault has ended this process before.
    }
  }

  /**
   * The control: the guard is off, and a majority of masters forgets within one lease time. Two
   * holders must be found, also on a busy machine, where masters start slowly and waiting workers
   * find out late. So the holder is stopped: it cannot repair its keys, and it cannot be done
   * before another worker is granted the lock, or its lease is over.
   */
  private void strikeBeyondTheAssumptions(RunningSystem world) throws InterruptedException {
    awaitAllVoting(world);
    History history = world.history();
    long patience = plan.settings().leaseTime().toNanos() * 4;
    Optional<Event> granted = history.await(history.size(), Harness::isGrantOfStill, patience);
    if (granted.isEmpty()) {
      return;
    }
    WorkerProcess holder = world.holderOf("still").orElseThrow();
    holder.pause();
    List<RedisNode> shuffled = new ArrayList<>(world.masters().stream().toList());
    Collections.shuffle(shuffled, random);
    history.add("harness", "fault", "code", "N1", "where", "n", "text", "three forget");
    say(
        Nemesis.KILL_EMPTY.label()
            + ": three masters killed and restarted empty, and the holder is stopped");
    int from = history.size();
    shuffled.subList(0, Settings.QUORUM).parallelStream().forEach(RedisNode::restart);
    long until = granted.get().number("until");
    long second =
        history
            .await(from, Harness::isGrantOfStill, until - System.nanoTime())
            .map(Event::atNanos)
            .orElse(until);
    secondHolders += second - until < 0 ? 1 : 0;
    say(second - until < 0 ? "a second holder" : "no second holder during the first lease");
    holder.resume();
    history.add("harness", "recovered");
    awaitServed(world);
  }

  /** Whether the control has proved nothing yet; then it goes on for as long again. */
  private boolean isFutile() {
    return !plan.settings().guard() && secondHolders == 0;
  }

  private static boolean isGrantOfStill(Event event) {
    return event.is("acquired") && event.list("names").contains("still");
  }

  /**
   * Waits until a worker was granted the hot lock after all had a quorum, or for much longer than
   * that may take.
   */
  private void awaitServed(RunningSystem world) throws InterruptedException {
    for (WorkerProcess worker : world.workers()) {
      worker.awaitReady(60);
    }
    long patience = plan.settings().leaseTime().toMillis() + 12_000;
    long deadline = System.nanoTime() + patience * 1_000_000;
    while (System.nanoTime() - deadline < 0) {
      List<Event> events = world.history().events();
      List<Checks.Recovery> all = Checks.recoveries(events, Settings.HOT, Settings.QUORUM);
      long recovered = world.history().last(e -> e.is("recovered")).map(Event::atNanos).orElse(0L);
      if (!all.isEmpty() && all.get(all.size() - 1).recoveredNanos() >= recovered) {
        return;
      }
      Thread.sleep(LOOK.toMillis());
    }
    say("no grant since the last fault:\n" + world.describe());
  }

  private void awaitAllVoting(RunningSystem world) throws InterruptedException {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (!allVote(world)) {
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException("masters do not vote again:\n" + world.describe());
      }
      Thread.sleep(20);
    }
  }

  /** Whether every worker counts the votes of every master. */
  private static boolean allVote(RunningSystem world) {
    return world.workers().stream()
        .map(WorkerProcess::who)
        .map(who -> world.history().last(e -> e.is("voting") && e.who().equals(who)))
        .allMatch(last -> last.isPresent() && last.get().number("count") == Settings.MASTERS);
  }

  /** Ends the faults, then the work; keys that remain afterwards remain for good. */
  private void comeToRest(RunningSystem world) throws InterruptedException {
    History history = world.history();
    awaitAllVoting(world);
    Thread.sleep(plan.settings().leaseTime().toMillis()); // The leases of dead workers expire.
    history.add("harness", "stopping");
    say("stopping");
    world.workers().forEach(worker -> worker.order("stop"));
    for (WorkerProcess worker : world.workers()) {
      worker.awaitDone(60);
    }
    long deadline = System.nanoTime() + 2_000_000_000L;
    List<String> left = world.lockKeys();
    while (!left.isEmpty() && System.nanoTime() - deadline < 0) {
      Thread.sleep(20);
      left = world.lockKeys();
    }
    left.forEach(key -> history.add("harness", "orphan", "key", key));
    world.lookForImmortals();
    world.tellRegisters();
    history.add("harness", "end");
  }

  /**
   * Records the states of the masters as an observing client sees them, and sometimes prints
   * progress.
   */
  private Thread watch(RunningSystem world) {
    Thread thread =
        new Thread(
            () -> {
              List<String> last = new ArrayList<>();
              long said = System.nanoTime();
              try {
                while (true) {
                  List<NodeState> seen = world.observer().operations().nodes();
                  for (int i = 0; i < seen.size(); i++) {
                    String state = world.masters().get(i).state() + "/" + seen.get(i).state();
                    if (last.size() <= i || !last.get(i).equals(state)) {
                      world.history().add("n" + i, "state", "is", state);
                    }
                    if (last.size() <= i) {
                      last.add(state);
                    }
                    last.set(i, state);
                  }
                  if (System.nanoTime() - said > 10_000_000_000L) {
                    said = System.nanoTime();
                    say(progress(world.history().events(), seen));
                  }
                  Thread.sleep(20);
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "onlooker");
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static String progress(List<Event> events, List<NodeState> masters) {
    return String.format(
        Locale.ROOT,
        "acquisitions=%d faults=%d masters %s",
        events.stream().filter(e -> e.is("acquired")).count(),
        events.stream().filter(e -> e.is("fault")).count(),
        masters.stream().map(NodeState::state).toList());
  }

  private final long startedNanos = System.nanoTime();

  private void say(String text) {
    if (plan.progress()) {
      double seconds = (System.nanoTime() - startedNanos) / 1e9;
      System.out.printf(Locale.ROOT, "%7.1f s  %s%n", seconds, text);
    }
  }

  /** Describes a fault that begins. */
  static String line(Nemesis nemesis, Fault fault) {
    String length = fault.length().isZero() ? "" : " for " + fault.length().toMillis() + " ms";
    return nemesis.label() + ": " + fault.where() + " " + fault.text() + length;
  }
}
