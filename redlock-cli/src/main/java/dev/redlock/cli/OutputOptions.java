package dev.redlock.cli;

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
}
