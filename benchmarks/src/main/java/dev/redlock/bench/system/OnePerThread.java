package dev.redlock.bench.system;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Several clients behind one face: each thread that locks is given one, in turn. */
public final class OnePerThread implements LockClient {
  private final List<LockClient> clients;
  private final AtomicInteger threads = new AtomicInteger();
  private final ThreadLocal<LockClient> own;

  /** These clients, which end with this. */
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
