package dev.redlock.bench.system;

import dev.redlock.bench.load.Competition;
import dev.redlock.bench.load.Observed;
import dev.redlock.bench.load.Rounds;
import java.util.OptionalLong;

/**
 * Clients of one system, each with connections of its own, as if each were in another process. Used
 * by one thread.
 */
public interface Crowd extends AutoCloseable {

  /**
   * Lets callers compete. Calls {@code edge} twice, at the beginning and at the end of the
   * measurement, while they compete. Returns all sections, including those before and after.
   */
  Observed compete(Competition competition, Runnable edge) throws Exception;

  /**
   * The first two clients hand a lock over: one holds it, the other one asks and waits for the
   * pause, the first one releases. They take turns. Each round has two sections, the second one is
   * that of the client that waited.
   */
  Observed handOver(Rounds rounds) throws Exception;

  /**
   * The first {@code clients} ask for a free name at the same time. Each releases it at once. Each
   * round has one section per client.
   */
  Observed collide(int clients, Rounds rounds) throws Exception;

  /** The number of invalidations that the clients have received; empty if it is not known. */
  default OptionalLong invalidations() {
    return OptionalLong.empty();
  }

  @Override
  void close();
}
