package dev.redlock.examples.demo;

import dev.redlock.testkit.ServerState;
import dev.redlock.testkit.timeline.Timeline.Phase;
import dev.redlock.testkit.timeline.Timeline.State;
import java.util.ArrayList;
import java.util.List;

/**
 * What each master was doing, put together from two views: what its process does, and what a client
 * makes of it. A client cannot tell a paused master from a slow one, so the process has the first
 * word.
 */
final class MasterLog {
  private final List<Lane> lanes = new ArrayList<>();

  /** A log of so many masters, of which nothing is known yet. */
  MasterLog(int masters, long nowNanos) {
    for (int i = 0; i < masters; i++) {
      lanes.add(new Lane(nowNanos));
    }
  }

  private static final class Lane {
    private final List<Phase> past = new ArrayList<>();
    private ServerState process = ServerState.RUNNING;
    private State client = State.CONNECTING;
    private State now = State.CONNECTING;
    private long sinceNanos;

    private Lane(long sinceNanos) {
      this.sinceNanos = sinceNanos;
    }

    private void changed(long atNanos) {
      State next =
          switch (process) {
            case DEAD -> State.DEAD;
            case PAUSED -> State.PAUSED;
            case RUNNING -> client;
          };
      if (next != now) {
        if (atNanos > sinceNanos) {
          past.add(new Phase(now, sinceNanos, atNanos));
        }
        now = next;
        sinceNanos = atNanos;
      }
    }
  }

  /** The master's process was seen to be in this state. */
  synchronized void process(int master, ServerState state, long atNanos) {
    Lane lane = lanes.get(master);
    lane.process = state;
    lane.changed(atNanos);
  }

  /** A client was seen to think this of the master. */
  synchronized void client(int master, State state, long atNanos) {
    Lane lane = lanes.get(master);
    lane.client = state;
    lane.changed(atNanos);
  }

  synchronized State now(int master) {
    return lanes.get(master).now;
  }

  /** What it did between these times, counted from the first of them. */
  synchronized List<Phase> phases(int master, long startNanos, long endNanos) {
    Lane lane = lanes.get(master);
    List<Phase> all = new ArrayList<>(lane.past);
    all.add(new Phase(lane.now, lane.sinceNanos, Math.max(lane.sinceNanos, endNanos)));
    List<Phase> cut = new ArrayList<>();
    for (Phase phase : all) {
      long fromNanos = Math.max(startNanos, phase.fromNanos());
      long toNanos = Math.min(endNanos, phase.toNanos());
      if (fromNanos < toNanos) {
        cut.add(new Phase(phase.state(), fromNanos - startNanos, toNanos - startNanos));
      }
    }
    return cut;
  }
}
