package dev.redlock.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.internal.protocol.Exchange;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.internal.protocol.Order;
import dev.redlock.internal.protocol.Survey;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReplyHandler;
import dev.redlock.spi.Time;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The serial queue of one {@link LockMachine}: events of any thread, one after another, and the
 * orders of each carried out before the next. Whoever brings an event while nobody is at it works
 * the queue off; nobody ever waits.
 */
final class LockActor implements OwedCleanups.Debtor {

  /** An event, with the clocks read when it is handled. */
  interface Event {
    void handle(LockMachine machine, long nowNanos, long nowWallMillis);
  }

  private final Client client;
  private final LockMachine machine;
  private final ConcurrentLinkedQueue<Event> inbox = new ConcurrentLinkedQueue<>();

  /** Events that are not handled yet; who raises it from zero handles them. */
  private final AtomicInteger unhandled = new AtomicInteger();

  // Confined to whoever handles events.
  private Time.@Nullable Cancellable timer;
  private long timerNanos;
  private boolean waitingAnnounced;
  private @Nullable LeaseCore held;

  /** Written by whoever handles events, read by the registry. */
  private volatile boolean retired;

  LockActor(Client client, LockKeys keys) {
    this.client = client;
    machine = new LockMachine(keys, client.nodeSet(), client.randomness(), client.processName());
  }

  LockKeys keys() {
    return machine.keys();
  }

  boolean isRetired() {
    return retired;
  }

  /** Handles the event now, or leaves it to whoever is at the queue. */
  void post(Event event) {
    if (unhandled.compareAndSet(0, 1)) {
      handle(event);
      if (unhandled.decrementAndGet() == 0) {
        return;
      }
    } else {
      inbox.add(event);
      if (unhandled.getAndIncrement() != 0) {
        return;
      }
    }
    do {
      handle(requireNonNull(inbox.poll())); // Added before it was counted, so it is there.
    } while (unhandled.decrementAndGet() != 0);
  }

  private void handle(Event event) {
    Time time = client.time();
    try {
      event.handle(machine, time.nanos(), time.wallMillis());
    } catch (RuntimeException | Error e) {
      client
          .log()
          .error("internal error on {}: its keys are left to their time to live", keys(), e);
    }
    carryOut();
    settleDown(time);
  }

  private void carryOut() {
    List<Order> orders = machine.orders();
    // Orders may answer at once (no connection) and add further orders only through the queue.
    for (int i = 0; i < orders.size(); i++) {
      try {
        carryOut(orders.get(i));
      } catch (RuntimeException | Error e) { // The others are owed to somebody all the same.
        client.log().error("internal error on {}: an order was not carried out", keys(), e);
      }
    }
    orders.clear();
  }

  private void carryOut(Order order) {
    if (order instanceof Order.Send send) {
      send(send);
    } else if (order instanceof Order.Grant grant) {
      LeaseCore core = new LeaseCore(client, this, grant.lease());
      held = core;
      ((PendingAcquire) grant.waiter()).granted(core);
    } else if (order instanceof Order.Refuse refuse) {
      ((PendingAcquire) refuse.waiter()).refused(refuse.report());
    } else if (order instanceof Order.TurnAway away) {
      ((PendingAcquire) away.waiter()).turnedAway(away.length());
    } else if (order instanceof Order.End end) {
      ended(end);
    } else if (order instanceof Order.Settle settle) {
      settle(settle);
    } else if (order instanceof Order.Announce announce) {
      client.announce(this, announce);
    } else {
      client.events().observe(keys(), order, held);
    }
  }

  private void send(Order.Send send) {
    for (long mask = send.mask(); mask != 0; mask &= mask - 1) {
      int index = Long.numberOfTrailingZeros(mask);
      LockNode node = client.nodeSet().node(index);
      Reply reply = new Reply(this, send.exchange(), index);
      try {
        node.send(send.request(), reply);
      } catch (RuntimeException | Error e) { // It must not, but others write nodes too.
        client.log().error("node {} threw instead of answering", node.name(), e);
        long connection = node.status().connection();
        reply.onReply(NodeReply.failed(connection, NodeError.Kind.UNEXPECTED, e.toString()));
      }
    }
  }

  private void ended(Order.End end) {
    LeaseCore core = held; // One at a time: a predecessor ends before its successor is granted.
    held = null;
    if (core != null) {
      core.ended(end.end());
    }
  }

  private void settle(Order.Settle settle) {
    if (settle.ticket() instanceof Survey survey) {
      client.surveys().finished(survey);
    } else {
      ((Ticket) settle.ticket()).settle(settle.outcome());
    }
  }

  private void settleDown(Time time) {
    if (machine.hasCleanupNews()) {
      client.cleanups().add(this, machine.takeCleanupNews(), machine.pendingCleanups() > 0);
    }
    boolean waits = machine.waiting() > 0;
    if (waits != waitingAnnounced) {
      waitingAnnounced = waits;
      client.waitingChanged(keys(), waits);
    }
    long now = time.nanos();
    if (machine.mayRetire(now)) {
      retire();
    } else {
      arm(time, now);
    }
  }

  @Override
  public void giveUpOldest() {
    post((m, now, wall) -> m.forgetOldestCleanup());
  }

  private void retire() {
    disarm();
    if (!retired) {
      retired = true;
      client.locks().remove(this);
    }
  }

  /** A timer that fires too early costs less than moving it with each event. */
  private void arm(Time time, long now) {
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
    timer = time.schedule(() -> post(this::onTimer), delay);
  }

  private void onTimer(LockMachine m, long now, long wall) {
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

  /** What this client holds under the names now, or null; only for whoever handles events. */
  @Nullable HeldLease lease() {
    return machine.lease();
  }

  /** One node's answer on its way to the queue: handler and event in one object. */
  private static final class Reply implements ReplyHandler, Event {
    private final LockActor actor;
    private final Exchange exchange;
    private final int node;
    private @Nullable NodeReply reply;

    Reply(LockActor actor, Exchange exchange, int node) {
      this.actor = actor;
      this.exchange = exchange;
      this.node = node;
    }

    @Override
    public void onReply(NodeReply answer) {
      reply = answer;
      actor.post(this);
    }

    @Override
    public void handle(LockMachine machine, long nowNanos, long nowWallMillis) {
      NodeReply answer = reply;
      if (answer != null) {
        machine.onReply(exchange, node, answer, nowNanos, nowWallMillis);
      }
    }
  }
}
