package dev.redlock.bench.system;

import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Slice;

/** One system, connected, that can be put under load. */
public interface Contender extends AutoCloseable {

  /** Whether it can do this kind of load at all. */
  boolean can(Load load);

  /** Puts it under the load and says what was seen. */
  Slice drive(Load load) throws Exception;

  @Override
  void close();
}
