package dev.redlock.it.failures;

import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.NodeRecord;
import dev.redlock.testkit.RedisKey;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.ServerState;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;

/**
 * The set of masters changes while workers lock and masters fail. Six servers run, and three to
 * five of them are members. Operators add, remove and replace members, also dead ones. An operator
 * is a process of its own, or a worker; some are killed or paused in the middle, and another one
 * goes on with another goal. Meanwhile masters, links and workers fail, people look at some of the
 * masters, and workers start with slips in their lists. Another deployment runs beside.
 *
 * <p>One thread makes the changes, another one the faults. The history is that of {@link Harness},
 * so the same checkers verify it.
 */
final class SetFailures {
  /** What is broken on purpose; then the checkers must find overlaps. */
  enum Control {
    NONE,
    /** An operator replaces two of three members at once, without a wait. */
    TWO_AT_ONCE,
    /** Workers do not look at the records of masters: their votes count in each set. */
    RECORDS_IGNORED,
    /** Workers take the records of all deployments for those of theirs. */
    IDENTITIES_IGNORED;

    /** Whether workers start with slips in their lists. The other controls break something else. */
    boolean hasSlips() {
      return this == NONE || this == IDENTITIES_IGNORED;
    }
  }

  /** The settings of a run. */
  record Plan(
      Settings settings,
      int workers,
      Duration length,
      Control control,
      long seed,
      Path out,
      boolean progress) {}

  private static final int POOL = 6;
  private static final int FEWEST = 3;
  private static final int MOST = 5;
  private static final int OPERATORS = 2;
  private static final int WORKERS_BESIDE = 1;
  private static final long STUCK_NANOS = 40_000_000_000L;
  private static final long CHANGE_SECONDS = 90;

  private final Plan plan;
  private final History history;
  private final SetMasters masters;
  private final Beside beside;
  private final RedisNodes registers;
  private final Redlock observer;
  private final List<WorkerProcess> workers = new ArrayList<>();
  private final List<WorkerProcess> operators = new ArrayList<>();
  private final List<WorkerProcess> others = new ArrayList<>(); // Of the deployment beside.
  private final long startedNanos = System.nanoTime();
  private int changes; // Confined to the thread that makes changes.
  private String dead = ""; // The name of a member that is killed until it is removed; likewise.

  private volatile boolean ending;
  private volatile Throwable broken;

  private SetFailures(Plan plan, History history) throws InterruptedException {
    this.plan = plan;
    this.history = history;
    Duration lease = plan.settings().leaseTime();
    masters = new SetMasters(POOL, FEWEST, lease, history);
    beside = new Beside(plan.settings());
    registers = RedisNodes.builder().count(1).start();
    observer =
        plan.settings().client(masters.all().uris().subList(0, FEWEST), new RedlockListener() {});
    if (plan.control().hasSlips()) {
      awaitFounded(); // The first lists may have slips too.
    }
    Map<String, String> worker =
        switch (plan.control()) {
          case RECORDS_IGNORED -> Map.of(Worker.IGNORE_RECORDS, "true");
          case IDENTITIES_IGNORED -> Map.of(Worker.IGNORE_IDENTITIES, "true");
          case NONE, TWO_AT_ONCE -> Map.of();
        };
    for (int place = 1; place <= plan.workers(); place++) {
      workers.add(process(place, worker));
    }
    for (int i = 1; i <= OPERATORS; i++) {
      operators.add(process(plan.workers() + i, Map.of(Worker.OPERATOR, "true")));
    }
    for (int place = 1; place <= WORKERS_BESIDE && plan.control().hasSlips(); place++) {
      others.add(process(place, Map.of(Worker.BESIDE, "beside-")));
    }
  }

  private void awaitFounded() throws InterruptedException {
    long deadline = System.nanoTime() + STUCK_NANOS;
    while (!masters.isFounded()) {
      if (System.nanoTime() - deadline > 0) {
        throw new IllegalStateException("no first record: " + observer.operations().nodes());
      }
      Thread.sleep(50);
    }
  }

  private WorkerProcess process(int place, Map<String, String> properties) {
    Random lists = new Random(plan.seed() * 7 + place);
    boolean isBeside = properties.containsKey(Worker.BESIDE);
    return new WorkerProcess(
        place,
        plan.settings(),
        List.of(),
        () -> isBeside ? beside.list(lists, masters.present()) : list(lists, place),
        properties,
        registers.get(0).uri(),
        history,
        plan.seed() * 1000 + place * 50L + (isBeside ? 25 : 0));
  }

  private List<String> list(Random random, int place) {
    if (ending) {
      return masters.present();
    }
    boolean control = plan.control() == Control.IDENTITIES_IGNORED;
    // In the control, those with a slip work with the other deployment, and the others do not.
    boolean slips = control ? place % 2 == 1 : plan.control().hasSlips() && random.nextBoolean();
    if (!slips) {
      return masters.list(random);
    }
    List<String> list =
        masters.listWithASlip(control ? 1 : random.nextInt(4), random, beside.uris());
    say("a list with a slip for w" + place + ": " + list);
    return list;
  }

  /** Executes the whole run. The verdict depends only on the returned history. */
  static List<Event> run(Plan plan) throws InterruptedException {
    try (History history = new History(plan.out().resolve("history.txt"))) {
      SetFailures run = new SetFailures(plan, history);
      try {
        run.execute();
      } finally {
        run.close();
      }
      return history.events();
    }
  }

  private void execute() throws InterruptedException {
    say("masters: " + masters.all().source());
    for (WorkerProcess process : operators) {
      process.awaitReady(120);
    }
    Thread looking = thread("onlooker", this::look);
    say(plan.workers() + " workers, " + OPERATORS + " operators, seed " + plan.seed());
    say("w" + (plan.workers() + 1) + " and w" + (plan.workers() + 2) + " are the operators");
    history.add("harness", "begin", "seed", plan.seed());
    Thread changing = thread("changes", () -> change(new Random(plan.seed() + 1)));
    Random random = new Random(plan.seed());
    long end = System.nanoTime() + plan.length().toNanos();
    while (System.nanoTime() - end < 0 && broken == null) {
      strike(random);
      replaceStuck(STUCK_NANOS);
    }
    ending = true;
    changing.join();
    looking.interrupt();
    looking.join();
    if (broken != null) {
      throw new IllegalStateException("the harness failed: " + broken, broken);
    }
    comeToRest();
  }

  private List<WorkerProcess> processes() {
    return Stream.of(workers, operators, others).flatMap(List::stream).toList();
  }

  /** The masters that would show the deployment of its list may be gone for good. */
  private void replaceStuck(long nanos) {
    for (WorkerProcess process : processes()) {
      if (process.isStuck(nanos)) {
        say(process.who() + " is not ready: another one starts");
        history.add("harness", "not-ready", "where", process.who());
        process.killAndReplace();
      }
    }
  }

  private interface Body {
    void run() throws InterruptedException;
  }

  private Thread thread(String name, Body body) {
    Thread thread =
        new Thread(
            () -> {
              try {
                body.run();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              } catch (RuntimeException e) {
                broken = e;
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  // The changes.

  private void change(Random random) throws InterruptedException {
    while (!ending) {
      masters.look();
      if (plan.control() == Control.TWO_AT_ONCE) {
        replaceTwoAtOnce(random);
        Thread.sleep(2_000 + random.nextInt(2_000));
      } else {
        oneChange(random);
      }
    }
    if (!dead.isEmpty()) {
      masters.restartEmptyIfAllowed(masters.node(dead));
    }
  }

  private void replaceTwoAtOnce(Random random) {
    List<String> now = new ArrayList<>(masters.newest().members());
    Collections.shuffle(now, random);
    List<RedisNode> others = masters.candidates();
    if (others.size() >= 2) {
      List<String> next =
          List.of(now.get(0), SetMasters.name(others.get(0)), SetMasters.name(others.get(1)));
      say("two members at once: " + now + " to " + next);
      masters.overwrite(next);
    }
  }

  /** One call of an operator, which may be killed or paused meanwhile. */
  private void oneChange(Random random) throws InterruptedException {
    String goal = goal(random);
    int from = history.size(); // Before it may be killed: then its end is seen.
    WorkerProcess operator = operator(random);
    int number = ++changes;
    String who = operator.who();
    say("change " + number + " by " + who + ": " + goal + (dead.isEmpty() ? "" : ", it is dead"));
    history.add("harness", "goal", "change", number, "by", who, "text", goal);
    operator.order("change " + number + " " + goal);
    int fate = random.nextInt(10);
    if (fate < 2) {
      boolean done = await(from, number, who, random.nextInt(10_000)).isPresent();
      if (!done) {
        say("change " + number + ": its operator is killed");
        history.add("harness", "operator-killed", "change", number, "by", who);
        operator.killAndReplace();
      }
    } else if (fate < 3 && await(from, number, who, random.nextInt(6_000)).isEmpty()) {
      say("change " + number + ": its operator is paused");
      attempt(operator::pause);
      Thread.sleep(1_000 + random.nextInt(5_000));
      attempt(operator::resume);
    }
    Optional<Event> end = await(from, number, who, CHANGE_SECONDS * 1_000);
    say("change " + number + ": " + end.map(SetFailures::describe).orElse("no result"));
    if (end.isEmpty()) {
      history.add("harness", "stuck", "change", number);
      operator.killAndReplace();
    }
    reviveDead(random);
  }

  private static String describe(Event end) {
    return switch (end.what()) {
      case "changed" -> end.list("members").size() + " members";
      case "unchanged" -> end.text("why").replace('_', ' ');
      default -> end.what();
    };
  }

  private Optional<Event> await(int from, int number, String who, long millis)
      throws InterruptedException {
    String change = Integer.toString(number);
    return history.await(
        from,
        e ->
            (e.is("gone") && e.who().equals(who))
                || ((e.is("changed") || e.is("unchanged")) && e.text("change").equals(change)),
        millis * 1_000_000);
  }

  private WorkerProcess operator(Random random) throws InterruptedException {
    while (true) {
      WorkerProcess chosen =
          random.nextInt(4) == 0 && plan.control() == Control.NONE
              ? any(workers, random)
              : any(operators, random);
      if (chosen.isReady()) {
        return chosen;
      }
      Thread.sleep(50);
    }
  }

  /** The next goal, as a worker reads it. Sometimes the member to be removed dies before. */
  private String goal(Random random) {
    NodeRecord now = masters.newest();
    int size = now.members().size();
    List<RedisNode> candidates = masters.candidates();
    if (!dead.isEmpty() && !now.members().contains(dead)) {
      dead = "";
    }
    boolean grow = size < MOST && !candidates.isEmpty();
    // An operator that was killed in the middle of a replacement may have left a set of two.
    boolean small = size < FEWEST;
    if (grow && (small || (dead.isEmpty() && random.nextInt(size == FEWEST ? 2 : 3) == 0))) {
      return "add " + candidates.get(0).uri();
    }
    String victim = dead.isEmpty() ? any(now.members(), random) : dead;
    // A member that dies before a change is complete has to come back: each must store the set.
    if (dead.isEmpty() && !small && now.isComplete() && random.nextInt(3) == 0) {
      dead = victim;
      masters.node(victim).kill();
    }
    boolean remove = size >= MOST || (size > FEWEST && random.nextBoolean());
    if (remove || candidates.isEmpty()) {
      return "remove " + victim;
    }
    return "replace " + victim + " " + candidates.get(0).uri();
  }

  private void reviveDead(Random random) {
    if (dead.isEmpty()) {
      return;
    }
    masters.look();
    List<String> members = masters.newest().members();
    if (members.contains(dead) && members.size() >= FEWEST && random.nextBoolean()) {
      return; // It stays dead, and the next operator removes it.
    }
    boolean empty = masters.restartEmptyIfAllowed(masters.node(dead));
    say(dead + " is back, " + (empty ? "empty" : "with its file"));
    dead = "";
  }

  // The faults.

  private record Fault(String label, String where, String text, Duration length, Runnable end) {}

  private void strike(Random random) throws InterruptedException {
    Fault fault;
    try {
      fault = begin(random);
    } catch (IllegalStateException | UncheckedIOException e) {
      Thread.sleep(100); // The other thread has just killed this process.
      return;
    }
    say(
        fault.label()
            + ": "
            + fault.where()
            + " "
            + fault.text()
            + " for "
            + fault.length().toMillis()
            + " ms");
    history.add(
        "harness",
        "fault",
        "code",
        fault.label().split(" ")[0],
        "where",
        fault.where(),
        "text",
        fault.text());
    Thread.sleep(fault.length().toMillis());
    attempt(fault.end());
    lookForImmortals();
    history.add("harness", "recovered");
    awaitServed();
    Thread.sleep(500 + random.nextInt(2_500));
  }

  private Fault begin(Random random) {
    RedisNode node =
        any(masters.all().stream().filter(n -> n.state() == ServerState.RUNNING).toList(), random);
    String lane = "n" + node.index() + (masters.isMember(node) ? "" : "+outside");
    WorkerProcess worker = any(workers, random);
    Duration shortly = Duration.ofMillis(200 + random.nextInt(2_500));
    switch (random.nextInt(plan.control().hasSlips() ? 14 : 10)) {
      case 0, 1 -> {
        node.pause();
        return new Fault(Nemesis.STOP_NODE.label(), lane, "paused", shortly, node::resume);
      }
      case 2 -> {
        node.kill();
        return new Fault(
            Nemesis.KILL_KEEPING.label(),
            lane,
            "killed, back with its file",
            Duration.ofMillis(random.nextInt(1_500)),
            node::restartKeepingData);
      }
      case 3 -> {
        node.kill();
        return new Fault(
            Nemesis.KILL_EMPTY.label(),
            lane,
            "killed, back empty if that is allowed",
            Duration.ofMillis(random.nextInt(1_500)),
            () -> forget(node));
      }
      case 4, 5 -> {
        String who = worker.who();
        worker.pause();
        Duration length = Duration.ofMillis(200L << random.nextInt(7));
        return new Fault(Nemesis.STOP_CLIENT.label(), who, "paused", length, worker::resume);
      }
      case 6, 12 -> {
        String who = worker.who();
        worker.killAndReplace();
        return new Fault(
            Nemesis.KILL_HOLDER.label(),
            who,
            "killed, and another starts",
            Duration.ZERO,
            () -> {});
      }
      case 7 -> {
        node.gate().delay(Duration.ofMillis(random.nextInt(60)), Duration.ofMillis(60));
        return new Fault(Nemesis.LATENCY.label(), lane, "is slow", shortly, node.gate()::endFaults);
      }
      case 10, 11 -> {
        return lookAt(random);
      }
      case 13 -> {
        WorkerProcess other = any(others, random);
        String who = other.who();
        other.killAndReplace();
        return new Fault(
            Nemesis.KILL_HOLDER.label(),
            who,
            "killed, and another starts",
            Duration.ZERO,
            () -> {});
      }
      case 8 -> {
        masters.all().forEach(n -> n.gate().resetConnections());
        return new Fault(Nemesis.RESET.label(), "links", "all reset", Duration.ZERO, () -> {});
      }
      default -> {
        boolean deaf = random.nextBoolean();
        if (deaf) {
          node.gate().dropReplies();
        } else {
          node.gate().cut();
        }
        String text = deaf ? "is not heard by any client" : "is cut off from all clients";
        return new Fault(Nemesis.PARTITION.label(), lane, text, shortly, node.gate()::endFaults);
      }
    }
  }

  /** A person looks, with one master or a list that mixes deployments. */
  private Fault lookAt(Random random) {
    List<String> list = new ArrayList<>();
    for (int i = 1 + random.nextInt(3); i > 0; i--) {
      list.add(any(random.nextInt(4) == 0 ? beside.uris() : masters.all().uris(), random));
    }
    List<String> distinct = list.stream().distinct().toList();
    Redlock look = plan.settings().look(distinct);
    return new Fault(
        "look",
        "a person",
        "looks at " + distinct,
        Duration.ofMillis(100 + random.nextInt(1_000)),
        () -> {
          look.operations().doctor().toCompletableFuture().join();
          look.operations().nodes();
          look.close();
        });
  }

  /** While a client starts, masters keep their keys: it must find the present set. */
  private void forget(RedisNode node) {
    boolean starting = processes().stream().anyMatch(process -> !process.isReady());
    if (starting || plan.control() != Control.NONE) {
      node.restartKeepingData();
    } else if (masters.restartEmptyIfAllowed(node)) {
      history.add("n" + node.index(), "forgot");
      say("n" + node.index() + " is back, empty");
    }
  }

  private static void attempt(Runnable action) {
    try {
      action.run();
    } catch (IllegalStateException | UncheckedIOException e) {
      // The other thread has killed or replaced this process.
    }
  }

  /** Waits until a worker was granted the hot lock after all had a quorum, or for long. */
  private void awaitServed() throws InterruptedException {
    long patience = plan.settings().leaseTime().toNanos() + 12_000_000_000L;
    long deadline = System.nanoTime() + patience;
    while (System.nanoTime() - deadline < 0) {
      List<Event> events = history.events();
      List<Checks.Recovery> all = Checks.recoveries(events, Settings.HOT, FEWEST);
      long recovered = history.last(e -> e.is("recovered")).map(Event::atNanos).orElse(0L);
      if (!all.isEmpty() && all.get(all.size() - 1).recoveredNanos() >= recovered) {
        return;
      }
      Thread.sleep(200);
    }
    say("no grant since the last fault:\n" + masters.all().describe());
  }

  // The end, and what is seen meanwhile.

  /** Completes the last change, ends the work, and looks for what remains. */
  private void comeToRest() throws InterruptedException {
    say("completing the last change");
    Thread.sleep(2_000);
    replaceStuck(20_000_000_000L); // With the present list.
    for (WorkerProcess process : processes()) {
      process.awaitReady(120);
    }
    boolean complete = plan.control() != Control.NONE;
    for (int i = 0; i < 3 && !complete; i++) {
      masters.look();
      int number = ++changes;
      int from = history.size();
      WorkerProcess last = operators.get(i % OPERATORS);
      String member = masters.newest().members().get(0);
      last.order("change " + number + " add " + member);
      Optional<Event> end = await(from, number, last.who(), CHANGE_SECONDS * 1_000);
      complete = end.isPresent() && end.get().is("changed");
      say("change " + number + ": " + end.map(SetFailures::describe).orElse("no result"));
    }
    masters.look();
    history.add("harness", complete ? "complete" : "stuck", "change", changes);
    Thread.sleep(plan.settings().leaseTime().toMillis()); // The leases of dead workers expire.
    history.add("harness", "stopping");
    say("stopping");
    processes().forEach(process -> process.order("stop"));
    for (WorkerProcess process : processes()) {
      process.awaitDone(60);
    }
    long deadline = System.nanoTime() + 2_000_000_000L;
    List<String> left = MasterKeys.locks(masters.all());
    while (!left.isEmpty() && System.nanoTime() - deadline < 0) {
      Thread.sleep(20);
      left = MasterKeys.locks(masters.all());
    }
    left.forEach(key -> history.add("harness", "orphan", "key", key));
    lookForImmortals();
    if (!beside.isUnchanged()) {
      history.add("harness", "broken", "why", "the records of the other deployment have changed");
    }
    try (Register register = new Register(registers.get(0).uri())) {
      for (String name : List.of(Register.CHECKED, Register.UNCHECKED)) {
        history.add("harness", "final", "register", name, "value", register.finalValue(name));
      }
    }
    history.add("harness", "end");
  }

  /** Reads the records, and tells the states of the masters as an observing client sees them. */
  private void look() throws InterruptedException {
    Map<String, String> last = new HashMap<>();
    long said = System.nanoTime();
    while (true) {
      masters.look();
      Map<String, NodeState.State> seen = new HashMap<>();
      observer.operations().nodes().forEach(node -> seen.put(node.nameInSet(), node.state()));
      for (RedisNode node : masters.all()) {
        String state = node.state() + "/" + seen.get(SetMasters.name(node));
        if (!state.equals(last.put("n" + node.index(), state))) {
          history.add("n" + node.index(), "state", "is", state);
        }
      }
      if (System.nanoTime() - said > 10_000_000_000L) {
        said = System.nanoTime();
        long granted = history.events().stream().filter(e -> e.is("acquired")).count();
        say("acquisitions=" + granted + " " + masters.newest() + " " + last.values());
      }
      Thread.sleep(150);
    }
  }

  private void lookForImmortals() {
    for (RedisNode master : masters.all()) {
      for (RedisKey key : MasterKeys.of(master)) {
        if (key.name().startsWith("redlock:")
            && !key.name().equals("redlock:%node")
            && key.ttl().isEmpty()) {
          history.add("n" + master.index(), "immortal", "key", key.name());
        }
      }
    }
  }

  private static <T> T any(List<T> all, Random random) {
    return all.get(random.nextInt(all.size()));
  }

  private void say(String text) {
    if (plan.progress()) {
      double seconds = (System.nanoTime() - startedNanos) / 1e9;
      System.out.printf(Locale.ROOT, "%7.1f s  %s%n", seconds, text);
    }
  }

  private void close() {
    processes().forEach(WorkerProcess::close);
    observer.close();
    registers.close();
    beside.close();
    masters.close();
  }
}
