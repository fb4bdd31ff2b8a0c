package dev.redlock.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.protocol.Effect;
import dev.redlock.internal.protocol.Exchange;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.Time;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The serial queue of one {@link LockMachine}: handles events of any thread one after another, and
 * carries out the effects of each before the next. A thread that brings an event to an idle queue
 * handles it, and then up to {@link #LIMIT_IN_A_ROW} events that other threads bring meanwhile; a
 * thread of the client continues. No thread ever waits.
 *
 * <p>Events and effects call foreign code: nodes, carriers of hints, timers. The client logs what
 * it throws, and the queue continues. Each counted event lowers {@code unhandled} in any case: else
 * later events of these names would never be handled.
 */
class LockActor {

  /** An event, with the clocks read when it is handled. */
  interface Event {
    void handle(LockMachine machine, long nowNanos, long nowWallMillis);
  }

  /**
   * How many events of other threads a caller's thread, or a node's I/O thread, handles in a row:
   * some 4 ms of work. With 256, the 99th percentile of the wait for a lock that 8 threads share
   * was 10 % longer: each hand-over of the queue wakes a thread, and the queue is idle meanwhile.
   */
  static final int LIMIT_IN_A_ROW = 1024;

  private final ClientContext context;
  final LockMachine machine;
  private final ConcurrentLinkedQueue<Event> inbox = new ConcurrentLinkedQueue<>();

  /** Events that are not handled yet; the thread that raises it from zero handles them. */
  private final AtomicInteger unhandled = new AtomicInteger();

  // Confined to the thread that handles events.
  private Time.@Nullable Cancellable timer;
  private long timerNanos;

  /** Whether a caller waits; written by the thread that handles events. */
  volatile boolean waiting;

  /** How many nodes know that a caller waits: those that had a number then. */
  private int toldNodes;

  /** Whether the event that is handled now is the refusal of a node. */
  private boolean refused;

  /** Whether the carriers of hints know that a node refused a caller that waits. */
  private boolean refusalTold;

  /** Written by the thread that handles events, read by a close that waits for its end. */
  private volatile @Nullable LeaseCore held;

  /** Null if the client has no listener. */
  private final @Nullable LockEvents events;

  /**
   * The thread that handles an event now. Other threads only compare it with themselves, so a stale
   * value does no harm.
   */
  private @Nullable Thread worker;

  /** Written by the thread that handles events, read by {@link Locks}. */
  private volatile boolean retired;

  /** Whether it is retired and kept: a node replied late, and left something to release. */
  private boolean kept;

  LockActor(ClientContext context, LockKeys keys) {
    this.context = context;
    machine = new LockMachine(keys, context.nodes, context.randomness, context.processName);
    events = context.events.hasListeners() ? new LockEvents(context.events, keys) : null;
  }

  LockKeys keys() {
    return machine.keys();
  }

  boolean isRetired() {
    return retired;
  }

  boolean isHeld() {
    return held != null;
  }

  /** The lease of these names that this client holds; null if there is none. */
  @Nullable HeldLease lease() {
    LeaseCore core = held;
    return core == null ? null : core.lease;
  }

  /** The client closes, and waits for the holder. */
  void tellHolderOfClose() {
    LeaseCore core = held;
    if (core != null) {
      core.clientCloses();
    }
  }

  /** Whether the current thread is in the middle of an event of this queue. */
  boolean isHandledHere() {
    return worker == Thread.currentThread();
  }

  /** Handles the event now, or leaves it to the thread that handles the queue. Never throws. */
  void post(Event event) {
    if (unhandled.compareAndSet(0, 1)) {
      handle(event);
      if (unhandled.decrementAndGet() != 0) {
        handleAll();
      }
    } else {
      inbox.add(event);
      if (unhandled.getAndIncrement() == 0) {
        handleAll();
      }
    }
  }

  private void handleAll() {
    do {
      for (int i = 0; i < LIMIT_IN_A_ROW; i++) {
        handle(requireNonNull(inbox.poll())); // Added before it was counted, so it is there.
        if (unhandled.decrementAndGet() == 0) {
          return;
        }
      }
    } while (!context.locks.handOver(this::handleAll));
  }

  /** Never throws, even if the stack overflows in what an event calls. */
  private void handle(Event event) {
    try {
      worker = Thread.currentThread();
      handleAndCarryOut(event);
    } catch (Throwable ignored) {
      // It was reported, or the stack was too short to report it.
    }
    worker = null;
  }

  private void handleAndCarryOut(Event event) {
    Time time = context.time;
    try {
      event.handle(machine, time.nanos(), time.wallMillis());
    } catch (Throwable e) {
      context.failures.report("an event of a lock's queue", keys(), e);
    }
    carryOut();
    reportWaiting();
    if (events != null) {
      events.after(machine.waiting());
    }
    try {
      retireOrArm(time);
    } catch (Throwable e) {
      context.failures.report("setting a lock's timer", keys(), e);
    }
  }

  /** Carries out the effects of the event that the machine has handled. */
  void carryOut() {
    List<Effect> effects = machine.effects();
    // A send may be answered at once (no connection); its reply becomes the next event.
    for (int i = 0; i < effects.size(); i++) {
      try {
        carryOut(effects.get(i));
      } catch (Throwable e) { // The other effects are carried out all the same.
        context.failures.report("an effect of a lock's queue", keys(), e);
      }
    }
    effects.clear();
  }

  private void carryOut(Effect effect) {
    if (events != null) {
      events.before(effect, held);
    }
    if (effect instanceof Effect.Send send) {
      context.nodes.send(send, node -> new Reply(this, send, node));
    } else if (effect instanceof Effect.Granted grant) {
      Failpoint.BEFORE_GRANT.reached();
      LeaseCore core = new LeaseCore(context, this, grant.lease());
      held = core;
      context.changed(keys());
      ((PendingAcquire) grant.waiter()).granted(core);
    } else if (effect instanceof Effect.Refuse refuse) {
      PendingAcquire waiter = (PendingAcquire) refuse.waiter();
      waiter.refused(context.locks.withOwnLease(waiter.keys(), refuse.report()));
    } else if (effect instanceof Effect.End end) {
      Failpoint.BEFORE_END.reached();
      ended(end);
    } else if (effect instanceof Effect.Settle settle) {
      ((PendingAck) settle.ack()).settle(settle.result());
    } else if (effect instanceof Effect.ReleaseHint hint) {
      context.locks.hintOthers(this, hint);
    } else if (effect instanceof Effect.Admit admit) {
      context.locks.admit(admit.keys());
    } else if (!(effect instanceof Effect.Notice)) {
      throw new IllegalStateException("an effect of unknown type: " + effect);
    }
  }

  /** Called for each reply, before the machine handles it. */
  void observe(Reply to, NodeReply reply, long now) {
    if (events != null) {
      events.onReply(to.request, reply, machine);
      requireNonNull(context.nodeRequests)
          .add(to.request, to.node, reply, now - to.exchange.sentNanos(to.node));
    }
  }

  private void ended(Effect.End end) {
    LeaseCore core = held; // One at a time: a predecessor ends before its successor is granted.
    held = null;
    context.changed(keys());
    if (core != null) {
      core.ended(end.end());
    }
  }

  private void reportWaiting() {
    boolean waits = machine.waiting() > 0;
    int nodes = waits ? context.nodes.count() : 0;
    if (nodes != toldNodes) {
      context.nodes.waiting(keys(), toldNodes, nodes);
      toldNodes = nodes;
    }
    if (waits != waiting) {
      waiting = waits;
      refusalTold = false;
      context.hints.waiting(keys(), waits);
    }
    if (waits && refused && !refusalTold && !context.hints.isEmpty()) {
      refusalTold = true;
      context.hints.refused(keys(), context.nodes.notifyWaiters());
    }
    refused = false;
  }

  private void retireOrArm(Time time) {
    long now = time.nanos();
    if (machine.mayRetire(now)) {
      retire();
      return;
    }
    if (retired && !kept) {
      kept = true;
      context.locks.keep(this);
    }
    arm(now);
  }

  /** Called when the machine is idle; the next event of these names makes a new actor. */
  void retire() {
    disarm();
    if (!retired || kept) {
      retired = true;
      kept = false;
      context.locks.remove(this);
    }
  }

  /** Keeps a timer that is too early: it costs less than a new timer for each event. */
  private void arm(long now) {
    long delay = machine.delayNanos(now);
    if (delay == Long.MAX_VALUE) {
      return;
    }
    long at = now + delay;
    if (timer != null) {
      if (timerNanos - at <= 0) {
        return;
      }
      disarm();
    }
    timerNanos = at;
    timer = context.schedule(() -> post(this::onTimer), at, delay);
  }

  private void onTimer(LockMachine m, long now, long wall) {
    Failpoint.BEFORE_TIMER.reached();
    if (timer != null && timerNanos - now <= 0) {
      timer = null;
    }
    m.onTimer(now, wall);
  }

  private void disarm() {
    Time.Cancellable armed = timer;
    timer = null;
    if (armed != null) {
      armed.cancel();
    }
  }

  /** One node's reply on its way to the queue: handler and event in one object. */
  static final class Reply implements Consumer<NodeReply>, Event {
    final LockActor actor;
    final Exchange exchange;
    final LockRequest request;
    final int node;
    private @Nullable NodeReply reply;

    Reply(LockActor actor, Effect.Send send, int node) {
      this.actor = actor;
      exchange = send.exchange();
      request = send.request();
      this.node = node;
    }

    @Override
    public void accept(NodeReply arrived) {
      Failpoint.BEFORE_VOTE.reached();
      reply = arrived;
      actor.post(this);
    }

    @Override
    public void handle(LockMachine machine, long nowNanos, long nowWallMillis) {
      NodeReply arrived = reply;
      if (arrived != null) {
        actor.observe(this, arrived, nowNanos);
        actor.refused = arrived.code() == Code.HELD || arrived.code() == Code.QUEUED;
        machine.onReply(exchange, node, arrived, nowNanos, nowWallMillis);
      }
    }
  }
}
