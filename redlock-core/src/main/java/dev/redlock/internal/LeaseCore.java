package dev.redlock.internal;

import dev.redlock.FencingToken;
import dev.redlock.LeaseEnd;
import dev.redlock.LeaseLostException;
import dev.redlock.internal.LeakDetector.LeaseLeakReference;
import dev.redlock.internal.protocol.HeldLease;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The part of a lease that outlives the user's {@link DefaultLease} object. The actor refers to it
 * and not to that object, so the {@link LeakDetector} notices when the object becomes unreachable.
 */
final class LeaseCore {
  final ClientContext context;
  private final LockActor actor;
  final HeldLease lease;

  // Guarded by this; held for field access only.
  private @Nullable PendingAck release;
  private @Nullable CompletableFuture<LeaseEnd> whenEnded;
  private @Nullable Consumer<LeaseEnd> onEnd;
  private @Nullable Runnable onClosing;
  private @Nullable LeaseEnd end;
  private @Nullable LeaseLeakReference watch;

  LeaseCore(ClientContext context, LockActor actor, HeldLease lease) {
    this.context = context;
    this.actor = actor;
    this.lease = lease;
  }

  /** Zero after a close: a paused thread may hold up the actor, so the lease may not have ended. */
  long remainingNanos() {
    return context.locks.isEnded()
        ? 0
        : lease.remainingNanos(context.time.nanos(), context.time.wallMillis());
  }

  /** Ends the lease in this client at once, then on the nodes; later calls return the same ack. */
  PendingAck release() {
    PendingAck ack;
    synchronized (this) {
      if (release != null) {
        return release;
      }
      ack = new PendingAck("release", lease, context.callbacks);
      release = ack;
    }
    lease.askRelease();
    actor.post((machine, now, wall) -> machine.release(lease, ack, now, wall));
    return ack;
  }

  /** Its caller gave up before it had the lease: nobody ran under it, no minimum hold is due. */
  void releaseUnused() {
    lease.unused();
    release();
  }

  PendingAck extend() {
    PendingAck ack = new PendingAck("extension", lease, context.callbacks);
    actor.post((machine, now, wall) -> machine.extend(lease, ack, now, wall));
    return ack;
  }

  /** No code can release the lease any more, so it is no longer extended and expires. */
  void stopExtending() {
    actor.post((machine, now, wall) -> machine.stopExtending(lease));
  }

  synchronized void watchedBy(LeaseLeakReference reference) {
    watch = reference;
  }

  CompletableFuture<LeaseEnd> whenEnded() {
    synchronized (this) {
      if (end != null) {
        // Not the future that others have: its dependents would run on the thread that asks here.
        return CompletableFuture.completedFuture(end);
      }
      if (whenEnded == null) {
        whenEnded = new CompletableFuture<>();
      }
      return whenEnded;
    }
  }

  /**
   * Gives the end of the lease to a part of the library, at once if it has ended. The actor calls
   * the taker directly, so that it does not wait behind user code, as dependents of {@link
   * #whenEnded} do. One taker per lease; it neither blocks nor throws.
   */
  void onEnd(Consumer<LeaseEnd> taker) {
    LeaseEnd over;
    synchronized (this) {
      onEnd = taker;
      over = end;
    }
    if (over != null) {
      taker.accept(over);
    }
  }

  /**
   * Calls the task when the client begins to close and waits for the holder, at once if it has
   * begun; perhaps twice. The task neither blocks nor throws.
   */
  void onClosing(Runnable task) {
    synchronized (this) {
      onClosing = task;
    }
    if (!context.locks.isOpen()) { // Read after the task is set: the close tells it, or this does.
      task.run();
    }
  }

  void clientCloses() {
    Runnable task;
    synchronized (this) {
      task = onClosing;
    }
    if (task != null) {
      task.run();
    }
  }

  synchronized @Nullable LeaseEnd end() {
    return end;
  }

  /** The loss, if validity ended before the holder asked for the release; null otherwise. */
  @Nullable LeaseLostException lossDuringWork() {
    // From the clock: the timer of the end may not have fired yet.
    if (remainingNanos() > 0 || releasedByHolder()) {
      return null;
    }
    return new LeaseLostException(lease.keys().names(), new FencingToken(lease.token()), loss());
  }

  /**
   * How the lease ended without its holder; EXPIRED if its validity passed before any other end.
   */
  LeaseEnd loss() {
    LeaseEnd over = end();
    return over == null || over.byHolder() ? LeaseEnd.EXPIRED : over;
  }

  /** Whether the holder has asked for the release, in time or not. */
  private synchronized boolean releasedByHolder() {
    return end != null ? end.byHolder() : release != null;
  }

  /** Called by the actor, once. */
  void ended(LeaseEnd how) {
    CompletableFuture<LeaseEnd> f;
    Consumer<LeaseEnd> taker;
    LeaseLeakReference watching;
    synchronized (this) {
      end = how;
      f = whenEnded;
      taker = onEnd;
      watching = watch;
      watch = null;
    }
    if (watching != null) {
      watching.clear();
    }
    if (taker != null) {
      try {
        taker.accept(how);
      } catch (Throwable e) { // A taker may call the interrupt() of a user's thread.
        context.failures.report("the handler of a lease's end", e);
      }
    }
    if (f != null) {
      context.callbacks.execute(() -> f.complete(how));
    }
    context.losses.ended(lease, how);
    context.events.ended(this, how);
  }
}
