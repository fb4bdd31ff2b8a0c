package dev.redlock.simulation;

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
      world.coverage.count("fork", "a process");
      forking = true;
      try {
        world.fork(image);
      } finally {
        forking = false;
      }
    }
  }
}
