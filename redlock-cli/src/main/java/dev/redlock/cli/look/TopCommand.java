package dev.redlock.cli.look;

import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import dev.redlock.cli.PresentSet;
import dev.redlock.cli.Terminal;
import dev.redlock.internal.text.Printable;
import dev.redlock.operations.LockListing;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.Operations;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code redlock top}. */
@Command(
    name = "top",
    mixinStandardHelpOptions = true,
    description = {
      "Show the locks that are held, again and again, until it is interrupted.",
      "On a terminal it redraws the screen."
    },
    footer = {"", "Example: redlock top --every 5s"})
public final class TopCommand extends Look {
  private static final Duration LEAST_PAUSE = Duration.ofMillis(200);
  private static final String CLEAR = "\u001b[H\u001b[2J";

  @Parameters(
      paramLabel = "PATTERN",
      arity = "0..1",
      description = "Only names that match, as in redlock list.")
  private String pattern = "*";

  @Option(
      names = "--every",
      paramLabel = "TIME",
      description = "The pause between two looks. Default 2s, at least 200ms.")
  private Duration every = Duration.ofSeconds(2);

  @Option(names = "--times", paramLabel = "N", description = "End after so many looks.")
  private int times = Integer.MAX_VALUE;

  @Override
  protected int look(Operations operations, PrintWriter out) throws InterruptedException {
    requirePause(every, LEAST_PAUSE);
    boolean redraws = Terminal.console() != null && !json();
    for (int i = 0; i < times; i++) {
      if (i > 0) {
        Thread.sleep(every.toMillis());
      }
      if (redraws) {
        out.print(CLEAR);
      }
      draw(operations, out);
      if (out.checkError() || System.out.checkError()) {
        break;
      }
    }
    return ExitCode.OK;
  }

  private void draw(Operations operations, PrintWriter out) {
    List<LockListing.Entry> locks;
    try {
      locks = Locks.all(operations, pattern);
    } catch (Failure e) {
      err().println("redlock: " + Printable.of(String.valueOf(e.getMessage())));
      err().flush();
      return; // The next look may find more nodes.
    }
    if (json()) {
      locks.forEach(lock -> out.println(Locks.json(lock)));
      return;
    }
    List<NodeState> nodes = operations.nodes();
    out.printf(
        "%s  %d held, %d waiting, %d of %d nodes vote%n",
        LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS),
        locks.size(),
        locks.stream().mapToInt(Locks::waiting).sum(),
        voting(nodes),
        PresentSet.of(nodes).size());
    Locks.table(locks).print(out);
  }
}
