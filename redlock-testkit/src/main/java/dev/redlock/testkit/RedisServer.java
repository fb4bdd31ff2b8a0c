package dev.redlock.testkit;

/**
 * One server: a process, a container, or a server that was running before. Calls are never
 * concurrent, except {@link #state()} and {@link #identity()}.
 */
interface RedisServer extends AutoCloseable {

  /** The address at which it listens; the same over all restarts. */
  NodeAddress address();

  /** Starts it. When this returns, it replies to commands. */
  void start();

  /** Kills it (SIGKILL or an equivalent). Does nothing if it is dead. */
  void kill();

  /** Kills it if it runs and starts it again, with or without its data. */
  void restart(boolean keepData);

  void pause();

  void resume();

  ServerState state();

  /** The command that empties it: FLUSHALL for a server of the kit, FLUSHDB for a given server. */
  default String flushCommand() {
    return "FLUSHALL";
  }

  /** Names the process or container in messages. */
  String identity();

  /** Stops it and removes its files. Does not throw if the server has ended already. */
  @Override
  void close();
}
