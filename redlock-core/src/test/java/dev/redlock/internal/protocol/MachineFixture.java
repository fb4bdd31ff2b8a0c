package dev.redlock.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import dev.redlock.AcquireVerdict;
import dev.redlock.LockOptions;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import dev.redlock.spi.NodeStatus;
import java.util.ArrayList;
import java.util.List;

/** One {@link LockMachine} on three nodes that reply as the test says. */
abstract class MachineFixture {
  static final long MILLI = TestNodes.MILLI;
  static final long ALL = 0b111;
  static final Effect.Ack ACK = new Effect.Ack() {};

  /** The home node of {@link TestNodes#KEYS}, and the node that follows it. */
  static final int HOME = 2;

  static final int NEXT_HOME = 1;

  final TestNodes nodes = new TestNodes(3);
  LockOptions config = TestNodes.options().build();
  LockMachine machine = machine(TestNodes.KEYS);
  long now = 10_000 * MILLI;

  final LockMachine machine(LockKeys keys) {
    return new LockMachine(keys, nodes, new TestNodes.Middle(), "p");
  }

  final void options(LockOptions.Builder options) {
    config = options.build();
  }

  final Waiter submit(boolean singleTry) {
    return submit(5000, singleTry);
  }

  final Waiter submit(long patienceMillis, boolean singleTry) {
    Waiter w = new TestNodes.Caller(config, now, patienceMillis * MILLI, singleTry);
    machine.submit(w, now, now / MILLI);
    return w;
  }

  final <T extends Effect> List<T> take(Class<T> type) {
    List<T> taken = new ArrayList<>();
    for (Effect effect : machine.effects()) {
      if (type.isInstance(effect)) {
        taken.add(type.cast(effect));
      }
    }
    machine.effects().clear();
    return taken;
  }

  final List<AcquireVerdict> refusals() {
    return take(Effect.Refuse.class).stream().map(refuse -> refuse.report().verdict()).toList();
  }

  final Effect.Send sent() {
    List<Effect.Send> sent = take(Effect.Send.class);
    assertThat(sent).hasSize(1);
    return sent.get(0);
  }

  /** The only request of this type that was sent since the last call. */
  final Effect.Send sent(Class<? extends LockRequest> type) {
    List<Effect.Send> sent = take(Effect.Send.class);
    sent.removeIf(send -> !type.isInstance(send.request()));
    assertThat(sent).hasSize(1);
    return sent.get(0);
  }

  final void reply(Effect.Send send, Code code, int... from) {
    reply(send, TestNodes.reply(code), from);
  }

  final void reply(Effect.Send send, NodeReply reply, int... from) {
    for (int node : from) {
      machine.onReply(send.exchange(), node, reply, now, now / MILLI);
    }
  }

  final void release(HeldLease l) {
    machine.release(l, ACK, now, now / MILLI);
  }

  /** Lets time pass, and calls the timer. */
  final void pass(long millis) {
    now += millis * MILLI;
    timer();
  }

  final void timer() {
    machine.onTimer(now, now / MILLI);
  }

  /** Lets time pass until the machine wants to be called, and calls it. */
  final void wake() {
    now += machine.delayNanos(now);
    timer();
  }

  final HeldLease acquire() {
    submit(false);
    reply(sent(), Code.GRANTED, 0, 1, 2);
    return granted();
  }

  final HeldLease granted() {
    List<Effect.Granted> granted = take(Effect.Granted.class);
    assertThat(granted).hasSize(1);
    return granted.get(0).lease();
  }

  static LockRequest.Acquire request(Effect.Send send) {
    return (LockRequest.Acquire) send.request();
  }

  final void disconnect(int... disconnected) {
    for (int node : disconnected) {
      nodes.state(node, NodeStatus.State.CONNECTING, 1);
    }
  }

  /** As many rounds as may be are under way. */
  final void reachLimit() {
    while (nodes.limiter().underWay() < nodes.limiter().limit()) {
      nodes.limiter().began();
    }
  }

  /** Another process wants the lock, as the home node says: the next caller has to queue there. */
  final void othersWant() {
    release(acquire());
    reply(sent(), reply(Code.RELEASED, 1), 0, 1, 2);
    assertThat(machine.isIdle()).isTrue();
    machine.effects().clear();
  }

  /** This caller is to be queued at the home node. */
  final Effect.Send queueing() {
    othersWant();
    submit(false);
    return sent(LockRequest.Enqueue.class);
  }

  static NodeReply reply(Code code, int othersQueued) {
    String mark = code == Code.HELD ? "another" : null;
    return new NodeReply(code, 1, 0, 0, 200, mark, othersQueued, null);
  }
}
