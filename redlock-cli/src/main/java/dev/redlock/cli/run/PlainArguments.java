package dev.redlock.cli.run;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the arguments of {@code run} in their plain form: words apart, each option once, no
 * mistake. Cron and pipelines write them so, and picocli alone takes longer to start than the lock
 * takes to be acquired. Whatever is not plain goes to picocli, which knows all forms and explains
 * mistakes. A test compares both for each option.
 */
public final class PlainArguments {
  private PlainArguments() {}

  /**
   * The command, ready to run; null if picocli has to read the arguments.
   *
   * @param words the options and names between {@code run} and the two dashes
   * @param command what follows the two dashes
   */
  public static @Nullable RunCommand parse(List<String> words, List<String> command) {
    RunCommand run = new RunCommand(command);
    List<String> names = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    try {
      for (int i = 0; i < words.size(); i++) {
        String word = words.get(i);
        if (!word.startsWith("-")) {
          names.add(word);
          continue;
        }
        int equals = word.startsWith("--") ? word.indexOf('=') : -1;
        String option = equals < 0 ? word : word.substring(0, equals);
        if (!seen.add(option)) {
          return null;
        }
        if (equals < 0 && run.setFlag(option)) {
          continue;
        }
        String value =
            equals >= 0 ? word.substring(equals + 1) : i + 1 < words.size() ? words.get(++i) : "";
        if (value.isEmpty() || value.startsWith("-") || !run.setValue(option, value)) {
          return null;
        }
      }
    } catch (IllegalArgumentException e) {
      return null;
    }
    return names.isEmpty() ? null : run.names(names);
  }
}
