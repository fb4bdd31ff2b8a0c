package dev.redlock.testkit;

/** What a node's server is doing, as far as its process or container shows. */
public enum ServerState {
  /** The process runs; it need not answer, for instance while a script keeps it busy. */
  RUNNING,
  /** Stopped by {@link RedisNode#pause()}: connections stay, nothing is answered. */
  PAUSED,
  /** No process: killed by {@link RedisNode#kill()}, crashed, or closed. */
  DEAD
}
