package dev.redlock.simulation;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseLostException;
import dev.redlock.RedlockException;
import dev.redlock.RedlockInterruptedException;
import dev.redlock.ReentrantDistributedLock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A thread of a process that calls the blocking methods of the API. */
final class ShellWorker {
  private final ShellClient client;
  private final World world;
  private final Scenario scenario;
  private final String name;
  private SimThread thread;
  private boolean over = true;

  ShellWorker(ShellClient client, int number) {
    this.client = client;
    world = client.world;
    scenario = world.scenario;
    name = client.name() + "/t" + (number + 1);
  }

  /** Closes the client, on a thread of its own or on the thread of the world. */
  static final class Close {
    private final ShellClient client;
    private boolean over;

    Close(ShellClient client) {
      this.client = client;
    }

    void begin(boolean onThread) {
      if (onThread) {
        new SimThread(client, this::run).start();
      } else {
        client.soon(this::run);
      }
    }

    private void run() {
      if (client.isNested()) {
        // The client sees this thread as the one that is paused in the middle of an event.
        new SimThread(client, this::run).start();
        return;
      }
      boolean reaches = client.reachesAllNodes();
      client.redlock.close();
      over = true;
      client.requireClosed(reaches);
    }

    boolean isOver() {
      return over;
    }
  }

  void begin() {
    over = false;
    thread = new SimThread(client, this::run);
    thread.start();
  }

  boolean isOver() {
    return over || !client.alive;
  }

  void requireOver() {
    if (!isOver()) {
      throw new Violation("liveness", name + " still waits");
    }
  }

  private boolean mayContinue() {
    return !world.ending && !client.closing && client.alive;
  }

  private void run() {
    boolean dies = false;
    while (mayContinue() && !dies) {
      client.park(() -> false, world.rng.between(1, 2 * scenario.thinkNanos));
      if (mayContinue()) {
        Thread.interrupted();
        dies = work();
      }
    }
    over = true;
    if (dies && mayContinue()) {
      begin(); // A new thread; the heartbeat finds what the dead one held.
    }
  }

  /** Returns whether the thread dies with the lock. */
  private boolean work() {
    Rng rng = world.rng;
    int keySet = rng.below(scenario.keySets.size());
    DistributedLock lock =
        client.redlock.lock(scenario.keySets.get(keySet).names(), scenario.anyOptions(rng));
    Duration wait = Duration.ofNanos(rng.between(0, 2 * scenario.waitNanos));
    if (rng.chance(0.2)) {
      interruptLater(wait.toNanos());
    }
    try {
      return switch (rng.below(3)) {
        case 0 -> {
          try (Lease lease = lock.acquire(wait)) {
            client.keep(lease);
            hold();
          }
          yield false;
        }
        case 1 -> {
          within(lock, wait);
          yield false;
        }
        default -> reenter(lock, wait);
      };
    } catch (RedlockInterruptedException | InterruptedException e) {
      return false;
    } catch (LeaseLostException e) {
      return false;
    } catch (RedlockException e) {
      return false;
    }
  }

  private void within(DistributedLock lock, Duration wait) {
    boolean fails = client.throwsNow();
    try {
      int answer =
          lock.withLock(
              wait,
              lease -> {
                client.keep(lease);
                hold();
                if (fails) {
                  throw new ShellClient.Thrown();
                }
                return 42;
              });
      if (fails || answer != 42) {
        world.failed(new Violation("withLock", name + " got another result than its body's"));
      }
    } catch (ShellClient.Thrown e) {
      if (!fails) {
        world.failed(new Violation("withLock", name + " got an exception that it did not throw"));
      }
    }
  }

  private boolean reenter(DistributedLock plain, Duration wait) throws InterruptedException {
    ReentrantDistributedLock lock =
        client.redlock.reentrantLock(plain.names().get(0), plain.options());
    int times = 1 + world.rng.below(3);
    if (!lock.tryLock(wait.toNanos(), TimeUnit.NANOSECONDS)) {
      return false;
    }
    client.keep(lock.lease().orElseThrow());
    int entered = 1;
    try {
      for (; entered < times; entered++) {
        if (!lock.tryLock()) {
          world.failed(new Violation("reentrant", name + " could not enter again"));
        }
      }
      if (lock.holdCount() != times) {
        world.failed(new Violation("reentrant", name + " counts " + lock.holdCount()));
      }
    } catch (LeaseLostException e) {
      // The lock was lost between the entries. The thread must leave it nevertheless.
    }
    hold();
    if (world.rng.chance(0.1)) {
      world.row(name, "dies with the lock");
      return true;
    }
    boolean lost = false;
    for (int i = 0; i < entered; i++) {
      try {
        lock.unlock();
      } catch (LeaseLostException e) {
        lost = i == entered - 1;
        if (!lost) {
          world.failed(new Violation("reentrant", name + " lost the lock at an inner unlock"));
        }
      }
    }
    if (lock.holdCount() != 0 || lock.isHeldByCurrentThread()) {
      world.failed(new Violation("reentrant", name + " holds the lock after its last unlock"));
    }
    return false;
  }

  private void hold() {
    client.park(() -> world.ending, world.rng.between(0, 2 * scenario.holdNanos));
  }

  private void interruptLater(long waitNanos) {
    SimThread target = thread;
    client.atMono(
        client.mono() + world.rng.between(1, Math.max(2, waitNanos)), () -> interrupt(target));
  }

  void interrupt() {
    interrupt(thread);
  }

  private static void interrupt(SimThread target) {
    if (!target.isOver()) {
      target.interrupt();
    }
  }
}
