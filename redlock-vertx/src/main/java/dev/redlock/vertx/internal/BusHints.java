package dev.redlock.vertx.internal;

import dev.redlock.spi.ReleaseHints;
import dev.redlock.vertx.RedlockOptions;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.Message;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The event bus as a carrier of release hints.
 *
 * <p><b>Problem.</b> A release that no client waits for must cost nothing, but only the nodes know
 * who waits. If every release is published to all members, they handle thousands of useless
 * messages a second. If each name has an address, the release has to ask the cluster manager
 * whether the address has a consumer, which with Hazelcast is a request to another member.
 *
 * <p><b>Way.</b> A client whose caller was refused by a node, and which no node notifies, publishes
 * that it waits for the name, and repeats that every {@value #REPEAT_MILLIS} ms while it waits. All
 * clients remember it for {@value #FORGET_MILLIS} ms. A release looks the name up in this table; if
 * it is there, the release sends one message to each waiting client, after the release itself and
 * on another thread. A client that receives a hint for a name that it no longer waits for says so.
 *
 * <p>The work per name is bounded in both directions, whatever other members send. Outgoing hints
 * of one name are merged within {@value #MERGE_MILLIS} ms; incoming hints are limited by {@link
 * HintThrottle}.
 */
public final class BusHints implements ReleaseHints {
  private static final long MERGE_MILLIS = 5;
  private static final long REPEAT_MILLIS = 3_000;
  private static final long FORGET_MILLIS = 10_000;

  private final Bus bus;
  private final String shared;
  private final String own;
  private final boolean always;

  /**
   * Name to the number of local queues that wait for it. Written by lock queues, read by the event
   * loop.
   */
  private final Map<String, Integer> waiting = new ConcurrentHashMap<>();

  private final BusWaiters waiters = new BusWaiters();

  // Confined to the event loop.

  /** Names for which other clients know that this one waits. */
  private final Set<String> interested = new HashSet<>();

  /** Name to the hint that is not sent yet; null while the name only pauses. */
  private final Map<String, @Nullable BusHint> outgoing = new HashMap<>();

  private final Map<String, HintThrottle> throttles = new HashMap<>();
  private boolean sweeping;
  private @Nullable Receiver receiver;
  private boolean closed;

  public BusHints(Vertx vertx, RedlockOptions options) {
    bus = new Bus(vertx);
    shared = options.getReleaseAddress();
    own = shared + "." + bus.id();
    always = options.getReleaseHints().equals("always");
  }

  @Override
  public void start(Receiver to) {
    bus.run(() -> receiver = to);
    bus.consume(shared, this::onInterest);
    bus.consume(own, this::onHint);
  }

  // This client waits.

  @Override
  public void waiting(String name) {
    waiting.merge(name, 1, Integer::sum);
  }

  @Override
  public void idle(String name) {
    waiting.computeIfPresent(name, (n, count) -> count == 1 ? null : count - 1);
  }

  @Override
  public void refused(String name, boolean notified) {
    if (always || !notified) {
      bus.run(() -> askForHints(name));
    }
  }

  private void askForHints(String name) {
    if (!closed && waiting.containsKey(name)) {
      if (interested.add(name)) {
        publish(BusHint.Type.WAITING, name);
        sweepLater();
      }
      // The release may come before the message has arrived: ask again a little later.
      expectHints(name);
    }
  }

  private void publish(BusHint.Type type, String name) {
    bus.publish(shared, new BusHint(type, name, 0, own).toJson(System.currentTimeMillis()));
  }

  private void onHint(Message<Object> message) {
    BusHint hint = BusHint.parse(message.body());
    if (hint == null || hint.type().compareTo(BusHint.Type.LOST) < 0) {
      return;
    }
    String name = hint.name();
    if (waiting.containsKey(name)) {
      if (expectHints(name).hint()) {
        wake(name);
      }
    } else if (interested.remove(name)) {
      publish(BusHint.Type.IDLE, name);
    }
  }

  private HintThrottle expectHints(String name) {
    HintThrottle known = throttles.get(name);
    if (known == null) {
      known = new HintThrottle();
      throttles.put(name, known);
      tickLater(name, known);
    }
    known.restart();
    return known;
  }

  private void tickLater(String name, HintThrottle throttle) {
    bus.later(
        HintThrottle.TICK_MILLIS,
        () -> {
          if (throttle.tick()) {
            wake(name);
          }
          if (throttle.isOver() || closed || !waiting.containsKey(name)) {
            throttles.remove(name);
          } else {
            tickLater(name, throttle);
          }
        });
  }

  private void wake(String name) {
    Receiver to = receiver;
    if (to != null && !closed) {
      to.mayBeFree(name);
    }
  }

  // Others wait.

  private void onInterest(Message<Object> message) {
    BusHint said = BusHint.parse(message.body());
    // A forged address must not make this client send messages to other consumers.
    if (said == null || !said.to().startsWith(shared + ".") || said.to().equals(own)) {
      return;
    }
    if (said.type() == BusHint.Type.WAITING) {
      waiters.add(said.name(), said.to(), nowMillis() + FORGET_MILLIS);
      sweepLater();
    } else if (said.type() == BusHint.Type.IDLE) {
      waiters.remove(said.name(), said.to());
    }
  }

  @Override
  public void ended(Ended ended) {
    if (ended.reason() == Reason.HANDED_OFF) {
      return; // The lock is not free.
    }
    BusHint.Type type = ended.reason() == Reason.LOST ? BusHint.Type.LOST : BusHint.Type.RELEASED;
    for (String name : ended.names()) {
      if (waiters.contains(name)) {
        send(BusHint.ended(type, name, ended.token()));
      }
    }
  }

  private void send(BusHint hint) {
    bus.run(
        () -> {
          if (outgoing.containsKey(hint.name())) {
            BusHint pending = outgoing.get(hint.name());
            outgoing.put(hint.name(), pending == null ? hint : pending.and(hint));
          } else if (!closed) {
            sendNow(hint);
          }
        });
  }

  private void sendNow(BusHint hint) {
    String name = hint.name();
    for (String to : waiters.of(name)) {
      bus.send(to, hint.toJson(System.currentTimeMillis()));
    }
    outgoing.put(name, null);
    bus.later(
        MERGE_MILLIS,
        () -> {
          BusHint pending = outgoing.remove(name);
          if (pending != null && !closed) {
            sendNow(pending);
          }
        });
  }

  // Waits of both kinds: forgets those that are over, and repeats the others.

  private void sweepLater() {
    if (!sweeping) {
      sweeping = true;
      bus.later(REPEAT_MILLIS, this::sweep);
    }
  }

  private void sweep() {
    sweeping = false;
    if (closed) {
      return;
    }
    waiters.expire(nowMillis());
    interested.removeIf(
        name -> {
          boolean over = !waiting.containsKey(name);
          publish(over ? BusHint.Type.IDLE : BusHint.Type.WAITING, name);
          return over;
        });
    if (!interested.isEmpty() || !waiters.isEmpty()) {
      sweepLater();
    }
  }

  private static long nowMillis() {
    return System.nanoTime() / 1_000_000;
  }

  @Override
  public void close() {
    bus.run(() -> closed = true);
    bus.close();
  }
}
