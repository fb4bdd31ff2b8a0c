package dev.redlock.testkit;

final class DockerSource implements ServerSource {
  @Override
  public ServerFactory find() throws UnavailableException {
    throw new UnavailableException("not built yet");
  }
}
