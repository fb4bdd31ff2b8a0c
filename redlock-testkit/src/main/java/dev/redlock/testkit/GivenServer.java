package dev.redlock.testkit;

/**
 * A server that runs already, given by its URI. A test can send it commands and flush it, but not
 * kill it.
 */
record GivenServer(NodeAddress address) implements RedisServer {

  @Override
  public void start() {
    if (ServerInfo.read(address).isEmpty()) {
      throw new RedisStartException("No Redis replies at the given address " + address);
    }
  }

  @Override
  public void kill() {
    throw notOurs("kill");
  }

  @Override
  public void restart(boolean keepData) {
    throw notOurs("restart");
  }

  @Override
  public void pause() {
    throw notOurs("pause");
  }

  @Override
  public void resume() {
    throw notOurs("resume");
  }

  @Override
  public ServerState state() {
    return ServerState.RUNNING;
  }

  @Override
  public String flushCommand() {
    return "FLUSHDB";
  }

  @Override
  public String identity() {
    return "given by URI";
  }

  @Override
  public void close() {}

  private UnsupportedOperationException notOurs(String what) {
    return new UnsupportedOperationException(
        "Cannot " + what + " " + address + ": it was given by URI, not started here");
  }
}
