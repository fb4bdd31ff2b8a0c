package dev.redlock.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockClosedException;
import dev.redlock.RedlockException;
import dev.redlock.ReentrantDistributedLock;
import dev.redlock.election.LeaderElection;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.RedisTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls at the same time as the close of a client end, and leave no lease, key or thread. */
@RedisTest(nodes = 3)
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class LifeCycleIT {
  private static final int CYCLES = Integer.getInteger("redlock.lifeCycles", 200);
  private static final int THREADS = 16;
  private static final Duration WAIT = Duration.ofSeconds(2);
  private static final Duration GRACE = Duration.ofSeconds(1);

  /** Longer than the longest close of a client, for calls without their own deadline. */
  private static final Duration NO_DEADLINE = Duration.ofSeconds(6);

  private final RedisNodes nodes;
  private final ExecutorService threads = Executors.newFixedThreadPool(THREADS + 2);

  LifeCycleIT(RedisNodes nodes) {
    this.nodes = nodes;
  }

  @AfterEach
  void endThreads() {
    threads.shutdownNow();
  }

  @Test
  void calls_thatRaceClose_endInTimeAndLeaveNeitherLeaseNorKeyNorThread() throws Exception {
    Set<Thread> before = threadsOfClients();
    Random random = new Random(14);
    int calls = 0;
    for (int i = 0; i < CYCLES; i++) {
      calls += new Cycle(i, random.nextInt(60)).run();
    }
    System.out.println(CYCLES + " clients were closed in the middle of " + calls + " calls");
    Eventually.holds(
        () -> before.containsAll(threadsOfClients()),
        Duration.ofSeconds(20),
        () -> "threads that are left: " + threadsOfClients());
  }

  private static Set<Thread> threadsOfClients() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(t -> t.getName().startsWith("redlock-") || t.getName().startsWith("lettuce-"))
        .collect(Collectors.toSet());
  }

  /** One client: all threads use it in every way, and two of them close it meanwhile. */
  private final class Cycle {
    private final int number;
    private final int callsBeforeClose;
    private final Redlock redlock = Clients.patient(nodes);
    private final AtomicInteger calls = new AtomicInteger();
    private final Queue<Lease> leases = new ConcurrentLinkedQueue<>();
    private final Queue<LeaderElection> elections = new ConcurrentLinkedQueue<>();
    private final AtomicInteger started = new AtomicInteger();
    private final AtomicInteger stopped = new AtomicInteger();

    Cycle(int number, int callsBeforeClose) {
      this.number = number;
      this.callsBeforeClose = callsBeforeClose;
    }

    int run() throws Exception {
      List<Future<?>> users = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int user = i;
        users.add(threads.submit(() -> useUntilClosed(user)));
      }
      while (calls.get() < callsBeforeClose) {
        Thread.onSpinWait();
      }
      Future<?> other = threads.submit(() -> redlock.close());
      redlock.close();
      List<Lease> granted = List.copyOf(leases);
      assertThat(granted).as("cycle %d", number).noneMatch(Lease::isValid);
      for (Future<?> user : users) {
        user.get(NO_DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
      }
      other.get(NO_DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
      assertThat(leases).as("cycle %d", number).noneMatch(Lease::isValid);
      for (LeaderElection election : elections) {
        within("stop", NO_DEADLINE, election.stop());
      }
      assertThat(stopped.get()).as("work stopped, cycle %d", number).isEqualTo(started.get());
      for (String name : List.of("a", "b", "e")) {
        Clients.gone(nodes, name);
      }
      return calls.get();
    }

    private Void useUntilClosed(int user) throws Exception {
      while (true) {
        // Half of the calls use new names.
        int call = calls.incrementAndGet();
        String name = user % 4 < 2 ? "name-" + call : user % 2 == 0 ? "a" : "b";
        long begin = System.nanoTime();
        Duration deadline = user % 8 == 5 || user % 8 == 7 ? NO_DEADLINE : WAIT;
        try {
          use(user, name);
        } catch (RedlockClosedException e) {
          return null;
        } catch (RedlockException e) {
          // Held, collided, or no quorum because connections are being closed: continue.
        } finally {
          assertThat(Duration.ofNanos(System.nanoTime() - begin))
              .as("call of user %d, cycle %d", user, number)
              .isLessThan(deadline.plus(GRACE));
        }
      }
    }

    private void use(int user, String name) throws Exception {
      DistributedLock lock = redlock.lock(name, Clients.options().build());
      switch (user % 8) {
        case 0 -> keep(lock.acquire(WAIT)).close();
        case 1 -> lock.tryAcquire().map(this::keep).ifPresent(Lease::releaseAsync);
        case 2 -> within("release", WAIT, keep(get(lock.acquireAsync(WAIT))).releaseAsync());
        case 3 -> get(lock.tryAcquireAsync()).map(this::keep).ifPresent(Lease::close);
        case 4 -> within("extension", WAIT, keep(lock.acquire(WAIT)).extendAsync());
        case 5 -> enterTwice(redlock.reentrantLock(name));
        case 6 -> {
          within("inspection", WAIT, redlock.operations().inspect(name));
          within("examination", WAIT, redlock.operations().doctor());
          within("breaking", WAIT, redlock.operations().breakLock("c"));
        }
        default -> elect();
      }
    }

    private Lease keep(Lease lease) {
      leases.add(lease);
      return lease;
    }

    private void enterTwice(ReentrantDistributedLock lock) {
      lock.lock();
      try {
        lock.lease().ifPresent(leases::add);
        lock.lock();
        lock.unlock();
      } finally {
        lock.unlock();
      }
    }

    private void elect() throws Exception {
      LeaderElection.Work work =
          new LeaderElection.Work() {
            @Override
            public CompletionStage<?> startWork(Lease lease) {
              started.incrementAndGet();
              leases.add(lease);
              return CompletableFuture.completedStage(null);
            }

            @Override
            public CompletionStage<?> stopWork(LeaderElection.StopReason reason) {
              stopped.incrementAndGet();
              return CompletableFuture.completedStage(null);
            }
          };
      LeaderElection election =
          LeaderElection.builder(redlock, "e", work)
              .options(LockOptions.builder().nodeTimeout(Clients.PATIENCE).build())
              .build();
      elections.add(election);
      election.start();
      if (elections.size() % 2 == 0) {
        within("stop", NO_DEADLINE, election.stop());
      }
      within("look", WAIT, redlock.operations().inspect("e")); // Throws when the client is closed.
    }

    private <T> T get(CompletableFuture<T> future) throws Exception {
      return within("future", WAIT, future);
    }

    private <T> T within(String what, Duration deadline, CompletionStage<T> stage)
        throws Exception {
      try {
        return stage
            .toCompletableFuture()
            .get(deadline.plus(GRACE).toMillis(), TimeUnit.MILLISECONDS);
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RedlockException refused) {
          throw refused;
        }
        throw new AssertionError(what + " failed, cycle " + number, e);
      }
    }
  }
}
