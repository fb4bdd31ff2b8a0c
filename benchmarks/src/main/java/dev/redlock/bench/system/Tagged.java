package dev.redlock.bench.system;

import java.util.concurrent.CompletionStage;

/** A client whose names all carry one hash tag, so that one master of a cluster serves them. */
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
