package dev.redlock.bench.system;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Several clients behind one interface. Each thread gets the next client on its first lock. */
public final class OnePerThread implements LockClient {
  private final List<LockClient> clients;
  private final AtomicInteger threads = new AtomicInteger();
  private final ThreadLocal<LockClient> own;

  /** Wraps these clients and closes them with this object. */
  public OnePerThread(List<LockClient> clients) {
    this.clients = List.copyOf(clients);
    this.own =
        ThreadLocal.withInitial(
            () -> this.clients.get(threads.getAndIncrement() % this.clients.size()));
  }

  @Override
  public Held acquire(String name) throws Exception {
    return own.get().acquire(name);
  }

  @Override
  public void close() {
    clients.forEach(LockClient::close);
  }
}
