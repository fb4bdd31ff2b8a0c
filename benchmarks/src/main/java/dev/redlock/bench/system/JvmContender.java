package dev.redlock.bench.system;

import dev.redlock.bench.load.Drive;
import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Load.Mode;
import dev.redlock.bench.load.Slice;

/** A system that runs in this JVM. */
public final class JvmContender implements Contender {
  private final LockClient client;

  JvmContender(LockClient client) {
    this.client = client;
  }

  /** The client, for scenarios that need more than pairs. */
  public LockClient client() {
    return client;
  }

  @Override
  public boolean can(Load load) {
    return load.mode() != Mode.ASYNC || client.isAsync();
  }

  @Override
  public Slice drive(Load load) throws Exception {
    return Drive.run(client, load);
  }

  @Override
  public void close() {
    client.close();
  }
}
