package dev.redlock.testkit;

import java.util.List;

/** Servers that run already, named by {@code -Dredlock.redis.uris}. */
record GivenSource(List<String> uris) implements ServerSource {

  @Override
  public ServerFactory find() throws UnavailableException {
    if (uris.isEmpty()) {
      throw new UnavailableException("no URI given (-D" + RedisSource.URIS_PROPERTY + ")");
    }
    try {
      return new Given(uris.stream().map(NodeAddress::parse).toList());
    } catch (IllegalArgumentException e) {
      throw new UnavailableException("a given URI is not usable", e);
    }
  }

  private record Given(List<NodeAddress> given) implements ServerFactory {

    @Override
    public RedisServer create(int index, ServerSpec spec) {
      return new GivenServer(given.get(index));
    }

    @Override
    public int capacity() {
      return given.size();
    }

    @Override
    public String description() {
      return "given servers " + given;
    }
  }
}
