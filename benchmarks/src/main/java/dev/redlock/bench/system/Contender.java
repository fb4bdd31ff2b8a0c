package dev.redlock.bench.system;

import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Slice;

/** One connected system that can run loads. */
public interface Contender extends AutoCloseable {

  /** Whether it supports this load. */
  boolean can(Load load);

  /** Runs the load and returns the measurements. */
  Slice drive(Load load) throws Exception;

  @Override
  void close();
}
