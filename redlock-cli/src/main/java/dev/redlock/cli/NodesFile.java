package dev.redlock.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The file that names the nodes: one URI per line, and lines such as {@code prefix = orders}. Empty
 * lines and lines that begin with {@code #} count for nothing.
 *
 * @param uris the URIs, which may contain passwords
 * @param settings the other lines
 */
record NodesFile(List<String> uris, Map<String, String> settings) {
  private static final Set<String> KNOWN =
      Set.of("prefix", "max-lease-time", "user", "password-file", "ca", "cert", "key");

  /** Some editors begin a file of UTF-8 with it. */
  private static final String MARK_OF_EDITORS = "\uFEFF";

  /** Read as part of a prefix, it would be another lock. */
  private static final Pattern BEHIND = Pattern.compile("\\s#");

  static final NodesFile NONE = new NodesFile(List.of(), Map.of());

  /** The user's file, or that of the machine; null if there is none. */
  static @Nullable Path usual(Map<String, String> environment) {
    String home = environment.getOrDefault("HOME", "");
    String config =
        environment.getOrDefault("XDG_CONFIG_HOME", home.isEmpty() ? "" : home + "/.config");
    List<Path> places = new ArrayList<>();
    if (!config.isEmpty()) {
      places.add(Path.of(config, "redlock", "nodes"));
    }
    places.add(Path.of("/etc/redlock/nodes"));
    return places.stream().filter(Files::exists).findFirst().orElse(null);
  }

  /**
   * Reads a file.
   *
   * @throws Failure if it cannot be read, or a line has no meaning; the message quotes no line,
   *     because it may contain a password
   */
  static NodesFile read(Path file) {
    List<String> lines = NodeOptions.lines("file of nodes", file);
    List<String> uris = new ArrayList<>();
    Map<String, String> settings = new LinkedHashMap<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i).replace(MARK_OF_EDITORS, "").strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      if (BEHIND.matcher(line).find()) {
        throw wrong(file, i, "a comment stands on a line of its own");
      }
      if (line.contains("://")) {
        uris.add(line);
        continue;
      }
      String[] words = line.split("\\s*=\\s*", 2);
      if (words.length < 2 || !KNOWN.contains(words[0])) {
        throw wrong(
            file,
            i,
            "expected a URI such as redis://host:6379, or a setting: prefix, max-lease-time, user,"
                + " password-file, ca, cert or key, with = and its value");
      }
      if (settings.put(words[0], words[1]) != null) {
        throw wrong(file, i, words[0] + " is set twice");
      }
    }
    return new NodesFile(List.copyOf(uris), Map.copyOf(settings));
  }

  private static Failure wrong(Path file, int index, String why) {
    return Failure.usage(file + ", line " + (index + 1) + ": " + why);
  }
}
