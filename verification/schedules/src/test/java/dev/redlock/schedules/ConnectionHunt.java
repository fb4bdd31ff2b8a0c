package dev.redlock.schedules;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;

/** Puts one fault into the connection layer and runs seeds until one breaks a rule. */
final class ConnectionHunt {
  private static final String WORLD = "dev.redlock.lettuce.internal.ConnectionWorld";

  private ConnectionHunt() {}

  /** The first seed that catches the fault, with the rule; empty if none does. */
  static String hunt(Path root, Patch mutant, long seeds) throws IOException {
    InstrumentingLoader loader = new InstrumentingLoader(mutant.compile(root), false);
    try {
      var run = loader.loadClass(WORLD).getMethod("brokenBy", long.class);
      for (long seed = 1; seed <= seeds; seed++) {
        String broken = (String) run.invoke(null, seed);
        if (!broken.isEmpty()) {
          return "seed " + seed + ": " + broken;
        }
      }
      return "";
    } catch (InvocationTargetException e) {
      return "exception " + e.getCause();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
