package dev.redlock.cli.run;

import dev.redlock.cli.NodeOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code redlock run}. */
@Command(name = "run", mixinStandardHelpOptions = true, description = "Run a command under a lock.")
public final class RunCommand implements Callable<Integer> {
  @Mixin private NodeOptions nodes = new NodeOptions();

  @Override
  public Integer call() {
    nodes.client().close();
    return 0;
  }
}
