package dev.redlock.cli.look;

import static reactor.adapter.JdkFlowAdapter.flowPublisherToFlux;

import dev.redlock.cli.ExitCode;
import dev.redlock.operations.LockState;
import dev.redlock.operations.LockState.Status;
import dev.redlock.operations.Operations;
import java.io.PrintWriter;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code redlock watch}. */
@Command(
    name = "watch",
    mixinStandardHelpOptions = true,
    description = "Print the state of a lock now, and each change of it, until it is interrupted.",
    footer = {"", "Example: redlock watch --until FREE backup && echo done"})
public final class WatchCommand extends Look {
  @Parameters(paramLabel = "NAME", description = "The name of the lock.")
  private String name = "";

  @Option(
      names = "--until",
      paramLabel = "STATE",
      description = "End with exit code 0 once the state is HELD or FREE.")
  private @Nullable Status until;

  @Override
  protected int look(Operations operations, PrintWriter out) {
    for (LockState state : flowPublisherToFlux(operations.watch(name)).toIterable()) {
      out.println(json() ? json(state).toString() : line(state));
      if (out.checkError() || System.out.checkError() || state.status() == until) {
        break;
      }
    }
    return ExitCode.OK;
  }

  private static Json json(LockState state) {
    return new Json()
        .put("name", state.name())
        .put("state", state.status().name())
        .put("lease", state.holder())
        .put("label", state.holderLabel())
        .put("highestToken", state.highestTokenSeen());
  }

  private static String line(LockState state) {
    String text =
        LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.MILLIS)
            + "  "
            + state.status().name().toLowerCase(Locale.ROOT);
    if (state.holder() == null) {
      return text;
    }
    return text + " by " + Holding.client(state.holderLabel()) + ", lease " + state.holder();
  }
}
