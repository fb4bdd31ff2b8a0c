package dev.redlock.spring.boot;

import dev.redlock.Redlock;

/** Wraps the auto-configured client. */
@FunctionalInterface
interface ClientDecorator {

  /** The client, or one that does the same and more. */
  Redlock decorate(Redlock client);
}
