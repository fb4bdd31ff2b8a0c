package dev.redlock.micrometer;

import static java.util.Objects.requireNonNull;

import dev.redlock.DistributedLock;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.ReentrantDistributedLock;
import dev.redlock.operations.Operations;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * A client whose locks are {@linkplain ObservedLock observed}. All calls go to the given client,
 * also {@code close}. Calls of reentrant locks, calls that only read, and calls for operators are
 * not observed.
 */
public final class ObservedRedlock implements Redlock {
  private final Redlock client;
  private final UnaryOperator<DistributedLock> observe;

  private ObservedRedlock(Redlock client, UnaryOperator<DistributedLock> observe) {
    this.client = requireNonNull(client, "client");
    this.observe = observe;
  }

  /** The client, with locks as of {@link ObservedLock#of(DistributedLock, ObservationRegistry)}. */
  public static Redlock of(Redlock client, ObservationRegistry registry) {
    requireNonNull(registry, "registry");
    return new ObservedRedlock(client, lock -> ObservedLock.of(lock, registry));
  }

  /** The client, with locks that are observed with this convention. */
  public static Redlock of(
      Redlock client, ObservationRegistry registry, LockObservationConvention convention) {
    requireNonNull(registry, "registry");
    requireNonNull(convention, "convention");
    return new ObservedRedlock(client, lock -> ObservedLock.of(lock, registry, convention));
  }

  @Override
  public DistributedLock lock(String name) {
    return observe.apply(client.lock(name));
  }

  @Override
  public DistributedLock lock(String name, LockOptions options) {
    return observe.apply(client.lock(name, options));
  }

  @Override
  public DistributedLock lock(List<String> names) {
    return observe.apply(client.lock(names));
  }

  @Override
  public DistributedLock lock(List<String> names, LockOptions options) {
    return observe.apply(client.lock(names, options));
  }

  @Override
  public ReentrantDistributedLock reentrantLock(String name) {
    return client.reentrantLock(name);
  }

  @Override
  public ReentrantDistributedLock reentrantLock(String name, LockOptions options) {
    return client.reentrantLock(name, options);
  }

  @Override
  public Operations operations() {
    return client.operations();
  }

  @Override
  public boolean awaitReady(Duration timeout) {
    return client.awaitReady(timeout);
  }

  @Override
  public LockOptions defaultOptions() {
    return client.defaultOptions();
  }

  @Override
  public void close() {
    client.close();
  }

  @Override
  public void close(Duration grace) {
    client.close(grace);
  }

  @Override
  public String toString() {
    return "Observed" + client;
  }
}
