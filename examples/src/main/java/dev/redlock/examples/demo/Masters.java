package dev.redlock.examples.demo;

import dev.redlock.Redlock;
import dev.redlock.harness.timeline.Timeline.Phase;
import dev.redlock.harness.timeline.Timeline.State;
import dev.redlock.operations.NodeState;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.ServerState;
import java.time.Duration;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * The masters of the lock, and a client that observes their states. This client never acquires the
 * lock.
 */
final class Masters implements AutoCloseable {
  private static final long LOOK_MILLIS = 50;

  private final RedisNodes nodes = RedisNodes.start(Plan.MASTERS);
  private final Redlock observer = Worker.client(nodes.uris());
  private final MasterLog log = new MasterLog(Plan.MASTERS, System.nanoTime());
  // Set by the thread of the faults, read by the thread that observes.
  private volatile IntConsumer trusted = master -> {};
  private final Thread polling = new Thread(this::poll, "masters");

  Masters() {
    polling.setDaemon(true);
    polling.start();
  }

  List<String> uris() {
    return nodes.uris();
  }

  /** The server program, without its path. */
  String server() {
    return nodes.source().replaceFirst("^.*\\((.*?) sha=.*$", "$1");
  }

  /** The time until the last known quarantine ends. */
  Duration untilTrusted() {
    return observer.operations().nodes().stream()
        .map(NodeState::remaining)
        .max(Duration::compareTo)
        .orElse(Duration.ZERO);
  }

  boolean allVote() {
    return IntStream.range(0, Plan.MASTERS).allMatch(i -> log.now(i) == State.VOTING);
  }

  /** Sets a callback that receives the index of each master whose quarantine has ended. */
  void tellWhenTrusted(IntConsumer trusted) {
    this.trusted = trusted;
  }

  void kill(int master) {
    nodes.get(master).kill();
    log.process(master, ServerState.DEAD, System.nanoTime());
  }

  void pause(int master) {
    nodes.get(master).pause();
    log.process(master, ServerState.PAUSED, System.nanoTime());
  }

  void resume(int master) {
    nodes.get(master).resume();
    log.process(master, ServerState.RUNNING, System.nanoTime());
  }

  /** Restarts a killed master without its keys. */
  void restartEmpty(int master) {
    nodes.get(master).restart();
    log.process(master, ServerState.RUNNING, System.nanoTime());
  }

  /** Describes the masters. */
  String summary() {
    return log.summary(observer.operations().nodes().stream().map(NodeState::remaining).toList());
  }

  /** The states of a master, in times of the run. */
  List<Phase> phases(int master, RunClock clock, long endNanos) {
    return log.phases(master, clock.startNanos(), clock.startNanos() + endNanos);
  }

  private void poll() {
    try {
      while (true) {
        List<NodeState> seen = observer.operations().nodes();
        for (int i = 0; i < seen.size(); i++) {
          boolean quarantined = log.now(i) == State.QUARANTINED;
          log.client(i, state(seen.get(i)), System.nanoTime());
          if (quarantined && log.now(i) == State.VOTING) {
            trusted.accept(i);
          }
        }
        Thread.sleep(LOOK_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static State state(NodeState node) {
    return switch (node.state()) {
      case VOTING -> State.VOTING;
      case QUARANTINED -> State.QUARANTINED;
      case CONNECTING, PROBING, ERRING -> State.CONNECTING;
    };
  }

  static String upToSeconds(Duration duration) {
    return (duration.toMillis() + 999) / 1000 + " s";
  }

  @Override
  public void close() {
    polling.interrupt();
    observer.close();
    nodes.close();
  }
}
