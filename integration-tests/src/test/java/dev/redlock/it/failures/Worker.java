package dev.redlock.it.failures;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockException;
import dev.redlock.RedlockListener;
import dev.redlock.internal.Failpoint;
import dev.redlock.it.Clients;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.SetProgress;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The main class of one worker process. Its tasks lock and unlock. It prints events to standard
 * output, and ends when standard input ends.
 */
public final class Worker implements RedlockListener {
  private static final Duration WAIT = Duration.ofSeconds(10);
  private static final long STALL_NANOS = 5_000_000;

  /** A system property: the process only changes the set of masters, and acquires no other lock. */
  static final String OPERATOR = "redlock.it.operator";

  /** A system property of a control: the client ignores what the nodes say of their set. */
  static final String IGNORE_RECORDS = "redlock.it.ignore-records";

  /** A system property of a control: the client takes all records for those of one deployment. */
  static final String IGNORE_IDENTITIES = "redlock.it.ignore-identities";

  /**
   * A system property: the process belongs to another deployment. Its names have this prefix in the
   * history, and it does not touch the registers.
   */
  static final String BESIDE = "redlock.it.beside";

  private final String who;
  private final Settings settings;
  private final String prefix = System.getProperty(BESIDE, "");
  private final Redlock redlock;
  private final Register register;
  private final long seed;
  private final PrintStream out =
      new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
  private final AtomicInteger number = new AtomicInteger();

  /** The harness's names of leases, by the secret ids that must not be printed. */
  private final Map<String, String> open = new ConcurrentHashMap<>();

  // Written by the thread that reads commands, read by all tasks.
  private volatile boolean stopping;

  private int voting = -1; // Guarded by this.
  private int votingQuorum; // Guarded by this.

  private Worker(Event orders) {
    who = orders.who();
    settings =
        new Settings(
            Duration.ofMillis(orders.number("lease")),
            orders.text("guard").equals("true"),
            orders.text("majority").equals("true"));
    seed = orders.number("seed");
    register = new Register(orders.text("register"));
    redlock = settings.client(orders.list("masters"), this);
  }

  /** Runs one worker; the only argument is an {@link Event} with its settings. */
  public static void main(String[] args) throws Exception {
    new Worker(Event.parse(args[0]).orElseThrow()).run();
  }

  static String orders(
      String who, Settings settings, List<String> masters, String register, long seed) {
    return Event.of(
            System.nanoTime(),
            who,
            "settings",
            "lease",
            settings.leaseTime().toMillis(),
            "guard",
            settings.guard(),
            "majority",
            settings.majorityFirst(),
            "masters",
            String.join(",", masters),
            "register",
            register,
            "seed",
            seed)
        .toString();
  }

  private interface Task {
    void once(Random random) throws Exception;
  }

  private void run() throws Exception {
    daemon("orders", this::listen);
    daemon("stalls", this::watchStalls);
    while (Clients.votes(redlock) < Settings.quorum(redlock)) {
      Thread.sleep(10);
    }
    tellVoting();
    tell(System.nanoTime(), "ready");
    List<Thread> threads = new ArrayList<>();
    if (Boolean.getBoolean(OPERATOR)) {
      while (!stopping) {
        pause(20);
      }
    } else {
      start(threads, prefix.isEmpty() ? 2 : 0, this::hot);
      start(threads, 1, this::hold);
      start(threads, 1, this::hang);
      start(threads, 2, this::many);
      start(threads, 1, this::several);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    tell(
        System.nanoTime(),
        "idle"); // All leases are released, and this client still runs to clean up.
    while (!open.isEmpty()) {
      Thread.sleep(5);
    }
    tell(System.nanoTime(), "done");
    Thread.currentThread().join(); // The harness closes standard input.
  }

  private void start(List<Thread> threads, int count, Task task) {
    for (int i = 0; i < count; i++) {
      Random random = new Random(seed * 31 + threads.size());
      Thread thread =
          new Thread(
              () -> {
                while (!stopping) {
                  try {
                    task.once(random);
                  } catch (RedlockException e) {
                    tell(System.nanoTime(), "refused", "why", e.getClass().getSimpleName());
                  } catch (Exception | Error e) {
                    tell(System.nanoTime(), "broken", "why", e);
                    e.printStackTrace();
                  }
                  pause(10 + random.nextInt(70));
                }
              });
      threads.add(thread);
      thread.start();
    }
  }

  /** One short section under the hot lock: reads both registers, adds one, writes them. */
  private void hot(Random random) {
    try (Held held = acquire(redlock.lock(Settings.HOT))) {
      long token = held.lease.fencingToken().value();
      OptionalLong checked = register.read(token);
      long unchecked = register.read();
      held.stay(random.nextInt(25));
      boolean valid = held.lease.isValid();
      if (valid) {
        held.write(Register.UNCHECKED, unchecked, () -> acknowledged(unchecked));
      }
      // Late or not: the register decides.
      checked.ifPresentOrElse(
          old -> held.write(Register.CHECKED, old, () -> register.write(token, old + 1)),
          () -> tell(System.nanoTime(), "sealed", "lease", held.name));
    }
  }

  private boolean acknowledged(long old) {
    register.write(old + 1);
    return true;
  }

  /** Holds for several lease times, with automatic extension and sometimes a manual one. */
  private void hold(Random random) {
    try (Held held = acquire(redlock.lock("long"))) {
      long lease10 = settings.leaseTime().toMillis() / 10;
      for (int i = 2 + random.nextInt(20); i > 0 && held.lease.isValid() && !stopping; i--) {
        held.stay(lease10);
        if (random.nextInt(5) == 0) {
          held.extend();
        }
      }
    }
  }

  /**
   * Holds for most of a lease time without extension: keys that masters forget are not repaired.
   */
  private void hang(Random random) {
    LockOptions once = redlock.defaultOptions().toBuilder().autoExtend(false).build();
    try (Held held = acquire(redlock.lock("still", once))) {
      held.stay(settings.leaseTime().toMillis() * (50 + random.nextInt(45)) / 100);
    }
  }

  /**
   * Locks one of a thousand names, without automatic extension, and sometimes holds it too long.
   */
  private void many(Random random) {
    LockOptions once =
        redlock.defaultOptions().toBuilder().autoExtend(random.nextBoolean()).build();
    // Few names are contended, the others are mostly free.
    int which = random.nextInt(3) == 0 ? random.nextInt(4) : random.nextInt(1000);
    try (Held held = acquire(redlock.lock("many-" + which, once))) {
      boolean tooLong = random.nextInt(100) == 0;
      held.stay(tooLong ? settings.leaseTime().toMillis() + 50 : random.nextInt(15));
    }
  }

  /** Locks two or three of four names together. */
  private void several(Random random) {
    List<String> names = new ArrayList<>();
    for (int i = 2 + random.nextInt(2); i > 0; i--) {
      names.add("several-" + random.nextInt(4));
    }
    try (Held held = acquire(redlock.lock(names))) {
      held.stay(random.nextInt(15));
    }
  }

  private Held acquire(DistributedLock lock) {
    long asked = System.nanoTime();
    Lease lease = lock.acquire(WAIT);
    return new Held(lease, asked);
  }

  /** A lease whose events are printed. */
  private final class Held implements AutoCloseable {
    private final Lease lease;
    private final String name;
    private long seen;

    Held(Lease lease, long asked) {
      this.lease = lease;
      name = who + "-" + number.incrementAndGet();
      long at =
          System.nanoTime(); // Read before the remaining time, so the deadline is no later than
      // printed.
      long until = at + lease.remainingValidity().toNanos();
      seen = at;
      tell(
          at,
          "acquired",
          "lease",
          name,
          "names",
          lease.names().stream().map(prefix::concat).collect(Collectors.joining(",")),
          "token",
          lease.fencingToken().value(),
          "asked",
          asked,
          "until",
          until);
      String key = key(lease);
      open.put(key, name);
      lease
          .whenEnded()
          .thenAccept(
              how -> {
                tell(System.nanoTime(), "ended", "lease", name, "how", how);
                open.remove(key);
              });
    }

    void stay(long millis) {
      long end = System.nanoTime() + millis * 1_000_000;
      while (System.nanoTime() - end < 0) {
        checkValidity();
        pause(Math.max(1, Math.min(10, (end - System.nanoTime()) / 1_000_000)));
      }
      checkValidity();
    }

    private void checkValidity() {
      long at = System.nanoTime();
      if (lease.isValid()) {
        seen = at;
      }
    }

    void extend() {
      long asked = System.nanoTime();
      try {
        lease.extendAsync().toCompletableFuture().join();
        long at = System.nanoTime();
        long left = lease.remainingValidity().toNanos();
        tell(at, "extended", "lease", name, "asked", asked, "until", left > 0 ? at + left : asked);
      } catch (RuntimeException e) {
        tell(System.nanoTime(), "unextended", "lease", name);
      }
    }

    void write(String register, long old, java.util.function.BooleanSupplier write) {
      tell(System.nanoTime(), "writing", "register", register, "lease", name, "old", old);
      boolean done = write.getAsBoolean();
      tell(
          System.nanoTime(),
          done ? "wrote" : "rejected",
          "register",
          register,
          "lease",
          name,
          "old",
          old);
    }

    @Override
    public void close() {
      long at = System.nanoTime();
      tell(at, "releasing", "lease", name, "valid", lease.isValid(), "seen", seen);
      lease.close();
    }
  }

  private static String key(Lease lease) {
    return lease.fencingToken() + " of " + lease.names();
  }

  @Override
  public void onExtended(Lease lease, int repaired) {
    String name = open.get(key(lease));
    long at = System.nanoTime();
    long left = lease.remainingValidity().toNanos();
    if (name != null && left > 0) {
      // The time of the request is unknown; the ownership now is certain.
      tell(at, "extended", "lease", name, "asked", 0, "until", at + left, "repaired", repaired);
    }
  }

  @Override
  public void onNode(NodeState node) {
    tellVoting();
  }

  private synchronized void tellVoting() {
    Redlock client = redlock;
    if (client == null) {
      return; // The first event may come before the constructor has ended.
    }
    int now = Clients.votes(client);
    int quorum = Settings.quorum(client);
    if (now != voting || quorum != votingQuorum) {
      voting = now;
      votingQuorum = quorum;
      tell(System.nanoTime(), "voting", "count", now, "quorum", quorum);
    }
  }

  /** Prints when this process did not run, for whatever reason. */
  private void watchStalls() {
    long from = System.nanoTime();
    while (true) {
      pause(3);
      long at = System.nanoTime();
      if (at - from > STALL_NANOS) {
        tell(at, "stall", "from", from);
      }
      from = at; // Printing may take time as well.
      tellVoting();
    }
  }

  private void listen() {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals("stop")) {
          stopping = true;
        } else if (line.startsWith("stop-at ")) {
          stopAt(line.split(" "));
        } else if (line.startsWith("change ")) {
          change(line.split(" "));
        } else if (line.equals("close")) {
          redlock.close();
          System.exit(0);
        }
      }
    } catch (IOException e) {
      // Treat it as the end of the input.
    }
    Runtime.getRuntime().halt(3);
  }

  /** Changes the set of masters: {@code change NUMBER add|remove|replace NODE…}. */
  private void change(String[] words) {
    Consumer<SetProgress> steps =
        step -> tell(System.nanoTime(), "step", "change", words[1], "text", step);
    CompletionStage<List<String>> result;
    switch (words[2]) {
      case "add" -> result = redlock.operations().addNode(words[3], steps);
      case "remove" -> result = redlock.operations().removeNode(words[3], steps);
      case "replace" -> result = redlock.operations().replaceNode(words[3], words[4], steps);
      default -> throw new IllegalArgumentException(words[2]);
    }
    result.whenComplete(
        (members, failure) -> {
          if (failure == null) {
            String now = String.join(",", members);
            tell(System.nanoTime(), "changed", "change", words[1], "members", now);
            return;
          }
          Throwable why = failure instanceof CompletionException ? failure.getCause() : failure;
          boolean expected =
              why instanceof RedlockException || why instanceof IllegalStateException;
          if (!expected) {
            tell(System.nanoTime(), "broken", "why", why);
          }
          tell(System.nanoTime(), "unchanged", "change", words[1], "why", why);
        });
  }

  /** Stops this process at the next such step, until the time that the harness has chosen. */
  private void stopAt(String[] words) {
    long until = System.nanoTime() + Long.parseLong(words[2]) * 1_000_000;
    Failpoint.valueOf(words[1])
        .arm(
            () -> {
              long at = System.nanoTime();
              long millis = (until - at) / 1_000_000;
              if (millis > 0) {
                tell(at, "stopping-at", "step", words[1]);
                stopFor(millis);
              }
            });
  }

  private static void stopFor(long millis) {
    try {
      OwnPause.begin(Duration.ofMillis(millis)).waitFor();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void tell(long at, String what, Object... keysAndValues) {
    String line = Event.of(at, who, what, keysAndValues) + "\n";
    synchronized (out) {
      out.print(line);
      out.flush();
    }
  }

  private static void daemon(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
