package dev.redlock.simulation;

import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.election.LeaderElection;
import dev.redlock.election.LeaderElection.State;
import dev.redlock.election.LeaderElection.StopReason;
import dev.redlock.internal.SimulatedClient;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** An instance of an election, with work that starts late, fails, or is slow to stop. */
final class ShellElection implements LeaderElection.Work {
  final ShellClient client;
  private final World world;
  private final String name;
  private final long stopTimeoutNanos;
  private LeaderElection election;
  private Lease lease;
  private boolean working;
  private long stopBegunMono;
  private boolean stopping;
  private boolean dead;

  ShellElection(ShellClient client) {
    this.client = client;
    world = client.world;
    name = world.scenario.keySets.get(0).names().get(0);
    stopTimeoutNanos =
        world.rng.spread(Scenario.MS, Math.min(2 * Scenario.SECOND, 2 * world.scenario.ttlNanos));
  }

  void begin() {
    election =
        LeaderElection.builder(client.redlock, name, this)
            .retryPause(Duration.ofMillis(world.rng.between(1, 500)))
            .stopTimeout(Duration.ofNanos(stopTimeoutNanos))
            .build();
    election.start();
    operateLater();
  }

  void die() {
    dead = true;
  }

  private void operateLater() {
    client.atMono(
        client.mono() + world.rng.spread(Scenario.MS, world.scenario.safetyNanos / 2),
        () -> {
          if (world.ending || client.closing) {
            return;
          }
          switch (world.rng.below(5)) {
            case 0 -> election.start();
            case 1 -> client.answered("resign", election.resign().toCompletableFuture());
            case 2 -> client.answered("pause", election.pause().toCompletableFuture());
            case 3 -> client.answered("stop", election.stop().toCompletableFuture());
            default -> election.resume();
          }
          operateLater();
        });
  }

  @Override
  public CompletionStage<?> startWork(Lease given) {
    if (dead) {
      return CompletableFuture.completedFuture(null);
    }
    client.keep(given);
    world.row(client.name(), "starts work under " + SimulatedClient.id(given));
    if (working) {
      world.failed(new Violation("election", client.name() + " works twice at a time"));
    }
    working = true;
    stopping = false;
    lease = given;
    for (SimClient c : world.clients) {
      ShellElection other = ((ShellClient) c).election;
      if (c != client && c.alive && other != null && other.works() && works()) {
        world.failed(new Violation("election", client.name() + " and " + c.name() + " lead"));
      }
    }
    client.userBlocks();
    if (client.throwsNow()) {
      throw new ShellClient.Thrown();
    }
    return later(world.rng.chance(0.1) && world.faults);
  }

  private boolean works() {
    // A break admits other clients, and the holder does not learn of it.
    return working
        && lease.isValid()
        && !world.checker.isBroken(client, SimulatedClient.held(lease));
  }

  private CompletionStage<?> later(boolean fails) {
    CompletableFuture<Object> done = new CompletableFuture<>();
    Runnable complete =
        () -> {
          if (fails) {
            done.completeExceptionally(new ShellClient.Thrown());
          } else {
            done.complete(null);
          }
        };
    if (world.rng.chance(0.5)) {
      complete.run();
    } else {
      client.atMono(client.mono() + world.rng.spread(1_000, 20 * Scenario.MS), complete);
    }
    return done;
  }

  @Override
  public CompletionStage<?> stopWork(StopReason reason) {
    world.row(client.name(), "stops its work: " + reason);
    if (!working || stopping) {
      world.failed(new Violation("election", client.name() + " stops work that does not run"));
    }
    stopping = true;
    stopBegunMono = client.mono();
    if (stopBegunMono - client.resumedMono() <= SimPool.PATIENCE_NANOS) {
      stopBegunMono -= stopTimeoutNanos; // It began before the pause (seed 44847).
    }
    boolean hangs = world.faults && world.rng.chance(0.1);
    long nanos =
        hangs ? world.rng.between(0, 2 * stopTimeoutNanos) : world.rng.between(0, Scenario.MS);
    CompletableFuture<Object> stopped = new CompletableFuture<>();
    client.atMono(
        client.mono() + nanos,
        () -> {
          requireNotReleased();
          working = false;
          stopping = false;
          stopped.complete(null);
        });
    return stopped;
  }

  /** The lease is released after the work has stopped, or after its time is up. */
  private void requireNotReleased() {
    // The time begins before a thread calls stopWork.
    boolean inTime = client.mono() - stopBegunMono + SimPool.PATIENCE_NANOS < stopTimeoutNanos;
    if (inTime && !client.closing && SimulatedClient.held(lease).end() == LeaseEnd.RELEASED) {
      world.failed(
          new Violation(
              "election", SimulatedClient.id(lease) + " is released before its work stopped"));
    }
  }

  /** Pauses the election, and resumes it some time later. */
  void leave() {
    if (election == null || world.ending || client.closing) {
      return;
    }
    client.answered("pause", election.pause().toCompletableFuture());
    client.atMono(
        client.mono() + world.rng.spread(Scenario.MS, Scenario.SECOND),
        () -> {
          if (!world.ending && !client.closing) {
            election.resume();
          }
        });
  }

  void stop() {
    client.answered("stop", election.stop().toCompletableFuture());
  }

  boolean isIdle() {
    return election == null
        || client.closing
        || (election.state() == State.IDLE && election.lease() == null && !working);
  }

  void requireIdle() {
    if (!isIdle()) {
      throw new Violation(
          "election", client.name() + " has not stopped: " + election + (working ? " works" : ""));
    }
  }
}
