package dev.redlock.schedules;

import dev.redlock.harness.mutants.ChangedLoader;
import java.util.Map;

/**
 * Loads the library again, with points in its shell, and with the given classes in place of its
 * own.
 */
final class InstrumentingLoader extends ChangedLoader {
  private static final String SHELL = "dev.redlock.internal.";

  InstrumentingLoader(Map<String, byte[]> changed) {
    super(changed, InstrumentingLoader::isOurs);
  }

  /** Whether it is a class of the library or of a world, and not of the explorer. */
  static boolean isOurs(String name) {
    return name.startsWith("dev.redlock.") && !name.startsWith("dev.redlock.schedules.");
  }

  @Override
  protected byte[] made(String name, byte[] code) {
    boolean shell =
        name.startsWith(SHELL) && !name.contains("Scenarios") && !name.contains("ScriptedWorld");
    return shell ? Instrumentation.apply(code) : code;
  }
}
