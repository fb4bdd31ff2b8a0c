package dev.redlock.schedules;

import dev.redlock.harness.mutants.ChangedLoader;
import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.MutantCheck;
import java.lang.reflect.Method;
import java.util.Map;

/** Runs seeds of the connection layer until one breaks a rule. */
record ConnectionTrial(long seeds) implements MutantCheck {
  private static final String WORLD = "dev.redlock.lettuce.internal.ConnectionWorld";

  @Override
  public String run(Mutant mutant, Map<String, byte[]> changed)
      throws ReflectiveOperationException {
    ChangedLoader loader = new ChangedLoader(changed, InstrumentingLoader::isOurs);
    Method brokenBy = loader.loadClass(WORLD).getMethod("brokenBy", long.class);
    for (long seed = 1; seed <= seeds; seed++) {
      String broken = (String) brokenBy.invoke(null, seed);
      if (!broken.isEmpty()) {
        return "seed " + seed + ": " + broken;
      }
    }
    return "";
  }
}
