package dev.redlock.bench.system;

import dev.redlock.bench.load.Competition;
import dev.redlock.bench.load.Observed;
import dev.redlock.bench.load.Rounds;
import dev.redlock.bench.load.Section;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Clients in this JVM. Each caller is a thread. */
public final class JvmCrowd implements Crowd {
  private final List<LockClient> clients;
  private final @Nullable LongSupplier invalidations;
  private final Runnable onClose;

  /** Wraps these clients and closes them with this object. */
  public JvmCrowd(List<LockClient> clients) {
    this(clients, null, () -> {});
  }

  private JvmCrowd(
      List<LockClient> clients, @Nullable LongSupplier invalidations, Runnable onClose) {
    this.clients = List.copyOf(clients);
    this.invalidations = invalidations;
    this.onClose = onClose;
  }

  /**
   * Connects clients.
   *
   * @param invalidations counts the invalidations of all clients; null if nothing counts them
   * @param onClose ends what the clients share
   */
  static JvmCrowd of(
      int count,
      Supplier<LockClient> connect,
      @Nullable LongSupplier invalidations,
      Runnable onClose) {
    List<LockClient> clients = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        clients.add(connect.get());
      }
      return new JvmCrowd(clients, invalidations, onClose);
    } catch (RuntimeException e) {
      clients.forEach(LockClient::close);
      onClose.run();
      throw e;
    }
  }

  @Override
  public Observed compete(Competition competition, Runnable edge) throws Exception {
    Contest contest = new Contest(competition);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < competition.callers(); i++) {
      int caller = i;
      LockClient client = clients.get(i % competition.clients());
      Thread thread = new Thread(() -> contest.run(client, caller), "bench-caller-" + i);
      thread.setDaemon(true);
      threads.add(thread);
    }
    threads.forEach(Thread::start);
    contest.warm.await(competition.time().toNanos(), TimeUnit.NANOSECONDS);
    edge.run();
    contest.enough.await(competition.time().toNanos(), TimeUnit.NANOSECONDS);
    edge.run();
    contest.over = true;
    for (Thread thread : threads) {
      thread.join();
    }
    return contest.observed();
  }

  /** One competition; shared by its callers. */
  private static final class Contest {
    private final Competition competition;
    private final CountDownLatch warm;
    private final CountDownLatch enough;
    private final List<Section> sections = Collections.synchronizedList(new ArrayList<>());
    private final AtomicLong failures = new AtomicLong();
    private final AtomicReference<String> firstFailure = new AtomicReference<>();

    // Written by the thread that measures, read by the callers.
    private volatile boolean over;

    Contest(Competition competition) {
      this.competition = competition;
      this.warm = new CountDownLatch(competition.warmUp());
      this.enough = new CountDownLatch(competition.warmUp() + competition.grants());
    }

    void run(LockClient client, int caller) {
      for (int turn = 0; !over; turn++) {
        try {
          section(client, caller, "crowd-" + turn % competition.names());
        } catch (Exception e) {
          failures.incrementAndGet();
          firstFailure.compareAndSet(null, e.toString());
        }
      }
    }

    private void section(LockClient client, int caller, String name) throws Exception {
      long asked = System.nanoTime();
      Held held = client.acquire(name);
      long granted = System.nanoTime();
      warm.countDown();
      enough.countDown();
      if (!over) {
        sleep(competition.hold());
      }
      long releasing = System.nanoTime();
      held.release();
      sections.add(new Section(caller, asked, granted, releasing));
      sleep(competition.pause());
    }

    private static void sleep(Duration time) throws InterruptedException {
      if (!time.isZero()) {
        TimeUnit.NANOSECONDS.sleep(time.toNanos());
      }
    }

    Observed observed() {
      return new Observed(sections, failures.get(), firstFailure.get());
    }
  }

  @Override
  public Observed handOver(Rounds rounds) throws Exception {
    List<Section> sections = new ArrayList<>();
    List<ExecutorService> callers = callers(2);
    try {
      long start = System.nanoTime();
      for (int i = 0; mayContinue(rounds, i, start); i++) {
        String name = rounds.name("hand-over", i);
        int holder = i % 2;
        int next = 1 - holder;
        Granted held = callers.get(holder).submit(acquire(holder, name)).get();
        Future<Granted> waiting = callers.get(next).submit(acquire(next, name));
        TimeUnit.NANOSECONDS.sleep(rounds.pause().toNanos());
        Future<Section> released = callers.get(holder).submit(held::release);
        Granted granted = waiting.get();
        sections.add(released.get());
        sections.add(callers.get(next).submit(granted::release).get());
      }
    } finally {
      callers.forEach(ExecutorService::shutdownNow);
    }
    return new Observed(sections, 0, null);
  }

  @Override
  public Observed collide(int count, Rounds rounds) throws Exception {
    List<Section> sections = new ArrayList<>();
    List<ExecutorService> callers = callers(count);
    CyclicBarrier barrier = new CyclicBarrier(count);
    try {
      long start = System.nanoTime();
      for (int i = 0; mayContinue(rounds, i, start); i++) {
        String name = rounds.name("collision", i);
        List<Future<Section>> round = new ArrayList<>();
        for (int caller = 0; caller < count; caller++) {
          Callable<Granted> acquire = acquire(caller, name);
          round.add(
              callers
                  .get(caller)
                  .submit(
                      () -> {
                        barrier.await();
                        return acquire.call().release();
                      }));
        }
        for (Future<Section> section : round) {
          sections.add(section.get());
        }
        TimeUnit.NANOSECONDS.sleep(rounds.pause().toNanos());
      }
    } finally {
      callers.forEach(ExecutorService::shutdownNow);
    }
    return new Observed(sections, 0, null);
  }

  private static boolean mayContinue(Rounds rounds, int done, long start) {
    return done < rounds.count() && System.nanoTime() - start < rounds.time().toNanos();
  }

  private record Granted(Held held, int caller, long askedNanos, long grantedNanos) {
    Section release() throws Exception {
      long releasing = System.nanoTime();
      held.release();
      return new Section(caller, askedNanos, grantedNanos, releasing);
    }
  }

  private Callable<Granted> acquire(int caller, String name) {
    return () -> {
      long asked = System.nanoTime();
      Held held = clients.get(caller).acquire(name);
      return new Granted(held, caller, asked, System.nanoTime());
    };
  }

  /** One thread per caller: in some systems the thread owns the lock. */
  private static List<ExecutorService> callers(int count) {
    AtomicInteger number = new AtomicInteger();
    List<ExecutorService> callers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      callers.add(
          Executors.newSingleThreadExecutor(
              task -> {
                Thread thread = new Thread(task, "bench-caller-" + number.getAndIncrement());
                thread.setDaemon(true);
                return thread;
              }));
    }
    return callers;
  }

  @Override
  public OptionalLong invalidations() {
    return invalidations == null
        ? OptionalLong.empty()
        : OptionalLong.of(invalidations.getAsLong());
  }

  @Override
  public void close() {
    // In parallel: some systems take seconds to close a client.
    clients.parallelStream().forEach(LockClient::close);
    onClose.run();
  }
}
