package dev.redlock.cli;

import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;

/** The threads of a command that talks to a few nodes and ends soon. */
final class Threads {
  private Threads() {}

  /** As few as Lettuce accepts. Nobody shuts them down: they are daemons, and the process ends. */
  static ClientResources few() {
    return ClientResources.builder()
        .ioThreadPoolSize(2)
        .computationThreadPoolSize(2)
        .commandLatencyRecorder(CommandLatencyRecorder.disabled())
        .build();
  }
}
