package dev.redlock.cli;

import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** How a command prints. */
public final class OutputOptions {
  @Option(
      scope = ScopeType.INHERIT,
      names = "--json",
      description = "Print one JSON object per line instead of a table.")
  private boolean json;

  /** Whether to print JSON. */
  public boolean json() {
    return json;
  }

  /** Whether colours suit the output: only a terminal, without {@code NO_COLOR}, and no JSON. */
  public boolean colours() {
    return !json && Ansi.AUTO.enabled();
  }
}
