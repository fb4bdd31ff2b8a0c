package dev.redlock.internal;

import static dev.redlock.internal.ScriptedWorld.check;
import static dev.redlock.internal.ScriptedWorld.started;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.RedlockClosedException;
import dev.redlock.RedlockInterruptedException;
import dev.redlock.ReentrantDistributedLock;
import dev.redlock.internal.ScriptedWorld.Node;
import dev.redlock.redis.internal.scripts.ServerErrors;
import dev.redlock.schedules.Schedule;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReleaseHints;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The state that threads share in a whole client: acquires, leases, hand-offs, and the close. */
public final class ShellScenarios {
  private static final Duration WAIT = Duration.ofSeconds(2);

  private ShellScenarios() {}

  /** All scenarios; each checks what must hold when its threads have ended. */
  public static Map<String, Runnable> all() {
    Map<String, Runnable> all = new LinkedHashMap<>();
    all.put("close races acquireAsync", () -> closeRaces(ShellScenarios::acquireAsync));
    all.put("close races acquire", () -> closeRaces(ShellScenarios::acquire));
    all.put("close races a reentrant lock", () -> closeRaces(ShellScenarios::enter));
    all.put("close races close", ShellScenarios::closeRacesClose);
    all.put("close races a wait for a quorum", ShellScenarios::closeRacesAwaitReady);
    all.put("foreign code throws", ShellScenarios::foreignCodeThrows);
    all.put("a node errs", ShellScenarios::nodeErrs);
    all.put("a grant races a cancel", ShellScenarios::grantRacesCancel);
    all.put("a grant races an interrupt", ShellScenarios::grantRacesInterrupt);
    all.put("a queue retires while a caller comes", ShellScenarios::queueRetires);
    all.put("a queue retires while a holder comes", ShellScenarios::holderComes);
    all.put("two threads take turns", ShellScenarios::takeTurns);
    all.put("a lease ends while it is extended", ShellScenarios::endOfLease);
    all.put("the limit of rounds", ShellScenarios::roundLimit);
    all.put("a reentrant lock of a dead thread", ShellScenarios::orphan);
    return all;
  }

  // Close.

  private interface Caller {
    /** Returns a lease, or null if the client was closed first. */
    CompletableFuture<Lease> call(Client client);
  }

  private static CompletableFuture<Lease> acquireAsync(Client client) {
    return client.lock("x").acquireAsync(WAIT);
  }

  private static CompletableFuture<Lease> acquire(Client client) {
    return CompletableFuture.completedFuture(client.lock("x").acquire(WAIT));
  }

  private static CompletableFuture<Lease> enter(Client client) {
    ReentrantDistributedLock lock = client.reentrantLock("x");
    lock.lock();
    return CompletableFuture.completedFuture(lock.lease().orElseThrow());
  }

  private static void closeRaces(Caller caller) {
    Node node = new Node("a", true);
    Client client = started(node);
    List<CompletableFuture<Lease>> results = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      var unused =
          Schedule.spawn(
              "caller",
              () -> {
                try {
                  results.add(caller.call(client));
                } catch (RedlockClosedException e) {
                  failures.add(e);
                }
              });
    }
    boolean[] closed = {false};
    var unused =
        Schedule.spawn(
            "close",
            () -> {
              client.close();
              closed[0] = true;
              for (CompletableFuture<Lease> result : List.copyOf(results)) {
                check(!isHeld(result), "a lease is valid after close() returned");
              }
            });
    Schedule.awaitOthers();
    check(closed[0], "close() did not return");
    check(results.size() + failures.size() == 2, "a call has not ended");
    for (CompletableFuture<Lease> result : results) {
      check(result.isDone(), "a caller waits for ever");
      check(!isHeld(result), "a lease outlives the client");
    }
    check(node.isFree(), "a key is left");
  }

  private static boolean isHeld(CompletableFuture<Lease> result) {
    return result.isDone() && !result.isCompletedExceptionally() && result.join().isValid();
  }

  private static void closeRacesClose() {
    Node node = new Node("a", false);
    Lease[] lease = new Lease[1];
    Client client = started(node);
    lease[0] = client.lock("x").acquire(WAIT);
    for (int i = 0; i < 2; i++) {
      var unused =
          Schedule.spawn(
              "close",
              () -> {
                client.close();
                check(!lease[0].isValid(), "valid after close");
                check(node.isFree(), "close() returned before the release");
              });
    }
    var unused = Schedule.spawn("holder", lease[0]::close);
    Schedule.awaitOthers();
  }

  /** No node votes. The wait has no time left, and the close comes before or after that. */
  private static void closeRacesAwaitReady() {
    Node node = new Node("a", true);
    Client client = started(node);
    node.become(new NodeStatus(NodeStatus.State.CONNECTING, 2, 0, 0, "gone"));
    var unused =
        Schedule.spawn(
            "caller",
            () -> {
              try {
                check(!client.awaitReady(Duration.ZERO), "ready without a quorum");
              } catch (RedlockClosedException e) {
                // The close was first.
              }
            });
    unused = Schedule.spawn("close", client::close);
    Schedule.awaitOthers();
  }

  // Foreign code, and errors.

  private static final class ThrowingNode extends Node {
    ThrowingNode() {
      super("a", false);
    }

    @Override
    public void waiting(LockKeys keys) {
      throw new NoClassDefFoundError("of a node");
    }
  }

  private static final class ThrowingHints implements ReleaseHints {
    @Override
    public void start(Receiver receiver) {}

    @Override
    public void waiting(String name) {
      throw new IllegalStateException("the bus is closed");
    }

    @Override
    public void idle(String name) {
      throw new NoClassDefFoundError("of a carrier");
    }

    @Override
    public void ended(Ended ended) {
      throw new IllegalStateException("the bus is closed");
    }

    @Override
    public void close() {}
  }

  private static void foreignCodeThrows() {
    Node node = new ThrowingNode();
    Client[] client = new Client[1];
    Schedule.atOnce(
        () ->
            client[0] =
                (Client)
                    ScriptedWorld.builder(node)
                        .hints(new ThrowingHints())
                        .callbackExecutor(Runnable::run)
                        .build());
    int[] served = {0};
    for (int i = 0; i < 2; i++) {
      var unused =
          Schedule.spawn(
              "caller",
              () -> {
                client[0].lock("x").acquire(WAIT).close();
                served[0]++;
              });
    }
    Schedule.awaitOthers();
    check(served[0] == 2, "a caller was not served");
    check(node.isFree(), "a key is left");
  }

  private static final class ErringNode extends Node {
    ErringNode(String name) {
      super(name, false);
    }

    @Override
    NodeReply execute(LockRequest request) {
      // As a server at its memory limit replies to each script that writes.
      return NodeReply.failed(
          1, ServerErrors.of("OOM command not allowed when used memory > 'maxmemory'."));
    }
  }

  private static void nodeErrs() {
    Node well = new Node("a", false);
    Node[] erring = {new ErringNode("b"), new ErringNode("c")};
    Client client = started(well, erring[0], erring[1]);
    int[] refused = {0};
    for (int i = 0; i < 2; i++) {
      var unused =
          Schedule.spawn(
              "caller",
              () -> {
                try {
                  client.lock("x").tryAcquire().ifPresent(Lease::close);
                } catch (QuorumUnavailableException e) {
                  refused[0]++;
                }
              });
    }
    Schedule.awaitOthers();
    letTimePass(Duration.ofMillis(100));
    check(refused[0] > 0, "no caller was told of the errors");
    check(well.isFree(), "a key is left");
    for (int i = 0; i < 2; i++) {
      int pending = client.context().nodes.releasesPending(1 + i);
      check(pending == 0, pending + " releases are pending for a node that executes nothing");
      check(erring[i].requests <= 8, erring[i].requests + " requests to a node that errs");
    }
  }

  // Callers and leases.

  private static void grantRacesCancel() {
    Node node = new Node("a", false);
    Client client = started(node);
    List<CompletableFuture<Lease>> made = new ArrayList<>();
    var one =
        Schedule.spawn(
            "caller",
            () -> {
              CompletableFuture<Lease> future = client.lock("x").acquireAsync(WAIT);
              made.add(future);
              future.cancel(true);
            });
    var two =
        Schedule.spawn(
            "other",
            () -> {
              Optional<Lease> lease = client.lock("x").tryAcquire();
              lease.ifPresent(Lease::close);
            });
    Schedule.awaitOthers();
    check(one != null && two != null && made.get(0).isDone(), "not cancelled");
    // A cancelled future has no lease: whatever was granted must have been released.
    if (made.get(0).isCancelled()) {
      check(node.isFree(), "the client did not release the grant of a cancelled caller");
    }
  }

  private static void grantRacesInterrupt() {
    Node node = new Node("a", false);
    Client client = started(node);
    List<Lease> got = new ArrayList<>();
    int[] interrupted = {0};
    Thread caller =
        Schedule.spawn(
            "caller",
            () -> {
              try {
                got.add(client.lock("x").acquire(WAIT));
              } catch (RedlockInterruptedException e) {
                interrupted[0]++;
              }
            });
    var unused = Schedule.spawn("interrupter", () -> Schedule.interrupt(caller));
    Schedule.awaitOthers();
    check(got.size() + interrupted[0] == 1, "the call has not ended");
    check(got.size() == 1 || node.isFree(), "a grant to an interrupted caller is still held");
  }

  /** A queue that has retired must take no lease: invalidations do not find it. */
  private static void holderComes() {
    Node node = new Node("a", true);
    Client client = started(node);
    String key = LockKeys.of("redlock", List.of("x")).lockKey(0);
    node.heldElsewhereOnce(key);
    List<Lease> held = new ArrayList<>();
    var one =
        Schedule.spawn("visitor", () -> client.lock("x").tryAcquire().ifPresent(Lease::close));
    var two = Schedule.spawn("holder", () -> client.lock("x").tryAcquire().ifPresent(held::add));
    Schedule.awaitOthers();
    check(
        held.isEmpty() || !client.context().locks.of(key).isEmpty(),
        "invalidations do not reach the queue of a lease");
    client.close();
    check(one != null && two != null, "not started");
    check(held.stream().noneMatch(Lease::isValid), "a lease outlives the client");
    check(node.isFree(), "a key is left");
  }

  private static void queueRetires() {
    Node node = new Node("a", true);
    Client client = started(node);
    int[] served = {0};
    int[] inside = {0};
    for (int i = 0; i < 3; i++) {
      var unused =
          Schedule.spawn(
              "caller",
              () -> {
                try (Lease lease = client.lock("x").acquire(WAIT)) {
                  check(++inside[0] == 1 && lease.isValid(), "two holders");
                  inside[0]--;
                }
                served[0]++;
              });
    }
    Schedule.awaitOthers();
    check(served[0] == 3, "a caller was not served");
    letTimePass(Duration.ofSeconds(4));
    check(client.context().locks.size() == 0, "an idle name is kept");
    check(
        client.context().locks.of(LockKeys.of("redlock", List.of("x")).lockKey(0)).isEmpty(),
        "an idle name is kept under its key");
    check(node.isFree(), "a key is left");
  }

  private static void takeTurns() {
    Node node = new Node("a", false);
    Client client = started(node);
    int[] inside = {0};
    int[] served = {0};
    long[] token = {0};
    for (int i = 0; i < 2; i++) {
      var unused =
          Schedule.spawn(
              "caller",
              () -> {
                DistributedLock lock = client.lock("x");
                for (int j = 0; j < 2; j++) {
                  Lease lease = lock.acquire(WAIT);
                  check(++inside[0] == 1, "two holders");
                  check(lease.fencingToken().value() > token[0], "a token is not higher");
                  token[0] = lease.fencingToken().value();
                  inside[0]--;
                  lease.close();
                  served[0]++;
                }
              });
    }
    Schedule.awaitOthers();
    check(served[0] == 4, "a caller was not served");
    check(node.isFree(), "a key is left");
  }

  private static void endOfLease() {
    Node node = new Node("a", false);
    Client client = started(node);
    Lease lease = client.lock("x").acquire(WAIT);
    List<LeaseEnd> told = new ArrayList<>();
    List<CompletableFuture<?>> futures = new ArrayList<>();
    var a =
        Schedule.spawn(
            "watcher",
            () -> {
              ((DefaultLease) lease).core().onEnd(told::add);
              futures.add(lease.whenEnded().toCompletableFuture());
            });
    var b =
        Schedule.spawn("releaser", () -> futures.add(lease.releaseAsync().toCompletableFuture()));
    var c = Schedule.spawn("closer", lease::close);
    var d =
        Schedule.spawn("extender", () -> futures.add(lease.extendAsync().toCompletableFuture()));
    Schedule.awaitOthers();
    check(a != null && b != null && c != null && d != null, "not started");
    check(told.size() >= 1, "the end of a lease was not told");
    check(told.stream().allMatch(LeaseEnd.RELEASED::equals), "ended as " + told);
    check(futures.size() == 3, "a call did not return");
    check(futures.stream().allMatch(CompletableFuture::isDone), "a future is not completed");
    check(!lease.isValid() && node.isFree(), "still held");
  }

  private static void roundLimit() {
    Node[] nodes = {new Node("a", false), new Node("b", false)};
    Client client = started(nodes);
    for (String name : List.of("x", "y", "z")) {
      var unused = Schedule.spawn("caller", () -> client.lock(name).acquire(WAIT).close());
    }
    Schedule.awaitOthers();
    check(
        client.context().nodes.limiter().underWay() == 0,
        "rounds under way: " + client.context().nodes.limiter().underWay());
  }

  private static void orphan() {
    Node node = new Node("a", false);
    Client client = started(node);
    ReentrantDistributedLock lock = client.reentrantLock("x");
    ReentrantHolds holds = new ReentrantHolds();
    int[] released = {0};
    var dying = Schedule.spawn("dying", () -> holds.enter("x", client.lock("x").acquire(WAIT)));
    for (int i = 0; i < 2; i++) {
      var unused =
          Schedule.spawn(
              "heartbeat",
              () -> {
                holds.releaseOrphans(client.context().log);
                released[0]++;
              });
    }
    Schedule.awaitOthers();
    holds.releaseOrphans(client.context().log);
    var next =
        Schedule.spawn(
            "next",
            () -> {
              lock.lock();
              lock.lock();
              check(lock.holdCount() == 2, "entered " + lock.holdCount());
              lock.unlock();
              lock.unlock();
            });
    Schedule.awaitOthers();
    check(dying != null && next != null && released[0] == 2, "not run");
    check(node.isFree(), "a dead thread holds the lock");
  }

  private static void letTimePass(Duration time) {
    check(ScriptedWorld.blocking().await(new CompletableFuture<>(), time.toNanos()), "interrupted");
  }
}
