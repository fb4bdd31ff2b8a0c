package dev.redlock.bench.system;

import java.util.concurrent.CompletionStage;

/** A client all of whose names carry one hash tag, and so live on one master of a cluster. */
public record Tagged(LockClient client, String tag) implements LockClient {
  @Override
  public Held acquire(String name) throws Exception {
    return client.acquire(tagged(name));
  }

  @Override
  public boolean isAsync() {
    return client.isAsync();
  }

  @Override
  public CompletionStage<Held> acquireAsync(String name) {
    return client.acquireAsync(tagged(name));
  }

  private String tagged(String name) {
    return name + "_" + tag;
  }

  @Override
  public void close() {
    client.close();
  }
}
