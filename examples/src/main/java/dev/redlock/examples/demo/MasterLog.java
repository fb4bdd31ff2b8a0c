package dev.redlock.examples.demo;

import dev.redlock.harness.timeline.Timeline.Phase;
import dev.redlock.harness.timeline.Timeline.State;
import dev.redlock.testkit.ServerState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The states of each master, combined from two sources: the state of its process, and its state in
 * a client. A client cannot distinguish a paused master from a slow one, so the state of the
 * process has precedence.
 */
final class MasterLog {
  private final List<Lane> lanes = new ArrayList<>();

  /** Creates a log for this number of masters, all in an unknown state. */
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

  /** Records the state of a master's process. */
  synchronized void process(int master, ServerState state, long atNanos) {
    Lane lane = lanes.get(master);
    lane.process = state;
    lane.changed(atNanos);
  }

  /** Records the state of a master in a client. */
  synchronized void client(int master, State state, long atNanos) {
    Lane lane = lanes.get(master);
    lane.client = state;
    lane.changed(atNanos);
  }

  synchronized State now(int master) {
    return lanes.get(master).now;
  }

  /**
   * Describes the masters by their numbers, for example "masters 1 3 4 5 vote · 2 DEAD".
   *
   * @param left how long each quarantine lasts
   */
  synchronized String summary(List<Duration> left) {
    StringBuilder voting = new StringBuilder();
    StringBuilder others = new StringBuilder();
    for (int i = 0; i < lanes.size(); i++) {
      int number = i + 1;
      switch (lanes.get(i).now) {
        case VOTING -> voting.append(' ').append(number);
        case DEAD -> others.append(" · ").append(number).append(" DEAD");
        case PAUSED -> others.append(" · ").append(number).append(" PAUSED");
        case CONNECTING -> others.append(" · ").append(number).append(" connecting");
        case QUARANTINED ->
            others
                .append(" · ")
                .append(number)
                .append(" quarantined ")
                .append(Masters.upToSeconds(left.get(i)));
      }
    }
    return (voting.isEmpty() ? "no master votes" : "masters" + voting + " vote") + others;
  }

  /** The states between two times, counted from the first of them. */
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
