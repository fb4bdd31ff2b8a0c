package dev.redlock.spring;

import dev.redlock.RedlockBuilder;

/**
 * Changes the auto-configured client before it is built: adds a listener, release hints or nodes.
 * All beans of this type are called, in their order, after the properties have been applied.
 */
@FunctionalInterface
public interface RedlockBuilderCustomizer {

  /** Changes the builder. */
  void customize(RedlockBuilder builder);
}
