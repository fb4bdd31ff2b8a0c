package dev.redlock.spring;

import dev.redlock.LockOptions;
import java.util.List;

/**
 * Chooses the options of a lock by its names. The auto-configured resolver takes the first entry of
 * {@code redlock.locks} whose pattern matches every name. If no pattern matches, it takes the
 * defaults of the client. {@link Locked} methods and the lock registry use it; {@code
 * Redlock.lock(String)} does not.
 */
@FunctionalInterface
public interface LockOptionsResolver {

  /** The options of a lock on these names. Safe from any thread. */
  LockOptions options(List<String> names);
}
