package dev.redlock.simulation;

import dev.redlock.AcquireReport;
import dev.redlock.AcquireVerdict;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.internal.SimulatedClient;
import dev.redlock.internal.WaitProbe;
import dev.redlock.internal.protocol.WakeUp;
import dev.redlock.operations.NodeState;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A listener that throws, blocks and calls back, and that checks which events it receives. */
final class ShellListener implements WaitProbe {
  private final ShellClient client;
  private final World world;
  private long joined;
  private long left;
  private long granted;
  private boolean dropped;
  private boolean dead;
  private boolean inside;

  /** The tokens of the leases that were acquired and have not ended. */
  private final Set<String> held = new HashSet<>();

  final Map<HandOff, Integer> handOffs = new HashMap<>();
  final Map<WakeUp, Integer> wakeUps = new HashMap<>();
  final Map<AcquireVerdict, Integer> verdicts = new HashMap<>();

  ShellListener(ShellClient client) {
    this.client = client;
    world = client.world;
  }

  void die() {
    dead = true;
  }

  /** User code: checks that events come one at a time; then it throws, blocks or calls back. */
  private void event() {
    if (dead) {
      return;
    }
    if (inside) {
      world.failed(new Violation("listener", client.name() + ": two events at a time"));
    }
    inside = true;
    try {
      client.userBlocks();
      if (client.throwsNow()) {
        throw new ShellClient.Thrown();
      }
      if (world.faults && !client.closing && world.rng.chance(0.02)) {
        client.operate(world.rng.below(world.scenario.keySets.size()), false);
      }
    } finally {
      inside = false;
    }
  }

  @Override
  public void onWaiterJoined(Caller caller) {
    joined++;
    event();
  }

  @Override
  public void onWaiterLeft(
      Caller caller, AcquireVerdict verdict, Duration waited, @Nullable AcquireReport report) {
    left++;
    if (left > joined && !dropped) {
      world.failed(new Violation("listener", client.name() + ": more callers left than joined"));
    }
    verdicts.merge(verdict, 1, Integer::sum);
    event();
  }

  @Override
  public void onAcquired(Lease lease, Duration waited) {
    granted++;
    if (!held.add(key(lease))) {
      world.failed(new Violation("listener", "acquired twice: " + SimulatedClient.id(lease)));
    }
    event();
  }

  @Override
  public void onEnded(Lease lease, LeaseEnd end, Duration ago, Duration validityLeft) {
    if (!held.remove(key(lease)) && !dropped) {
      world.failed(
          new Violation("listener", "ended before it was acquired: " + SimulatedClient.id(lease)));
    }
    if (lease.isValid()) {
      world.failed(new Violation("listener", "valid after its end: " + SimulatedClient.id(lease)));
    }
    event();
  }

  private static String key(Lease lease) {
    return lease.names() + " " + lease.fencingToken();
  }

  @Override
  public void onExtended(Lease lease, int repaired) {
    event();
  }

  @Override
  public void onHandOff(List<String> names, HandOff kind) {
    handOffs.merge(kind, 1, Integer::sum);
    event();
  }

  @Override
  public void onWakeUp(List<String> names, WakeUp cause) {
    wakeUps.merge(cause, 1, Integer::sum);
    event();
  }

  @Override
  public void onNode(NodeState node) {
    event();
  }

  @Override
  public void onDropped(long events) {
    dropped = true;
  }

  void requireComplete() {
    if (dropped) {
      return;
    }
    if (joined != left) {
      throw new Violation(
          "listener", client.name() + ": " + joined + " callers joined and " + left + " left");
    }
    if (!held.isEmpty()) {
      throw new Violation(
          "listener", client.name() + ": not told the end of " + held.size() + " of " + granted);
    }
  }
}
