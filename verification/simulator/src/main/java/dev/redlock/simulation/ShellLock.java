package dev.redlock.simulation;

import dev.redlock.internal.SimulatedClient;
import dev.redlock.internal.protocol.Effect;
import dev.redlock.internal.protocol.Exchange;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import java.util.List;

/** One queue of a client as it ships, as the {@link Checker} sees it. */
final class ShellLock extends SimLock implements SimulatedClient.Observer {
  private long decidedTrue;

  ShellLock(ShellClient client, LockMachine machine, int keySet) {
    super(client, machine, keySet);
  }

  private void check(Runnable rule) {
    if (!client.alive) {
      return;
    }
    try {
      rule.run();
    } catch (RuntimeException | AssertionError e) {
      world.failed(e); // The shell would log it, and continue.
    }
  }

  /** Whether no user can get a lease of it. */
  private boolean isOfOperators() {
    return keys.names().equals(List.of("%set"));
  }

  /** Its thread may pause between two effects. */
  @Override
  long decidedTrue() {
    return decidedTrue;
  }

  @Override
  public void handled() {
    world.machineEvents++;
    decidedTrue = world.now;
    ShellClient.Reading read = ((ShellClient) client).lastReading();
    world.history.mix(read.monoNanos());
    check(
        () ->
            world.checker.afterEvent(this, read.trueNanos(), read.monoNanos(), read.wallMillis()));
    for (Effect effect : machine.effects()) {
      if (effect instanceof Effect.Granted grant && !isOfOperators()) {
        ((ShellClient) client).requireTaken(grant.lease());
      }
    }
  }

  @Override
  public void carriedOut() {
    if (client.mono() - client.resumedMono() > 0) {
      // Otherwise its thread was paused, and the events of that time wait in the queue.
      check(() -> world.checker.afterEffects(this));
    }
  }

  @Override
  public void arrives(Exchange exchange, int node, LockRequest request, NodeReply reply) {
    int index = ((ShellClient) client).index(node);
    world.arrives(client, index, request, reply);
    check(() -> world.checker.onReplyDelivered(this, exchange, index, request, reply));
  }

  @Override
  public void retired() {
    check(() -> world.checker.idle(this));
  }
}
