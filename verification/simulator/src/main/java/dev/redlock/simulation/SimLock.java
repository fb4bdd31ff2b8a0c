package dev.redlock.simulation;

import dev.redlock.internal.protocol.Effect;
import dev.redlock.internal.protocol.Exchange;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.ReleaseHints;
import java.util.ArrayList;
import java.util.List;

/** Stands in for the shell around one machine: a serial queue and a timer. */
class SimLock implements SimLink.Taker {
  final SimClient client;
  final LockKeys keys;
  final int keySet;
  final LockMachine machine;
  final World world;

  /** Lease ids whose keys may still be on a node; see {@link Checker}. */
  final List<Checker.Id> openIds = new ArrayList<>();

  final LockCost cost;
  final WaitRule.LockWait wait = new WaitRule.LockWait(this);

  private boolean busy;
  private final List<Event> inbox = new ArrayList<>();
  private long timerMono = Long.MAX_VALUE;
  private int timerVersion;

  SimLock(SimClient client, LockKeys keys, int keySet) {
    this.client = client;
    this.keys = keys;
    this.keySet = keySet;
    world = client.world;
    machine = new LockMachine(keys, client, client, client.name());
    cost = new LockCost(this);
  }

  /** A lock whose machine has a shell. */
  SimLock(SimClient client, LockMachine machine, int keySet) {
    this.client = client;
    this.keys = machine.keys();
    this.keySet = keySet;
    world = client.world;
    this.machine = machine;
    cost = new LockCost(this);
  }

  /** When the machine decided on the effects that are carried out now. */
  long decidedTrue() {
    return world.now;
  }

  /** An event with the clocks as they were read before it. */
  interface Event {
    void handle(LockMachine machine, long nowNanos, long wallMillis);
  }

  boolean covers(String lockKey) {
    for (int i = 0; i < keys.size(); i++) {
      if (keys.lockKey(i).equals(lockKey)) {
        return true;
      }
    }
    return false;
  }

  /** Passes an event to the machine: now, or after the event that is being handled. */
  void act(Event event) {
    if (busy) {
      inbox.add(event);
      return;
    }
    busy = true;
    long read = world.now;
    long mono = client.mono();
    long wall = client.wall();
    if (pausesHere()) {
      client.pauseInStep(pauseNanos(), () -> handle(event, read, mono, wall));
    } else {
      handle(event, read, mono, wall);
    }
  }

  private boolean pausesHere() {
    return world.faults && world.rng.chance(world.scenario.pauseInStep);
  }

  private long pauseNanos() {
    return world.rng.between(1, world.scenario.pauseNanos);
  }

  /** The clocks were read at the true time {@code read}. */
  private void handle(Event event, long read, long mono, long wall) {
    world.machineEvents++;
    world.history.mix(mono);
    event.handle(machine, mono, wall);
    world.checker.afterEvent(this, read, mono, wall);
    carryOut(0, 0);
  }

  /** Carries out the effects one by one; the process may pause between any two. */
  private void carryOut(int first, long doneMask) {
    List<Effect> effects = machine.effects();
    long done = doneMask;
    for (int i = first; i < effects.size(); i++) {
      if (effects.get(i) instanceof Effect.Send send) {
        for (long mask = send.mask() & ~done; mask != 0; mask &= mask - 1) {
          if (pausesHere()) {
            int here = i;
            long sent = done;
            client.pauseInStep(pauseNanos(), () -> carryOut(here, sent));
            return;
          }
          int node = Long.numberOfTrailingZeros(mask);
          if (world.tracing) {
            world.row(
                client.name(),
                "→ " + world.nodes[node].name + " " + Describe.request(send.request()));
          }
          client.links[node].send(this, send.exchange(), send.request());
          done |= 1L << node;
        }
        done = 0;
      } else {
        carryOut(effects.get(i));
      }
    }
    effects.clear();
    world.checker.afterEffects(this);
    settleDown();
    busy = false;
    if (!inbox.isEmpty()) {
      act(inbox.remove(0));
    }
  }

  private void carryOut(Effect effect) {
    if (effect instanceof Effect.Granted grant) {
      ((SimUser.Asker) grant.waiter()).granted(grant.lease());
    } else if (effect instanceof Effect.Refuse refuse) {
      ((SimUser.Asker) refuse.waiter()).refused(refuse.report());
    } else if (effect instanceof Effect.End end) {
      for (SimUser user : client.users) {
        user.leaseEnded(end.lease(), end.end());
      }
    } else if (effect instanceof Effect.Attempted) {
      client.rounds++;
    } else if (effect instanceof Effect.ReleaseHint hint) {
      sendHint(hint);
    } else if (effect instanceof Effect.Admit admit) {
      client.admit(admit.keys());
    } else if (effect instanceof Effect.Settle settle) {
      ((SimAck) settle.ack()).settled(settle.result());
    } else if (!(effect instanceof Effect.Notice)) {
      throw new IllegalStateException("an effect of unknown type: " + effect);
    }
  }

  private void sendHint(Effect.ReleaseHint hint) {
    for (SimLock other : client.locks) {
      if (other != null && other != this) {
        for (int i = 0; i < keys.size(); i++) {
          if (other.covers(keys.lockKey(i))) {
            client.soon(() -> other.act(LockMachine::onReleaseHint));
            break;
          }
        }
      }
    }
    if (world.scenario.bus && hint.reason() == ReleaseHints.Reason.RELEASED) {
      world.broadcast(client, keys);
    }
  }

  @Override
  public void onReply(Exchange exchange, int node, LockRequest request, NodeReply reply) {
    world.arrives(client, node, request, reply);
    act(
        (m, now, wall) -> {
          world.checker.onReplyDelivered(this, exchange, node, request, reply);
          m.onReply(exchange, node, reply, now, wall);
        });
  }

  private void settleDown() {
    if (machine.mayRetire(client.mono())) {
      client.retired(this);
      timerVersion++;
      timerMono = Long.MAX_VALUE;
      world.checker.idle(this);
      return;
    }
    long now = client.mono();
    long delay = machine.delayNanos(now);
    if (delay == Long.MAX_VALUE) {
      return;
    }
    long at = now + delay;
    if (timerMono <= at) {
      return; // An early timer costs less than moving it each time.
    }
    timerMono = at;
    int version = ++timerVersion;
    long late =
        world.faults && world.scenario.timerLateNanos > 0
            ? world.rng.between(0, world.scenario.timerLateNanos)
            : 0;
    client.atMono(
        at + late,
        () -> {
          if (version == timerVersion) {
            timerMono = Long.MAX_VALUE;
            act(LockMachine::onTimer);
          }
        });
  }

  boolean isBusy() {
    return busy;
  }
}
