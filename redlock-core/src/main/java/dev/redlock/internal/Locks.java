package dev.redlock.internal;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import dev.redlock.internal.protocol.Effect;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.ReleaseHints;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * The actors of all names that are in use; an idle name needs no memory. It also owns the state of
 * the client, because closing has to be atomic with making actors. Otherwise: a caller finds the
 * client open; the client closes all actors; the caller makes a new actor, and waits there for ever
 * or is granted a lease that outlives the client.
 *
 * <p>An event first makes its actor visible, then reads the state. A close first writes the state,
 * then reads all actors. So at least one of the two sees the other, and closes the actor.
 */
final class Locks {
  /** Far enough that every deadline is before it, near enough that differences do not overflow. */
  private static final long END_OF_TIME_NANOS = Long.MAX_VALUE / 4;

  private enum State {
    OPEN,
    /** Waiters are refused; leases go on until their holders release them. */
    CLOSING,
    /** Waiters are refused, leases are released; pending releases are still sent. */
    CLOSED,
    /** Nodes and timers are closed: what still waits for one of them is given up. */
    ENDED
  }

  private final ClientContext context;
  private final Map<LockKeys, LockActor> actors = new ConcurrentHashMap<>();

  /** The actors of each lock key; a multi-lock has its actor under each of its keys. */
  private final Map<String, Set<LockActor>> byKey = new ConcurrentHashMap<>();

  /** Actors that had retired when a late reply left them something to release. */
  private final Set<LockActor> releasing = ConcurrentHashMap.newKeySet(0);

  private final ThreadPoolExecutor queueThreads;
  private final DeferredEvents deferred;

  /** A queue of its own, because an extension may be urgent. */
  private final DeferredEvents admitted;

  /** Written by threads that close the client, and only forwards; read with each event. */
  private volatile State state = State.OPEN;

  private final CompletableFuture<Boolean> emptied = new CompletableFuture<>();

  Locks(ClientContext context) {
    this.context = context;
    queueThreads = context.platform.queueThreads();
    deferred = new DeferredEvents(context.time);
    admitted = new DeferredEvents(context.time);
  }

  /**
   * Gives the event to the actor of these names, to a new one if theirs has just retired. If the
   * client is closed, a closed machine handles the event, and refuses waiters.
   */
  void post(LockKeys keys, LockActor.Event event) {
    LockActor known = actors.get(keys); // computeIfAbsent may lock.
    LockActor chosen = known != null ? known : actors.computeIfAbsent(keys, this::create);
    chosen.post(
        (machine, now, wall) -> {
          if (chosen.isRetired()) {
            post(keys, event);
            return;
          }
          // In the same event: a closed machine retires with the next.
          if (isClosed()) {
            machine.close(now, wall);
          } else if (!isOpen()) {
            machine.refuseWaiters(now);
          }
          event.handle(machine, now, wall);
        });
    if (state == State.ENDED) {
      chosen.post(Locks::giveUp);
    }
  }

  void submit(PendingAcquire pending) {
    if (!isOpen()) { // Cheaper than an actor, which would refuse it as well.
      pending.refusedBecauseClosed();
      return;
    }
    post(
        pending.keys(),
        (machine, now, wall) -> {
          if (pending.join()) {
            machine.submit(pending, now, wall);
          }
        });
  }

  /** The caller no longer waits. If the grant came first, its lease is released. */
  void abandon(PendingAcquire pending) {
    if (pending.result.cancel(false)) {
      post(
          pending.keys(),
          (machine, now, wall) -> {
            machine.cancel(pending, now, wall);
            pending.left(AcquireVerdict.CANCELLED, null);
          });
    } else {
      var unused = pending.result.thenAccept(DefaultLease::giveBack);
    }
  }

  /**
   * A node reports that it has written or deleted this key, or that it has expired: a lock key, or
   * a key that tells a process of its turn. It is urgent only if a caller waits.
   */
  void invalidated(String key, int node) {
    LockActor.Event event = (machine, now, wall) -> machine.onInvalidation(node, key, now, wall);
    of(LockKeys.lockKeyOf(key)).forEach(actor -> tell(actor, event, actor.waiting));
  }

  /** Something has happened that concerns all names. */
  void tellAll(LockActor.Event event) {
    List<LockActor> all = all();
    all.forEach(
        actor -> tell(actor, event, actor.waiting || all.size() <= DeferredEvents.IN_A_ROW));
  }

  private void tell(LockActor actor, LockActor.Event event, boolean now) {
    if (now) {
      actor.post(event);
    } else {
      deferred.add(() -> actor.post(event));
    }
  }

  /** A release hint of another carrier than an invalidation: the lock of this key may be free. */
  void mayBeFree(String lockKey) {
    for (LockActor actor : of(lockKey)) {
      actor.post(LockMachine::onReleaseHint);
    }
  }

  /** A lease has ended: hints other actors that share a name, then other processes. */
  void hintOthers(LockActor from, Effect.ReleaseHint end) {
    LockKeys keys = from.keys();
    if (end.reason() != ReleaseHints.Reason.HANDED_OFF) {
      // Nodes send no invalidation of what this client's own connection has written.
      for (int i = 0; i < keys.size(); i++) {
        for (LockActor other : of(keys.lockKey(i))) {
          if (other != from) {
            other.post(LockMachine::onReleaseHint);
          }
        }
      }
    }
    if (!context.hints.isEmpty()) {
      context.hints.ended(new ReleaseHints.Ended(keys.names(), end.lease().token(), end.reason()));
    }
  }

  /** Names the lease of this client that has one of the names, if the lock was held. */
  AcquireReport withOwnLease(LockKeys keys, AcquireReport report) {
    if (report.verdict().isHeld()) {
      for (int i = 0; i < keys.size(); i++) {
        for (LockActor actor : of(keys.lockKey(i))) {
          HeldLease own = actor.lease();
          if (own != null) {
            Duration age = Duration.ofNanos(context.time.nanos() - own.grantedNanos());
            return report.heldBy(new AcquireReport.OwnLease(own.token(), age));
          }
        }
      }
    }
    return report;
  }

  /** Whether new callers may wait. */
  boolean isOpen() {
    return state.compareTo(State.CLOSING) < 0;
  }

  /**
   * The lease of these names may be extended. An I/O thread would serve one lease after another,
   * and read no replies meanwhile.
   */
  void admit(LockKeys keys) {
    LockActor actor = actors.get(keys);
    if (actor != null) { // Else the lease has ended, and with it its slot.
      admitted.add(() -> actor.post(LockMachine::onAdmitted));
    }
  }

  boolean isClosed() {
    return state.compareTo(State.CLOSED) >= 0;
  }

  /** Whether the close is over: no lease may be shown as valid, whatever its actor knows. */
  boolean isEnded() {
    return state == State.ENDED;
  }

  /** Whether the state is new: no step back if two threads close the client in two ways. */
  private synchronized boolean advance(State to) {
    boolean later = state.compareTo(to) < 0;
    if (later) {
      state = to;
    }
    return later;
  }

  /** Refuses all waiters, present and future, and tells holders that the client closes. */
  void refuseWaiters() {
    if (advance(State.CLOSING)) {
      for (LockActor actor : all()) {
        actor.post(
            (machine, now, wall) -> {
              machine.refuseWaiters(now);
              actor.tellHolderOfClose();
            });
      }
    }
  }

  List<LockKeys> held() {
    return actors.values().stream().filter(LockActor::isHeld).map(LockActor::keys).toList();
  }

  /** Refuses all waiters, present and future, and releases what is held. Called once. */
  void close() {
    advance(State.CLOSED);
    for (LockActor actor : all()) {
      actor.post(LockMachine::close);
    }
    tellIfEmpty();
  }

  /** Done when, after the close, all that was held is released and no actor is left. */
  CompletableFuture<?> emptied() {
    return emptied;
  }

  /** Called after an actor was removed, and after the state was written: one of them sees both. */
  private void tellIfEmpty() {
    if (isClosed() && size() == 0) {
      emptied.complete(true);
    }
  }

  /** Settles all that still waits for a node or a timer: both are closed. Called once. */
  void end() {
    advance(State.ENDED);
    for (LockActor actor : all()) {
      actor.post(Locks::giveUp);
    }
    DaemonThreads.endWhenIdle(queueThreads);
  }

  private static void giveUp(LockMachine machine, long now, long wall) {
    machine.close(now, wall);
    machine.onTimer(now + END_OF_TIME_NANOS, wall);
  }

  /** Lets a thread of the client continue with an actor; false if the JVM started no thread. */
  boolean handOver(Runnable actor) {
    try {
      queueThreads.execute(actor);
      return true;
    } catch (Throwable e) {
      context.failures.report("starting a thread for a lock's queue", e);
      return false;
    }
  }

  List<Thread> livingThreads() {
    return DaemonThreads.living(queueThreads);
  }

  /** Whether the current thread is in the middle of an event of any actor. */
  boolean isHandledHere() {
    return all().stream().anyMatch(LockActor::isHandledHere);
  }

  private LockActor create(LockKeys keys) {
    LockActor actor = context.platform.actor(context, keys);
    for (int i = 0; i < keys.size(); i++) {
      byKey.compute(
          keys.lockKey(i),
          (key, known) -> {
            Set<LockActor> all = known == null ? ConcurrentHashMap.newKeySet(1) : known;
            all.add(actor);
            return all;
          });
    }
    return actor;
  }

  /** The retired actor continues until it has released all; a new one may serve its names. */
  void keep(LockActor retired) {
    releasing.add(retired);
    if (state == State.ENDED) {
      retired.post(Locks::giveUp);
    }
  }

  void remove(LockActor actor) {
    releasing.remove(actor);
    actors.remove(actor.keys(), actor);
    for (int i = 0; i < actor.keys().size(); i++) {
      byKey.computeIfPresent(
          actor.keys().lockKey(i),
          (key, known) -> {
            known.remove(actor);
            return known.isEmpty() ? null : known;
          });
    }
    tellIfEmpty();
  }

  Collection<LockActor> of(String lockKey) {
    return byKey.getOrDefault(lockKey, Set.of());
  }

  List<LockActor> all() {
    List<LockActor> all = new ArrayList<>(actors.values());
    all.addAll(releasing);
    return all;
  }

  int size() {
    return actors.size() + releasing.size();
  }
}
