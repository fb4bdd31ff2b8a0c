package dev.redlock.bench.system;

import dev.redlock.bench.load.Drive;
import dev.redlock.bench.load.Load;
import dev.redlock.bench.load.Load.Mode;
import dev.redlock.bench.load.Slice;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** node-redlock in a separate process. */
final class NodeContender implements Contender {
  private final NodeProcess process;

  private NodeContender(NodeProcess process) {
    this.process = process;
  }

  static NodeContender start(List<String> uris) {
    return new NodeContender(NodeProcess.start(uris, 1));
  }

  /** It has one thread, so all its waits are asynchronous. */
  @Override
  public boolean can(Load load) {
    return load.mode() == Mode.ASYNC || load.workers() == 1 || load.shared();
  }

  @Override
  public Slice drive(Load load) throws IOException {
    process.order(
        "pairs",
        load.workers(),
        load.shared() ? 1 : 0,
        load.names(),
        load.time().toMillis(),
        Math.min(load.maxAttempts(), 1L << 50));
    return parse(process.answer());
  }

  private static Slice parse(String answer) {
    String[] parts = answer.split("\\|", -1);
    String[] sums = parts[0].split(" ", -1);
    List<Long> perWorker = Stream.of(parts[1].split(" ", -1)).map(Long::valueOf).toList();
    long failures = Long.parseLong(sums[3]);
    @Nullable String first = failures == 0 ? null : "no quorum";
    return new Slice(
        Long.parseLong(sums[1]),
        histogram(parts[2]),
        histogram(parts[3]),
        histogram(parts[4]),
        perWorker,
        Long.parseLong(sums[2]),
        failures,
        first);
  }

  private static Histogram histogram(String counts) {
    Histogram histogram = Drive.histogram();
    for (String entry : counts.isEmpty() ? new String[0] : counts.split(" ", -1)) {
      int colon = entry.indexOf(':');
      histogram.recordValueWithCount(
          Long.parseLong(entry.substring(0, colon)), Long.parseLong(entry.substring(colon + 1)));
    }
    return histogram;
  }

  @Override
  public void close() {
    process.close();
  }
}
