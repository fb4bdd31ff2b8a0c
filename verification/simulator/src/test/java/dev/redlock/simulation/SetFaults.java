package dev.redlock.simulation;

import dev.redlock.LockQueueFullException;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.RedlockClosedException;
import dev.redlock.operations.Operations;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/** Operators that change the set of nodes and die, and clients that are cut off meanwhile. */
final class SetFaults {
  private static final long STEP_NANOS = 100 * Scenario.MS;

  private final World world;
  private final Rng rng;
  private final ChangingSet set;

  /** Changes that have no result yet, those of dead processes included. */
  private final List<Change> open = new ArrayList<>();

  /** That of the operator who completes what is open, after the faults; null before. */
  private CompletableFuture<List<String>> last;

  private final double growth;
  private final long operatorsNanos;
  private final long cutsNanos;

  /** One call of an operator. */
  private record Change(ShellClient client, CompletableFuture<List<String>> result) {
    boolean isOpen() {
      return client.alive && !result.isDone();
    }
  }

  SetFaults(World world, ChangingSet set) {
    this.world = world;
    this.set = set;
    rng = world.rng;
    growth = rng.next();
    operatorsNanos = rng.between(1, 8) * Scenario.SECOND;
    cutsNanos = rng.between(1, 8) * Scenario.SECOND;
  }

  void begin() {
    later(operatorsNanos, this::operate);
    later(cutsNanos, this::cutSomebody);
  }

  private void later(long every, Runnable what) {
    world.at(
        world.now + rng.between(1, 2 * every),
        () -> {
          if (!world.isFaultless()) {
            what.run();
            later(every, what);
          }
        });
  }

  private ShellClient anyClient() {
    return (ShellClient) rng.pick(world.clients);
  }

  // Operators.

  private boolean anyOpen() {
    return open.stream().anyMatch(Change::isOpen);
  }

  private void operate() {
    ShellClient client = anyClient();
    if (!anyOpen() || rng.chance(0.2)) {
      begin(client);
    }
  }

  private void begin(ShellClient client) {
    if (!client.alive || client.closing || client.isPaused()) {
      return;
    }
    List<String> members = set.names();
    List<String> others = new ArrayList<>();
    for (SimNode node : world.nodes) {
      if (!members.contains(node.name)) {
        others.add(node.name);
      }
    }
    String in = others.isEmpty() ? members.get(0) : others.get(rng.below(others.size()));
    String out = members.get(rng.below(members.size()));
    boolean grows = rng.chance(growth);
    boolean replaces = rng.chance(0.35) && !others.isEmpty();
    boolean straggles = rng.chance(0.25);
    client.act(
        () -> {
          if (client.closing) {
            return;
          }
          Operations operations = client.redlock.operations();
          Consumer<String> progress = line -> world.row(client.name(), "operator: " + line);
          if (replaces) {
            world.fault(client.name(), "replaces " + out + " by " + in);
            asked(client, operations.replaceNode(out, in, progress).toCompletableFuture());
          } else if (grows) {
            world.fault(client.name(), "adds " + in);
            asked(client, operations.addNode(in, progress).toCompletableFuture());
          } else {
            world.fault(client.name(), "removes " + out);
            asked(client, operations.removeNode(out, progress).toCompletableFuture());
          }
        });
    if (rng.chance(0.3)) {
      world.at(world.now + rng.spread(10 * Scenario.MS, 20 * Scenario.SECOND), () -> dies(client));
    }
    ShellClient other = anyClient();
    if (straggles && other != client) {
      world.at(world.now + rng.between(1, 12 * Scenario.SECOND), () -> straggles(other));
    }
  }

  private void dies(ShellClient client) {
    if (client.alive && world.faults) {
      world.coverage.count("operator", "dies");
      world.replace(client, "dies as an operator");
    }
  }

  private void asked(ShellClient client, CompletableFuture<List<String>> result) {
    open.removeIf(change -> !change.isOpen());
    open.add(new Change(client, result));
    client.answered("a change of the set", result);
    result.whenComplete(
        (members, failure) -> {
          world.history.mix(failure == null ? 17 : 19);
          if (world.tracing) {
            world.row(client.name(), "change: " + (failure == null ? members : failure));
          }
          world.coverage.count("operator", failure == null ? "is done" : "fails");
          if (failure != null && client.alive) {
            requireKnown(client, failure);
          }
        });
  }

  private void requireKnown(ShellClient client, Throwable given) {
    Throwable failure = given instanceof CompletionException ? given.getCause() : given;
    boolean known =
        failure instanceof IllegalStateException
            || failure instanceof LockTimeoutException
            || failure instanceof QuorumUnavailableException
            || failure instanceof LockQueueFullException
            || failure instanceof RedlockClosedException;
    if (!known) {
      world.failed(new IllegalStateException(client.name() + ": the change failed", failure));
    }
  }

  // Links.

  private void cutSomebody() {
    ShellClient client = anyClient();
    double kind = rng.next();
    if (kind < 0.4) {
      cut(client, rng.pick(world.nodes), rng.between(500, 5_000) * Scenario.MS);
    } else if (kind < 0.55) {
      long nanos = rng.between(8, 30) * Scenario.SECOND;
      for (SimNode node : world.nodes) {
        if (rng.chance(0.4)) {
          cut(client, node, nanos);
        }
      }
    } else if (kind < 0.7) {
      straggles(client);
    } else {
      set.crash(rng.pick(world.nodes));
    }
  }

  private void cut(SimClient client, SimNode node, long nanos) {
    if (client.alive && world.faults) {
      client.links[node.index].stall(nanos);
      client.links[node.index].reset();
    }
  }

  /**
   * The client is cut off while the set changes. Then it reaches a few nodes of its set, which the
   * other clients do not reach for a while, and of which some restart.
   */
  private void straggles(ShellClient straggler) {
    if (world.isFaultless()) {
      return;
    }
    world.coverage.count("set", "straggler");
    List<String> names = set.names();
    Set<SimNode> island = new LinkedHashSet<>();
    for (int i = rng.below(names.size() / 2 + 1); i >= 0; i--) {
      String name = names.get(rng.below(names.size()));
      island.add(world.nodes[Integer.parseInt(name.substring(1)) - 1]);
    }
    long alone =
        rng.chance(0.5)
            ? rng.between(1, 4_000) * Scenario.MS
            : rng.between(5, 35) * Scenario.SECOND;
    long later = rng.between(10, 25) * Scenario.SECOND;
    for (SimNode node : world.nodes) {
      cut(straggler, node, island.contains(node) ? alone : alone + later);
    }
    world.at(
        world.now + alone,
        () -> {
          for (SimNode node : island) {
            for (SimClient other : world.clients) {
              if (other != straggler) {
                cut(other, node, rng.between(1, 15) * Scenario.SECOND);
              }
            }
            if (rng.chance(0.6) && !world.isFaultless()) {
              set.crash(node);
            }
          }
        });
  }

  // The end.

  /** See {@link ChangingSet#completes}. */
  boolean completes(long healthy) {
    long guard = world.scenario.guardNanos() * 102 / 100;
    world.runUntil(healthy + Scenario.SECOND);
    long limit = world.now + 6 * guard + 120 * Scenario.SECOND;
    while (!set.isContradicted()) {
      if (!anyOpen()) {
        if (last != null && last.isDone() && !last.isCompletedExceptionally()) {
          return true;
        }
        continueLast();
      }
      if (world.now > limit) {
        throw new Violation("liveness", "the last change of the set does not complete");
      }
      world.runUntil(world.now + STEP_NANOS);
    }
    return false;
  }

  /** Continues what was begun: the node is a member already, or will be again. */
  private void continueLast() {
    ShellClient client = anyClient();
    String member = set.lastingMember();
    Consumer<String> progress = line -> world.row(client.name(), "last operator: " + line);
    client.act(
        () -> {
          if (!client.closing) {
            last = client.redlock.operations().addNode(member, progress).toCompletableFuture();
            asked(client, last);
          }
        });
  }
}
