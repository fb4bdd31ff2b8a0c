package dev.redlock.cli.run;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What this process, the keeper, tells the start script, which waits to become the child, and the
 * watchdog. {@code bin/redlock} has opened the two pipes: descriptor 0 leads to the script, 1 to
 * the watchdog. Text is bytes here, as the script got them from its caller.
 */
public final class StartScript {
  /** The script does nothing with a text that does not end with this line. */
  private static final String COMPLETE = "#.\n";

  /** What the script sets, or takes away, for the keeper alone. */
  private static final Set<String> OF_THE_KEEPER =
      Set.of(
          "JAVA_TOOL_OPTIONS",
          "JDK_JAVA_OPTIONS",
          "_JAVA_OPTIONS",
          "CLASSPATH",
          "LC_ALL",
          "MALLOC_ARENA_MAX",
          "REDLOCK_PASSWORD");

  /** Both processes are told that their keeper is a JVM that runs. */
  private static final String HELLO = "#\n";

  private StartScript() {}

  /** Whether the script has started this process, to keep a lock. */
  public static boolean isThere() {
    return System.getProperty("redlock.child") != null;
  }

  /** The process id of the script, and of the child after it. */
  static long childPid() {
    return Long.getLong("redlock.child", 0);
  }

  /**
   * From now on, the script no longer takes the end of this process for that of a JVM that failed.
   */
  static void greet() {
    write(HELLO);
  }

  /** Ends the script. Without effect once it may become the child. */
  public static void end(int exitCode) {
    write("exit " + exitCode + "\n" + COMPLETE);
    close();
  }

  /** Lets the script become the child, with these variables beside those that it got. */
  static void grant(Map<String, String> variables) {
    String exports =
        variables.entrySet().stream()
            .map(each -> each.getKey() + "=" + quoted(asBytes(each.getValue())))
            .collect(Collectors.joining(" "));
    write("export " + exports + "\n" + repair(variables.keySet()) + COMPLETE);
    close();
  }

  /** A line for the watchdog. If it is gone, that changes nothing. */
  static void tellWatchdog(String line) {
    System.out.print(line + "\n");
    System.out.flush();
  }

  private static void write(String text) {
    try {
      new FileOutputStream(FileDescriptor.in).write(text.getBytes(ISO_8859_1));
    } catch (IOException e) {
      // The script is gone. The keeper sees that by itself.
    }
  }

  /** The JDK opens {@code /dev/null} in its place. */
  private static void close() {
    try {
      new FileOutputStream(FileDescriptor.in).close();
    } catch (IOException e) {
      // As above.
    }
  }

  /**
   * A line that makes the environment of the child that of the script. A shell adds variables, such
   * as {@code PWD}, and drops those whose names it cannot write, such as {@code a.b}. What the
   * script's shell does shows in the environment of this process.
   */
  private static String repair(Set<String> wanted) {
    Path own = Path.of("/proc/self/environ");
    Path given = Path.of("/proc/" + childPid() + "/environ");
    if (!Files.isReadable(own) || !Files.isReadable(given)) {
      return "";
    }
    try {
      return repair(
          variables(Files.readAllBytes(given)), variables(Files.readAllBytes(own)), wanted);
    } catch (IOException e) {
      return "";
    }
  }

  static String repair(Map<String, String> given, Map<String, String> passed, Set<String> wanted) {
    StringBuilder line = new StringBuilder();
    passed.keySet().stream()
        .filter(name -> !given.containsKey(name) && !isOurs(name, wanted))
        .forEach(name -> line.append(" -u ").append(quoted(name)));
    String separator = " --";
    for (Map.Entry<String, String> each : given.entrySet()) {
      String name = each.getKey();
      if (!each.getValue().equals(passed.get(name)) && !isOurs(name, wanted)) {
        line.append(separator).append(' ').append(quoted(name + "=" + each.getValue()));
        separator = "";
      }
    }
    return line.isEmpty() ? "" : "set -- env" + line + " \"$@\"\n";
  }

  private static boolean isOurs(String name, Set<String> wanted) {
    return OF_THE_KEEPER.contains(name) || wanted.contains(name);
  }

  /** The first of several variables of one name counts, as in {@code getenv}. */
  static Map<String, String> variables(byte[] environ) {
    return Arrays.stream(new String(environ, ISO_8859_1).split("\0"))
        .filter(each -> each.indexOf('=') > 0)
        .collect(
            Collectors.toMap(
                each -> each.substring(0, each.indexOf('=')),
                each -> each.substring(each.indexOf('=') + 1),
                (first, second) -> first,
                TreeMap::new));
  }

  private static String asBytes(String text) {
    return new String(text.getBytes(UTF_8), ISO_8859_1);
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }
}
