package dev.redlock.internal;

import dev.redlock.LeaseEnd;
import dev.redlock.internal.protocol.HeldLease;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What outlives the user's {@link DefaultLease} object: kept by the queue, so that a lease that
 * became unreachable can be told from one that is in use.
 */
final class LeaseCore {
  private final Client client;
  private final LockActor actor;
  private final HeldLease lease;

  // Guarded by this; held for field access only.
  private @Nullable Ticket release;
  private @Nullable CompletableFuture<LeaseEnd> whenEnded;
  private @Nullable Runnable onLoss;
  private @Nullable LeaseEnd end;
  private @Nullable Abandoned trace;

  LeaseCore(Client client, LockActor actor, HeldLease lease) {
    this.client = client;
    this.actor = actor;
    this.lease = lease;
  }

  HeldLease lease() {
    return lease;
  }

  long remainingNanos() {
    return lease.remainingNanos(client.time().nanos(), client.time().wallMillis());
  }

  Client client() {
    return client;
  }

  /** Ends the lease here and now, then on the nodes; once. */
  Ticket release() {
    Ticket ticket;
    synchronized (this) {
      if (release != null) {
        return release;
      }
      ticket = new Ticket("release", lease, client.callbacks());
      release = ticket;
    }
    lease.askRelease();
    actor.post((machine, now, wall) -> machine.release(lease, ticket, now, wall));
    return ticket;
  }

  Ticket extend() {
    Ticket ticket = new Ticket("extension", lease, client.callbacks());
    actor.post((machine, now, wall) -> machine.extend(lease, ticket, now, wall));
    return ticket;
  }

  /** Nobody can release it any more: it lives until its validity ends. */
  void abandon() {
    actor.post((machine, now, wall) -> machine.stopExtending(lease));
  }

  synchronized void trace(Abandoned trace) {
    this.trace = trace;
  }

  CompletableFuture<LeaseEnd> whenEnded() {
    CompletableFuture<LeaseEnd> f;
    LeaseEnd over;
    synchronized (this) {
      if (whenEnded == null) {
        whenEnded = new CompletableFuture<>();
      }
      f = whenEnded;
      over = end;
    }
    if (over != null) {
      f.complete(over);
    }
    return f;
  }

  /** Runs the action when the lease ends otherwise than by its holder; at once if it has. */
  void onLoss(Runnable action) {
    synchronized (this) {
      if (end == null) {
        onLoss = action;
        return;
      }
      if (end.byHolder()) {
        return;
      }
    }
    action.run();
  }

  synchronized @Nullable LeaseEnd end() {
    return end;
  }

  /** Whether the holder has asked for the release, in time or not. */
  synchronized boolean releasedByHolder() {
    return end != null ? end.byHolder() : release != null;
  }

  /** Called by the queue, once. */
  void ended(LeaseEnd how) {
    CompletableFuture<LeaseEnd> f;
    Runnable loss;
    Abandoned watch;
    synchronized (this) {
      end = how;
      f = whenEnded;
      loss = how.byHolder() ? null : onLoss;
      watch = trace;
      trace = null;
    }
    if (watch != null) {
      watch.clear();
    }
    if (f != null) {
      client.callbacks().execute(() -> f.complete(how));
    }
    if (loss != null) {
      client.callbacks().execute(loss);
    }
    client.events().ended(this, how);
  }
}
