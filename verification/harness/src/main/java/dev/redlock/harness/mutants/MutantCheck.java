package dev.redlock.harness.mutants;

import java.util.Map;

/** What must catch the mutants of a catalogue. */
public interface MutantCheck {
  /**
   * Returns what caught the mutant; empty if nothing did.
   *
   * @param changed the classes of the mutant, by name, for a {@link ChangedLoader}
   */
  String run(Mutant mutant, Map<String, byte[]> changed) throws Exception;
}
