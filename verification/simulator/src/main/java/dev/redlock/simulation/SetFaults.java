package dev.redlock.simulation;

import dev.redlock.LeaseLostException;
import dev.redlock.LockQueueFullException;
import dev.redlock.LockTimeoutException;
import dev.redlock.QuorumUnavailableException;
import dev.redlock.RedlockClosedException;
import dev.redlock.operations.Operations;
import dev.redlock.operations.SetProgress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** Operators that change the set of nodes and die, and clients that are cut off meanwhile. */
final class SetFaults {
  private static final long STEP_NANOS = 100 * Scenario.MS;

  private final World world;
  private final Rng rng;
  private final ChangingSet set;
  private final Stragglers stragglers;

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
    stragglers = new Stragglers(world, set, this);
    rng = world.rng;
    growth = rng.next();
    operatorsNanos = rng.between(1, 8) * Scenario.SECOND;
    cutsNanos = rng.between(1, 8) * Scenario.SECOND;
  }

  void begin() {
    boolean three = world.scenario.clients >= 3 && world.scenario.firstMembers >= 3;
    long quiet = 0;
    boolean lengthens = three && world.scenario.longer != null && rng.chance(0.9);
    if (lengthens || (three && rng.chance(0.5))) {
      boolean grows = rng.chance(0.5);
      long at = 5 * Scenario.SECOND;
      world.at(
          at,
          lengthens
              ? stragglers::lengthen
              : grows ? stragglers::growAround : stragglers::changeAround);
      quiet = rng.chance(0.7) ? 60 * Scenario.SECOND : 0;
    }
    world.at(
        quiet,
        () -> {
          later(operatorsNanos, this::operate);
          later(cutsNanos, this::cutAClient);
        });
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
      if (!members.contains(node.name) && !set.mistakes.isKnownTo(client, node)) {
        others.add(node.name);
      }
    }
    String in = others.isEmpty() ? members.get(0) : others.get(rng.below(others.size()));
    String out = members.get(rng.below(members.size()));
    boolean grows = rng.chance(growth);
    boolean replaces = rng.chance(0.35) && !others.isEmpty();
    boolean straggles = rng.chance(0.25);
    if (world.scenario.longer != null && rng.chance(0.3)) {
      lengthens(client, client.isLonger() || rng.chance(0.5));
    } else if (replaces) {
      replaces(client, out, in);
    } else if (grows) {
      adds(client, List.of(in));
    } else {
      removes(client, out);
    }
    if (rng.chance(0.3)) {
      world.at(world.now + rng.spread(10 * Scenario.MS, 20 * Scenario.SECOND), () -> dies(client));
    }
    ShellClient other = anyClient();
    if (straggles && other != client) {
      world.at(world.now + rng.between(1, 12 * Scenario.SECOND), () -> stragglers.straggles(other));
    }
  }

  /** Adds these nodes, one after another. */
  void adds(ShellClient client, List<String> names) {
    String name = names.get(0);
    var unused =
        operates(client, "adds " + name, false, (o, progress) -> o.addNode(name, progress))
            .thenAccept(
                members -> {
                  if (names.size() > 1) {
                    adds(client, names.subList(1, names.size()));
                  }
                });
  }

  void removes(ShellClient client, String name) {
    if (!set.mistakes.keeps(name)) {
      operates(client, "removes " + name, false, (o, progress) -> o.removeNode(name, progress));
    }
  }

  void replaces(ShellClient client, String name, String by) {
    String what = "replaces " + name + " by " + by;
    if (!set.mistakes.keeps(name)) {
      operates(client, what, false, (o, progress) -> o.replaceNode(name, by, progress));
    }
  }

  /** Changes the longest lease time of the deployment. */
  void lengthens(ShellClient client, boolean longer) {
    Scenario s = world.scenario;
    Duration longest = Duration.ofNanos(longer ? s.longestNanos() : s.maxLeaseNanos);
    Call change =
        (o, progress) -> o.changeMaxLeaseTime(longest, progress).thenApply(done -> List.of());
    operates(client, "changes the longest lease time to " + longest, false, change);
  }

  /** One call of the API. */
  private interface Call {
    CompletionStage<List<String>> begin(Operations operations, Consumer<SetProgress> progress);
  }

  private CompletableFuture<List<String>> operates(
      ShellClient client, String what, boolean continues, Call call) {
    CompletableFuture<List<String>> done = new CompletableFuture<>();
    boolean mayBegin = !world.isFaultless() || continues;
    client.act(
        () -> {
          if (!client.closing && mayBegin) {
            world.fault(client.name(), what);
            Consumer<SetProgress> progress = line -> world.row(client.name(), "operator: " + line);
            CompletableFuture<List<String>> result =
                call.begin(client.redlock.operations(), progress).toCompletableFuture();
            asked(client, result);
            result.thenAccept(done::complete);
          }
        });
    return done;
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
            || failure instanceof LeaseLostException
            || failure instanceof LockTimeoutException
            || failure instanceof QuorumUnavailableException
            || failure instanceof LockQueueFullException
            || failure instanceof RedlockClosedException;
    if (!known) {
      world.failed(new IllegalStateException(client.name() + ": the change failed", failure));
    }
  }

  // Links.

  private void cutAClient() {
    ShellClient client = anyClient();
    double kind = rng.next();
    if (kind < 0.4) {
      stragglers.cut(client, rng.pick(world.nodes), rng.between(500, 5_000) * Scenario.MS);
    } else if (kind < 0.55) {
      long nanos = rng.between(8, 30) * Scenario.SECOND;
      for (SimNode node : world.nodes) {
        if (rng.chance(0.4)) {
          stragglers.cut(client, node, nanos);
        }
      }
    } else if (kind < 0.7) {
      stragglers.straggles(client);
    } else {
      set.crash(rng.pick(world.nodes));
    }
  }

  // The end.

  /** See {@link ChangingSet#completes}. */
  boolean completes(long healthy) {
    long guard = world.scenario.guardNanos() * 102 / 100;
    world.runUntil(healthy + Scenario.SECOND);
    long limit = world.now + 6 * guard + 120 * Scenario.SECOND;
    while (!set.isContradicted()) {
      if (!anyOpen()) {
        if (last != null && last.isDone()) {
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
    last = operates(client, "continues", true, (o, progress) -> o.addNode(member, progress));
  }
}
