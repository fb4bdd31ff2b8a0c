package dev.redlock.micrometer;

import dev.redlock.Lease;
import io.micrometer.observation.Observation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The context of an observation of a lock, for conventions and handlers. */
public final class LockContext extends Observation.Context {
  private final List<String> names;
  private final Operation operation;

  /** Written by the thread that decides the call, before the observation stops. */
  private volatile @Nullable Lease lease;

  private volatile boolean empty;

  LockContext(List<String> names, Operation operation) {
    this.names = List.copyOf(names);
    this.operation = operation;
  }

  /** What is observed. */
  public enum Operation {
    /** A call of {@code acquire} or {@code acquireAsync}. */
    ACQUIRE,
    /** A call of {@code tryAcquire} or {@code tryAcquireAsync}. */
    TRY_ACQUIRE,
    /** A call of {@code withLock} or one of its variants: the wait and the body. */
    WITH_LOCK
  }

  /** The names of the lock, sorted. */
  public List<String> names() {
    return names;
  }

  /** What is observed. */
  public Operation operation() {
    return operation;
  }

  /** The granted lease; null before the grant, or if there was none. */
  public @Nullable Lease lease() {
    return lease;
  }

  /** Whether a single try found the lock held. */
  public boolean isRefused() {
    return empty;
  }

  void granted(Lease granted) {
    lease = granted;
  }

  void refused() {
    empty = true;
  }
}
