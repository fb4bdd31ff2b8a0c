package dev.redlock.testkit;

/** The state of a node's server, according to its process or container. */
public enum ServerState {
  /** The process runs. It may still not reply, for example while a script runs. */
  RUNNING,
  /** Stopped by {@link RedisNode#pause()}: connections stay open, and the server does not reply. */
  PAUSED,
  /** There is no process: killed by {@link RedisNode#kill()}, crashed, or closed. */
  DEAD
}
