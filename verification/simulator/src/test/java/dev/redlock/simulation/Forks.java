package dev.redlock.simulation;

import dev.redlock.Lease;
import dev.redlock.internal.SimulatedClient;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The fault "fork the process": a process starts from a memory image of another one, which
 * continues. It has connections of its own, and it wants the same names.
 *
 * <p>The numbers come from a stream of their own, so a world without a fork does not change.
 */
final class Forks {
  private static final double PROBABILITY = 0.3;

  private final World world;
  private final Rng rng;
  private final int times;
  private boolean forking;

  /** Processes whose image is about to be taken. */
  private final Set<ShellClient> announced = new HashSet<>();

  Forks(World world) {
    this.world = world;
    rng = world.rng.branch();
    times = rng.chance(PROBABILITY) ? 1 + rng.below(3) : 0;
  }

  /** The lease ids of a process that is no copy; null if no process of this world is forked. */
  ShellIds newIds(ShellClient client) {
    return times == 0 ? null : new ShellIds(client, rng.nextLong());
  }

  void begin() {
    for (int i = 0; i < times; i++) {
      world.at(rng.between(1, world.scenario.safetyNanos), this::fork);
    }
  }

  private void fork() {
    ShellClient image = (ShellClient) rng.pick(world.clients);
    // User code may block while the copy starts, and other events happen meanwhile.
    if (!forking && !world.isFaultless() && image.alive && !image.closing) {
      if (rng.chance(0.5)) {
        world.coverage.count("fork", "announced");
        announced(image);
      } else {
        world.coverage.count("fork", "by surprise");
        fork(image);
      }
    }
  }

  /** The JVM of the original says before and after that an image is taken. */
  private void announced(ShellClient image) {
    if (!announced.add(image)) {
      return; // One image at a time.
    }
    world.fault(image.name(), "gets ready for an image");
    image.act(() -> SimulatedClient.beforeImage(image.redlock));
    long taken = world.now + rng.spread(Scenario.MS, Scenario.SECOND);
    world.at(taken, () -> image.act(() -> taken(image)));
  }

  private void taken(ShellClient image) {
    List<Lease> leases = image.leases();
    requireNoneValid(image, leases);
    if (!forking && !world.isFaultless()) {
      fork(image);
    }
    announced.remove(image);
    SimulatedClient.afterImage(image.redlock);
    requireNoneValid(image, leases);
    image.atMono(image.mono() + Scenario.SECOND, () -> requireNoneValid(image, leases));
  }

  /** Else two processes that run from the image would both trust the lease. */
  private void requireNoneValid(ShellClient image, List<Lease> leases) {
    if (!image.closing && leases.stream().anyMatch(Lease::isValid)) {
      world.failed(new Violation("image", image.name() + " trusts a lease of a memory image"));
    }
  }

  private void fork(ShellClient image) {
    forking = true;
    try {
      world.fork(image);
    } finally {
      forking = false;
    }
  }
}
