package dev.redlock.vertx.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.spi.ReleaseHints;
import dev.redlock.vertx.RedlockOptions;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The event bus as a carrier of release notices.
 *
 * <p>Both ways are bounded per name, whatever others send: outgoing notices of one name are merged
 * within {@value #MERGE_MILLIS} ms; incoming ones wake at once, {@value #BURST} in a row, then once
 * in {@value #REFILL_MILLIS} ms, and the last of a flood is never dropped. A name nobody here waits
 * for costs one look into a map.
 */
public final class BusHints implements ReleaseHints {
  private static final long MERGE_MILLIS = 5;
  private static final int BURST = 20;
  private static final long REFILL_MILLIS = 10;

  /**
   * A notice may overtake the release on its way to a node, and then wakes for a refusal. Where the
   * nodes push, the next push mends that; for those who have nothing but the bus, the last notice
   * of a name wakes again twice.
   */
  private static final int SECOND_WAKE_TICKS = 5;

  private static final int LAST_WAKE_TICKS = 40;

  /** An address per name is registered only for those who wait longer than a round trip or two. */
  private static final long REGISTER_AFTER_MILLIS = 20;

  private static final long UNREGISTER_AFTER_MILLIS = 5_000;

  private final Bus bus;
  private final String address;
  private final boolean addressPerName;
  private final boolean bridging;

  /** How many wait for a name here. Changed by lock queues, read by the event loop and nodes. */
  private final Map<String, Integer> waiting = new ConcurrentHashMap<>();

  // Confined to the event loop.
  private final Map<String, Outgoing> outgoing = new HashMap<>();
  private final Map<String, Incoming> incoming = new HashMap<>();
  private final Map<String, MessageConsumer<Object>> consumers = new HashMap<>();
  private @Nullable Receiver receiver;
  private boolean closed;

  /** What is not told yet. */
  private static final class Outgoing {
    private @Nullable Notice pending;
  }

  /** How many wake-ups a name may still have now, and how long it has been quiet. */
  private static final class Incoming {
    private int budget = BURST;
    private boolean pending;
    private int quietTicks;
  }

  public BusHints(Vertx vertx, RedlockOptions options) {
    bus = new Bus(vertx, options);
    String given = options.getReleaseAddress();
    if (given == null) {
      throw new IllegalArgumentException("releaseAddress is null: nothing to carry hints");
    }
    address = given;
    addressPerName = options.isAddressPerName();
    bridging = options.isBridgeRedisHints();
  }

  @Override
  public void start(Receiver to) {
    bus.run(
        () -> {
          receiver = to;
          if (!addressPerName && !closed) {
            listen(address);
          }
        });
  }

  // Others are told.

  @Override
  public void ended(Ended ended) {
    Notice.Type type =
        switch (ended.reason()) {
          case RELEASED -> Notice.Type.RELEASED;
          case HANDED_OFF -> Notice.Type.HANDED_OFF;
          case LOST -> Notice.Type.LOST;
        };
    for (String name : ended.names()) {
      tell(new Notice(type, name, ended.token()));
    }
  }

  @Override
  public void pushed(String name) {
    if (bridging && waiting.containsKey(name)) {
      tell(new Notice(Notice.Type.HINT, name, 0));
    }
  }

  private void tell(Notice notice) {
    bus.run(
        () -> {
          Outgoing out = outgoing.get(notice.name());
          if (out != null) {
            Notice pending = out.pending;
            out.pending = pending == null ? notice : pending.and(notice);
          } else if (!closed) {
            out = new Outgoing();
            outgoing.put(notice.name(), out);
            publish(notice);
            mergeWith(notice.name(), out);
          }
        });
  }

  private void mergeWith(String name, Outgoing out) {
    bus.later(
        MERGE_MILLIS,
        () -> {
          Notice pending = out.pending;
          out.pending = null;
          if (pending == null || closed) {
            outgoing.remove(name);
          } else {
            publish(pending);
            mergeWith(name, out);
          }
        });
  }

  private void publish(Notice notice) {
    String to = addressPerName ? addressOf(notice.name()) : address;
    bus.publish(to, notice.toJson(System.currentTimeMillis()));
  }

  private String addressOf(String name) {
    return address + "." + name;
  }

  // Others tell us.

  @Override
  public void waiting(String name) {
    int count = requireNonNull(waiting.merge(name, 1, Integer::sum));
    if (addressPerName && count == 1) {
      bus.run(() -> bus.later(REGISTER_AFTER_MILLIS, () -> listenIfWaiting(name)));
    }
  }

  @Override
  public void idle(String name) {
    Integer left = waiting.computeIfPresent(name, (n, count) -> count == 1 ? null : count - 1);
    if (left != null) {
      return;
    }
    if (addressPerName) {
      bus.run(
          () -> {
            if (consumers.containsKey(addressOf(name))) { // Few wait long enough to have one.
              bus.later(UNREGISTER_AFTER_MILLIS, () -> deafIfIdle(name));
            }
          });
    }
  }

  private void listenIfWaiting(String name) {
    if (!closed && waiting.containsKey(name) && !consumers.containsKey(addressOf(name))) {
      listen(addressOf(name));
    }
  }

  private void deafIfIdle(String name) {
    if (!waiting.containsKey(name)) {
      MessageConsumer<Object> consumer = consumers.remove(addressOf(name));
      if (consumer != null) {
        consumer.unregister();
      }
    }
  }

  private void listen(String at) {
    consumers.put(at, bus.consumer(at, this::heard));
  }

  private void heard(Message<Object> message) {
    Notice notice = Notice.parse(message.body());
    if (notice == null
        || !notice.type().wakes()
        || !waiting.containsKey(notice.name())
        || bus.isOwn(message)) {
      return;
    }
    String name = notice.name();
    Incoming in = incoming.get(name);
    if (in == null) {
      in = new Incoming();
      incoming.put(name, in);
      refillLater(name, in);
    }
    in.quietTicks = 0;
    if (in.budget > 0) {
      in.budget--;
      wake(name);
    } else {
      in.pending = true;
    }
  }

  private void refillLater(String name, Incoming in) {
    bus.later(
        REFILL_MILLIS,
        () -> {
          in.quietTicks++;
          if (in.pending) {
            in.pending = false;
            wake(name);
          } else {
            in.budget = Math.min(BURST, in.budget + 1);
            if (in.quietTicks == SECOND_WAKE_TICKS || in.quietTicks == LAST_WAKE_TICKS) {
              wake(name);
            }
          }
          boolean over = in.quietTicks >= LAST_WAKE_TICKS && in.budget == BURST;
          if (over || closed || !waiting.containsKey(name)) {
            incoming.remove(name);
            return;
          }
          refillLater(name, in);
        });
  }

  private void wake(String name) {
    Receiver to = receiver;
    if (to != null && !closed) {
      to.mayBeFree(name);
    }
  }

  @Override
  public void close() {
    bus.run(
        () -> {
          closed = true;
          consumers.values().forEach(MessageConsumer::unregister);
          consumers.clear();
        });
  }
}
