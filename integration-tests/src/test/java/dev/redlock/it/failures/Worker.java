package dev.redlock.it.failures;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockException;
import dev.redlock.RedlockListener;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The main class of one worker process. Locks as its tasks say, writes what it sees to standard
 * output, and ends when its standard input does.
 */
public final class Worker implements RedlockListener {
  private static final Duration WAIT = Duration.ofSeconds(10);
  private static final long STALL_NANOS = 5_000_000;

  private final String who;
  private final Settings settings;
  private final Redlock redlock;
  private final Register register;
  private final long seed;
  private final PrintStream out =
      new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
  private final AtomicInteger number = new AtomicInteger();

  /** The harness's names of leases, by the secret ids that must not be printed. */
  private final Map<String, String> open = new ConcurrentHashMap<>();

  // Written by the thread that reads orders, read by all tasks.
  private volatile boolean stopping;

  private int voting = -1; // Guarded by this.

  private Worker(Event orders) {
    who = orders.who();
    settings =
        new Settings(
            Duration.ofMillis(orders.number("lease")), orders.text("guard").equals("true"));
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
    while (Settings.voting(redlock) < Settings.QUORUM) {
      Thread.sleep(10);
    }
    tellVoting();
    tell(System.nanoTime(), "ready");
    List<Thread> threads = new ArrayList<>();
    start(threads, 2, this::hot);
    start(threads, 1, this::hold);
    start(threads, 1, this::hang);
    start(threads, 2, this::many);
    start(threads, 1, this::several);
    for (Thread thread : threads) {
      thread.join();
    }
    tell(System.nanoTime(), "idle"); // All is released, and this client still there to clean up.
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

  /** One short section under the hot lock: both registers are read, added to, written. */
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

  /** Holds for several lease times, extended by itself and now and then by hand. */
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

  /** Holds for most of a lease time, never extended: what masters forget is not put back. */
  private void hang(Random random) {
    LockOptions once = redlock.defaultOptions().toBuilder().autoExtend(false).build();
    try (Held held = acquire(redlock.lock("still", once))) {
      held.stay(settings.leaseTime().toMillis() * (50 + random.nextInt(45)) / 100);
    }
  }

  /** One of a thousand names, without automatic extension, and sometimes held too long. */
  private void many(Random random) {
    LockOptions once =
        redlock.defaultOptions().toBuilder().autoExtend(random.nextBoolean()).build();
    // Few names are in demand, the others are mostly free.
    int which = random.nextInt(3) == 0 ? random.nextInt(4) : random.nextInt(1000);
    try (Held held = acquire(redlock.lock("many-" + which, once))) {
      boolean tooLong = random.nextInt(100) == 0;
      held.stay(tooLong ? settings.leaseTime().toMillis() + 50 : random.nextInt(15));
    }
  }

  /** Two or three names at once, out of four. */
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

  /** A lease that is told about. */
  private final class Held implements AutoCloseable {
    private final Lease lease;
    private final String name;
    private long seen;

    Held(Lease lease, long asked) {
      this.lease = lease;
      name = who + "-" + number.incrementAndGet();
      long at = System.nanoTime(); // Before the remaining time: the deadline is no later than told.
      long until = at + lease.remainingValidity().toNanos();
      seen = at;
      tell(
          at,
          "acquired",
          "lease",
          name,
          "names",
          String.join(",", lease.names()),
          "token",
          lease.fencingToken().value(),
          "asked",
          asked,
          "until",
          until);
      open.put(lease.id(), name);
      lease
          .whenEnded()
          .thenAccept(
              how -> {
                tell(System.nanoTime(), "ended", "lease", name, "how", how);
                open.remove(lease.id());
              });
    }

    void stay(long millis) {
      long end = System.nanoTime() + millis * 1_000_000;
      while (System.nanoTime() - end < 0) {
        look();
        pause(Math.max(1, Math.min(10, (end - System.nanoTime()) / 1_000_000)));
      }
      look();
    }

    private void look() {
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

  @Override
  public void onExtended(Lease lease, int repaired) {
    String name = open.get(lease.id());
    long at = System.nanoTime();
    long left = lease.remainingValidity().toNanos();
    if (name != null && left > 0) {
      // When it was asked for is not told; that it is owned now, is.
      tell(at, "extended", "lease", name, "asked", 0, "until", at + left, "repaired", repaired);
    }
  }

  @Override
  public void onNode(Redlock.NodeState node) {
    tellVoting();
  }

  private synchronized void tellVoting() {
    Redlock client = redlock;
    if (client == null) {
      return; // The first news may come before the constructor is done.
    }
    int now = Settings.voting(client);
    if (now != voting) {
      voting = now;
      tell(System.nanoTime(), "voting", "count", now);
    }
  }

  /** Tells when this process did not run, for whatever reason. */
  private void watchStalls() {
    long from = System.nanoTime();
    while (true) {
      pause(3);
      long at = System.nanoTime();
      if (at - from > STALL_NANOS) {
        tell(at, "stall", "from", from);
      }
      from = at; // Telling may take time as well.
      tellVoting();
    }
  }

  private void listen() {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.equals("stop")) {
          stopping = true;
        } else if (line.equals("close")) {
          redlock.close();
          System.exit(0);
        }
      }
    } catch (IOException e) {
      // As good as the end of it.
    }
    Runtime.getRuntime().halt(3);
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
