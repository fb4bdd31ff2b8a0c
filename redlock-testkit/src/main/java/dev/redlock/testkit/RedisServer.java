package dev.redlock.testkit;

/**
 * One server as its source runs it: a process, a container, or somebody else's. Calls are not
 * concurrent with each other, except {@link #state()} and {@link #identity()}.
 */
interface RedisServer extends AutoCloseable {

  /** Where it listens; the same over all restarts. */
  NodeAddress address();

  /** Starts it; when this returns, it answers. */
  void start();

  /** SIGKILL or the like. Nothing happens if it is dead already. */
  void kill();

  /** Kills it if necessary and starts it again, with or without what it stored. */
  void restart(boolean keepData);

  void pause();

  void resume();

  ServerState state();

  /** The command that empties it: all of it if it is ours, else the database that was given. */
  default String flushCommand() {
    return "FLUSHALL";
  }

  /** Process or container, for messages. */
  String identity();

  /** Ends it and removes its files; never throws for a server that is gone. */
  @Override
  void close();
}
