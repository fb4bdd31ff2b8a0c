package dev.redlock.bench.scenario;

import dev.redlock.bench.load.Section;
import dev.redlock.bench.load.Slice;
import dev.redlock.bench.load.Turns;
import dev.redlock.bench.load.Worker;
import dev.redlock.bench.system.Peer;
import dev.redlock.harness.ForkedJvm;
import dev.redlock.testkit.RedisNodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Processes with two threads each that lock one name. {@code contended-processes} is with four
 * processes, {@code contended-processes-2} with two.
 */
public final class ContendedProcesses implements Scenario {
  private static final int HEADLINE = 4;
  private static final int THREADS = 2;

  @Override
  public String name() {
    return "contended-processes";
  }

  @Override
  public void measure(Run run) throws Exception {
    List<Peer> peers =
        run.present(
            Peer.REDLOCK,
            Peer.REDLOCK_FAIR,
            Peer.REDLOCK_MAJORITY,
            Peer.REDISSON_REDLOCK,
            Peer.REDISSON_RLOCK,
            Peer.SPRING_LOCKREGISTRY);
    if (run.quick()) {
      peers.remove(Peer.SPRING_LOCKREGISTRY); // Saves the start of four processes.
    }
    try (RedisNodes nodes = RedisNodes.start(5)) {
      Map<Peer, List<ForkedJvm>> workers = new LinkedHashMap<>();
      try {
        for (Peer peer : peers) {
          workers.put(peer, start(run, peer, nodes));
        }
        for (Peer peer : peers) {
          drive(all(workers, peer), run.time(1200, 5000)); // Warm-up.
        }
        for (int repeat = 0; repeat < run.times(2, 5); repeat++) {
          for (int processes : run.quick() ? new int[] {HEADLINE} : new int[] {HEADLINE, 2}) {
            for (Peer peer : Run.rotated(peers, repeat)) {
              measure(run, nodes, peer, all(workers, peer).subList(0, processes));
            }
          }
        }
      } finally {
        workers.values().forEach(all -> all.forEach(ForkedJvm::close));
      }
    }
  }

  private static List<ForkedJvm> all(Map<Peer, List<ForkedJvm>> workers, Peer peer) {
    return Objects.requireNonNull(workers.get(peer));
  }

  /** In a quick run, sixteen processes that compile at the same time would measure the compiler. */
  private static String[] jvmArgs(Run run) {
    return run.quick()
        ? new String[] {"-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}
        : new String[] {"-Xmx256m", "-XX:+UseSerialGC"};
  }

  private static List<ForkedJvm> start(Run run, Peer peer, RedisNodes nodes) {
    List<String> args = new ArrayList<>(List.of(peer.label(), String.valueOf(THREADS)));
    args.addAll(nodes.uris());
    List<ForkedJvm> workers = new ArrayList<>();
    for (int i = 0; i < HEADLINE; i++) {
      workers.add(
          ForkedJvm.of(Worker.class)
              .name(peer.label() + "-" + i)
              .jvmArgs(jvmArgs(run))
              .args(args.toArray(String[]::new))
              .start());
    }
    workers.forEach(worker -> worker.awaitLine("ready"::equals, Duration.ofSeconds(60)));
    return workers;
  }

  /** The sections of each process. */
  private static List<List<Section>> drive(List<ForkedJvm> workers, Duration time) {
    workers.forEach(worker -> worker.send(String.valueOf(time.toMillis())));
    List<List<Section>> all = new ArrayList<>();
    for (ForkedJvm worker : workers) {
      List<Section> sections = new ArrayList<>();
      String line = worker.nextLine(time.plusSeconds(180));
      for (; !line.equals("end"); line = worker.nextLine(Duration.ofSeconds(30))) {
        if (line.startsWith("failed")) {
          throw new IllegalStateException(worker + " " + line);
        }
        sections.add(Section.parse(line));
      }
      all.add(sections);
    }
    return all;
  }

  private void measure(Run run, RedisNodes nodes, Peer peer, List<ForkedJvm> workers) {
    String scenario = workers.size() == HEADLINE ? name() : name() + "-" + workers.size();
    Commands before = Commands.of(nodes);
    Slice slice = onOneClock(drive(workers, run.time(1500, 5000)));
    if (slice.pairs() == 0) {
      throw new IllegalStateException(peer.label() + " had no section");
    }
    run.sections(scenario, peer.label(), slice, Commands.of(nodes).since(before));
    run.percentiles(scenario, peer, "hand-over-", slice.gaps());
    run.percentiles(scenario, peer, "wait-", slice.waits());
    run.results().curve(scenario, peer.label(), slice.waits());
  }

  private static Slice onOneClock(List<List<Section>> byProcess) {
    List<Section> sections = byProcess.stream().flatMap(List::stream).toList();
    Turns turns = Turns.of(sections);
    long first = sections.stream().mapToLong(Section::askedNanos).min().orElse(0);
    long last = sections.stream().mapToLong(Section::releasingNanos).max().orElse(0);
    List<Long> perProcess = byProcess.stream().map(one -> (long) one.size()).toList();
    return new Slice(
        last - first,
        turns.waits(), // The sections are empty, and releases are not measured.
        turns.waits(),
        turns.handOvers(),
        perProcess,
        turns.overlaps(),
        0,
        null);
  }
}
