package dev.redlock.simulation;

import dev.redlock.AcquireReport;
import dev.redlock.LeaseEnd;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.Waiter;

/** A caller in a process that acquires a lock, works and releases it, again and again. */
class SimUser {
  final SimClient client;
  final String name;
  final World world;
  final Scenario scenario;
  private int wishCount;
  private HeldLease lease;
  private SimLock lock;
  private Wish wish;
  private boolean doomed;

  SimUser(SimClient client, int index) {
    this.client = client;
    world = client.world;
    scenario = world.scenario;
    name = client.name() + "/" + (index + 1);
  }

  /** Receives the reply to a wish. */
  interface Asker {
    void granted(HeldLease lease);

    void refused(AcquireReport report);
  }

  /** One call that waits for the lock. */
  static final class Wish extends Waiter implements Asker {
    final SimUser user;
    final SimLock lock;
    final long deadline;
    final boolean singleTry;
    final boolean mustBeGranted;
    boolean over;

    Wish(SimUser user, SimLock lock, long now, long deadline, boolean singleTry, boolean must) {
      super(lock.keys, user.scenario.config, now, deadline, singleTry);
      this.user = user;
      this.lock = lock;
      this.deadline = deadline;
      this.singleTry = singleTry;
      mustBeGranted = must;
    }

    @Override
    public void granted(HeldLease lease) {
      settle();
      user.granted(this, lease);
    }

    @Override
    public void refused(AcquireReport report) {
      settle();
      if (world().tracing) {
        world().row(user.name, "refused: " + report.sentence());
      }
      if (mustBeGranted) {
        throw new Violation("liveness", user.name + " waited in vain: " + report.sentence());
      }
      user.think();
    }

    void settle() {
      if (over) {
        throw new Violation("once", user.name + " got two replies");
      }
      over = true;
      world().wishes--;
    }

    private World world() {
      return user.world;
    }
  }

  void think() {
    if (world.ending) {
      return;
    }
    client.atMono(
        client.mono() + world.rng.between(1, 2 * scenario.thinkNanos),
        () -> {
          if (!world.ending && !client.closing) {
            wish(false, world.rng.below(scenario.keySets.size()), scenario.waitNanos);
          }
        });
  }

  void wish(boolean must, int keySet, long waitNanos) {
    wishCount++;
    lock = client.lock(keySet);
    long now = client.mono();
    boolean singleTry = !must && world.rng.chance(scenario.singleTry);
    long wait = must ? waitNanos : world.rng.between(0, 2 * waitNanos);
    Wish w = new Wish(this, lock, now, now + wait, singleTry, must);
    wish = w;
    world.wishes++;
    if (world.tracing) {
      world.row(
          name, (singleTry ? "tries " : "wants ") + lock.keys + " within " + Scenario.ms(wait));
    }
    lock.act((m, at, wall) -> m.submit(w, at, wall));
    if (!must && world.rng.chance(scenario.cancel)) {
      client.atMono(client.mono() + world.rng.between(1, Math.max(2, wait / 2)), () -> cancel(w));
    }
  }

  /** Acquires the lock; its process crashes as soon as it holds the lease. */
  void dieWith(int keySet, long waitNanos) {
    doomed = true;
    client.soon(() -> wish(true, keySet, waitNanos));
  }

  private void cancel(Wish w) {
    w.lock.act(
        (m, now, wall) -> {
          if (m.cancel(w, now, wall)) {
            world.row(name, "gives up");
            w.settle();
            think();
          }
        });
  }

  private void granted(Wish w, HeldLease granted) {
    lease = granted;
    int t = wishCount;
    if (world.tracing) {
      world.row(name, Describe.holds(granted, client));
    }
    if (doomed) {
      world.at(world.now, () -> world.replace(client, "dies with " + granted.id()));
      return;
    }
    Rng rng = world.rng;
    long hold = w.mustBeGranted ? Scenario.MS : rng.between(0, 2 * scenario.holdNanos);
    if (!w.mustBeGranted && rng.chance(scenario.hang)) {
      hold = 20 * scenario.ttlNanos; // A worker that hangs.
    }
    if (!w.mustBeGranted && rng.chance(scenario.userExtend)) {
      client.atMono(client.mono() + rng.between(1, Math.max(2, hold)), () -> extend(t, granted));
    }
    client.atMono(client.mono() + hold, () -> release(t, granted));
  }

  private void extend(int t, HeldLease l) {
    if (wishCount == t && lease == l) {
      lock.act((m, now, wall) -> m.extend(l, new SimAck(client, "extension"), now, wall));
    }
  }

  void releaseNow() {
    HeldLease l = lease;
    if (l != null) {
      release(wishCount, l);
    }
  }

  private void release(int t, HeldLease l) {
    if (wishCount != t || lease != l) {
      return;
    }
    world.row(name, "releases " + l.id());
    lease = null;
    l.askRelease();
    SimLock at = lock;
    at.act((m, now, wall) -> m.release(l, new SimAck(client, "release"), now, wall));
    think();
  }

  /** The process has crashed: its callers wait no longer. */
  void die() {
    if (wish != null && !wish.over) {
      wish.settle();
    }
    lease = null;
  }

  boolean isAnswered() {
    return wish == null || wish.over;
  }

  void requireAnswered() {
    if (!isAnswered()) {
      throw new Violation("liveness", name + " still waits for " + wish.lock.keys);
    }
  }

  void leaseEnded(HeldLease ended, LeaseEnd how) {
    if (lease == ended) {
      if (world.tracing) {
        world.row(name, ended.id() + " ended: " + how);
      }
      lease = null;
      think();
    }
  }
}
