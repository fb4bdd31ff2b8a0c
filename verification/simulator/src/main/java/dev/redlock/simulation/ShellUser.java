package dev.redlock.simulation;

import static java.util.Objects.requireNonNull;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockQueueFullException;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.RedlockClosedException;
import dev.redlock.internal.SimulatedClient;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** A caller of the API of a client as it ships, by futures. */
final class ShellUser extends SimUser {
  private final ShellClient process;
  private Call call;
  private Lease lease;
  private int count;
  private boolean doomed;

  ShellUser(ShellClient client, int index) {
    super(client, index);
    process = client;
  }

  /** One call of an acquire, which is answered once. */
  private final class Call {
    final boolean must;
    final String names;
    boolean over;
    CompletableFuture<?> asked;

    Call(boolean must, String names) {
      this.must = must;
      this.names = names;
    }

    void settle() {
      if (over) {
        world.failed(new Violation("once", name + " got two replies"));
        return;
      }
      over = true;
      world.wishes--;
    }
  }

  @Override
  void wish(boolean must, int keySet, long waitNanos) {
    Rng rng = world.rng;
    count++;
    DistributedLock lock =
        process.redlock.lock(
            scenario.keySets.get(keySet).names(),
            process.isLonger()
                ? requireNonNull(scenario.longer)
                : must ? scenario.options : scenario.anyOptions(rng));
    boolean singleTry = !must && rng.chance(scenario.singleTry);
    long wait = must ? waitNanos : rng.between(0, 2 * waitNanos);
    Call c = new Call(must, lock.names().toString());
    call = c;
    world.wishes++;
    if (world.tracing) {
      world.row(name, (singleTry ? "tries " : "wants ") + c.names + " within " + Scenario.ms(wait));
    }
    if (singleTry) {
      CompletableFuture<Optional<Lease>> asked = lock.tryAcquireAsync();
      c.asked = asked;
      asked.whenComplete(
          (got, failure) -> answered(c, got == null ? null : got.orElse(null), failure));
    } else {
      CompletableFuture<Lease> asked = lock.acquireAsync(Duration.ofNanos(wait));
      c.asked = asked;
      asked.whenComplete((got, failure) -> answered(c, got, failure));
    }
    if (!must && rng.chance(scenario.cancel)) {
      client.atMono(client.mono() + rng.between(1, Math.max(2, wait / 2)), () -> cancel(c));
    }
  }

  @Override
  void dieWith(int keySet, long waitNanos) {
    doomed = true;
    client.soon(() -> wish(true, keySet, waitNanos));
  }

  void giveUp() {
    if (call != null && !call.must && call.asked != null) {
      cancel(call);
    }
  }

  private void cancel(Call c) {
    if (!c.over && !c.asked.isDone()) {
      world.row(name, "gives up");
      if (world.rng.chance(0.5)) {
        c.asked.cancel(false);
      } else {
        c.asked.completeExceptionally(new ShellClient.Thrown());
      }
    }
  }

  private void answered(Call c, Lease got, Throwable failure) {
    if (!process.alive) {
      if (!c.over) {
        c.settle();
      }
      return;
    }
    c.settle();
    world.history.mix(got != null ? 11 : 13);
    if (got != null) {
      granted(c, got);
    } else {
      refused(c, failure);
    }
    if (process.throwsNow()) {
      throw new ShellClient.Thrown();
    }
    process.userBlocks();
  }

  private void refused(Call c, Throwable given) {
    Throwable failure = given instanceof CompletionException ? given.getCause() : given;
    if (world.tracing) {
      world.row(name, "refused: " + failure);
    }
    boolean known =
        failure == null
            || failure instanceof LockTimeoutException
            || failure instanceof QuorumUnavailableException
            || failure instanceof LockQueueFullException
            || failure instanceof RedlockClosedException
            || failure instanceof java.util.concurrent.CancellationException
            || failure instanceof ShellClient.Thrown;
    if (!known) {
      world.failed(new IllegalStateException(name + " was refused by", failure));
    } else if (failure instanceof RedlockClosedException && !process.closing) {
      world.failed(new Violation("closed", name + " was refused by an open client"));
    }
    if (c.must) {
      world.failed(new Violation("liveness", name + " waited in vain: " + failure));
    }
    if (!process.closing) {
      think();
    }
  }

  private void granted(Call c, Lease got) {
    lease = got;
    process.keep(got);
    if (world.tracing) {
      world.row(name, Describe.holds(SimulatedClient.held(got), client));
    }
    if (doomed) {
      world.at(world.now, () -> world.replace(client, "dies with " + SimulatedClient.id(got)));
      return;
    }
    Rng rng = world.rng;
    int t = count;
    long hold = c.must ? Scenario.MS : rng.between(0, 2 * scenario.holdNanos);
    if (!c.must && rng.chance(scenario.hang)) {
      hold = 20 * scenario.ttlNanos; // A worker that hangs.
    }
    if (rng.chance(0.8)) { // The others ask when it is over.
      got.whenEnded().thenAccept(end -> ended(got, end));
    }
    if (!c.must && rng.chance(scenario.userExtend)) {
      client.atMono(
          client.mono() + rng.between(1, Math.max(2, hold)),
          () -> {
            if (count == t && lease == got) {
              process.answered("an extension", got.extendAsync().toCompletableFuture());
            }
          });
    }
    client.atMono(client.mono() + hold, () -> release(t, got));
  }

  @Override
  void releaseNow() {
    Lease l = lease;
    if (l != null) {
      client.act(() -> release(count, l));
    }
  }

  private void release(int t, Lease l) {
    if (count != t || lease != l) {
      return;
    }
    world.row(name, "releases " + SimulatedClient.id(l));
    lease = null;
    if (world.faults && world.rng.chance(0.1)) {
      l.close(); // It blocks.
    } else {
      process.answered("a release", l.releaseAsync().toCompletableFuture());
    }
    if (l.isValid()) {
      world.failed(new Violation("release", SimulatedClient.id(l) + " is valid after its release"));
    }
    process.answered("whenEnded", l.whenEnded().toCompletableFuture());
    if (!process.closing) {
      think();
    }
  }

  private void ended(Lease l, LeaseEnd end) {
    if (l.isValid()) {
      world.failed(new Violation("end", SimulatedClient.id(l) + " is valid after its end " + end));
    }
    if (SimulatedClient.held(l).end() != end) {
      world.failed(new Violation("end", SimulatedClient.id(l) + " ended twice, also " + end));
    }
    if (lease == l && process.alive) {
      if (world.tracing) {
        world.row(name, SimulatedClient.id(l) + " ended: " + end);
      }
      lease = null;
      if (!process.closing) {
        think();
      }
    }
    if (process.throwsNow()) {
      throw new ShellClient.Thrown();
    }
    process.userBlocks();
  }

  @Override
  void die() {
    if (call != null && !call.over) {
      call.settle();
    }
    lease = null;
  }

  @Override
  boolean isAnswered() {
    return call == null || call.over;
  }

  @Override
  void requireAnswered() {
    if (!isAnswered()) {
      throw new Violation("liveness", name + " still waits for " + call.names);
    }
  }
}
