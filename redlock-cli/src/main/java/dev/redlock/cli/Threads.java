package dev.redlock.cli;

import io.lettuce.core.event.Event;
import io.lettuce.core.event.EventBus;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.netty.resolver.DefaultAddressResolverGroup;
import reactor.core.publisher.Flux;

/** The threads of a command that talks to a few nodes and ends soon. */
final class Threads {
  private Threads() {}

  /**
   * As few as Lettuce accepts. No command shuts them down: they are daemons, and the process ends.
   * Each part that a command does not need would cost it a start: the resolver that reads {@code
   * /etc/resolv.conf} in place of the JDK, and events that no command reads.
   */
  static ClientResources few() {
    return ClientResources.builder()
        .ioThreadPoolSize(2)
        .computationThreadPoolSize(2)
        .commandLatencyRecorder(CommandLatencyRecorder.disabled())
        .addressResolverGroup(DefaultAddressResolverGroup.INSTANCE)
        .eventBus(new NoEvents())
        .build();
  }

  private static final class NoEvents implements EventBus {
    @Override
    public Flux<Event> get() {
      return Flux.never();
    }

    @Override
    public void publish(Event event) {}
  }
}
