package dev.redlock.bench.system;

import dev.redlock.bench.load.Competition;
import dev.redlock.bench.load.Observed;
import dev.redlock.bench.load.Rounds;
import dev.redlock.bench.load.Section;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Clients of node-redlock in one process. */
final class NodeCrowd implements Crowd {
  private final NodeProcess process;

  private NodeCrowd(NodeProcess process) {
    this.process = process;
  }

  static NodeCrowd start(List<String> uris, int count) {
    return new NodeCrowd(NodeProcess.start(uris, count));
  }

  @Override
  public Observed compete(Competition competition, Runnable edge) throws IOException {
    process.order(
        "compete",
        competition.clients(),
        competition.threads(),
        competition.names(),
        competition.hold().toNanos(),
        competition.pause().toNanos(),
        competition.warmUp(),
        competition.grants(),
        competition.time().toMillis());
    return observed(edge);
  }

  @Override
  public Observed handOver(Rounds rounds) throws IOException {
    process.order("handOver", rounds.count(), rounds.time().toMillis(), rounds.pause().toNanos());
    return observed(() -> {});
  }

  @Override
  public Observed collide(int clients, Rounds rounds) throws IOException {
    process.order(
        "collide", rounds.count(), rounds.time().toMillis(), rounds.pause().toNanos(), clients);
    return observed(() -> {});
  }

  private Observed observed(Runnable edge) throws IOException {
    List<Section> sections = new ArrayList<>();
    long failures = 0;
    for (String line = process.answer(); !line.equals("end"); line = process.answer()) {
      if (line.equals("edge")) {
        edge.run();
      } else if (line.startsWith("failures ")) {
        failures = Long.parseLong(line.substring(9));
      } else {
        sections.add(Section.parse(line));
      }
    }
    return new Observed(sections, failures, failures == 0 ? null : "no quorum");
  }

  @Override
  public void close() {
    process.close();
  }
}
