package dev.redlock.harness.mutants;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One fault, put into a copy of the sources.
 *
 * @param source where the fault is from; each catalogue explains its own sources
 * @param name the fault, in a sentence
 * @param caughtBy what the trial has to run, in the words of that trial; empty for all
 * @param edits what is replaced; each original must occur exactly once
 */
public record Mutant(String source, String name, String caughtBy, List<Edit> edits) {

  /**
   * One replacement.
   *
   * @param file the path of a source, from the root of the project
   */
  public record Edit(String file, String original, String replacement) {}

  /** Throws an exception if a text that this mutant replaces no longer occurs exactly once. */
  public void requireFits(Path root) throws IOException {
    edited(root);
  }

  /** The classes of the changed files, by name; compiled in memory. */
  public Map<String, byte[]> compile(Path root) throws IOException {
    return InMemoryCompiler.compile(name, edited(root));
  }

  private Map<String, String> edited(Path root) throws IOException {
    Map<String, String> texts = new HashMap<>();
    for (Edit edit : edits) {
      String text = texts.get(edit.file());
      if (text == null) {
        text = Files.readString(root.resolve(edit.file()));
      }
      texts.put(edit.file(), edited(text, edit));
    }
    return texts;
  }

  private String edited(String text, Edit edit) {
    int at = text.indexOf(edit.original());
    if (at < 0 || text.indexOf(edit.original(), at + 1) >= 0) {
      throw new IllegalStateException(
          "mutant '"
              + name
              + "': its original occurs "
              + (at < 0 ? "nowhere" : "more than once")
              + " in "
              + edit.file()
              + ": "
              + edit.original());
    }
    return text.substring(0, at)
        + edit.replacement()
        + text.substring(at + edit.original().length());
  }
}
