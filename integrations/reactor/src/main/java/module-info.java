/** Redlock for Reactor: leases as {@code Mono} and {@code Flux}. */
module dev.redlock.reactor {
  requires transitive dev.redlock.core;
  requires transitive reactor.core;
  requires transitive org.reactivestreams;
  requires transitive org.jspecify;

  exports dev.redlock.reactor;
}
