package dev.redlock.cli.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The command as users have it: the start script and the jar, in one folder. */
final class Installed {
  private static final Path JAR = Path.of(System.getProperty("redlock.cli.jar", "no jar"));

  /** Its archive of classes is for all tests: to make it takes a second. */
  private static final Path CACHE = JAR.resolveSibling("cache");

  private static final List<String> DEFAULT_SIGNALS = defaultSignals();

  static final Path FOLDER = copy();

  private Installed() {}

  private static Path copy() {
    try {
      Path folder = Files.createDirectories(JAR.resolveSibling("installed"));
      Path script = JAR.resolve("../../../../bin/redlock").normalize();
      replace(JAR, folder.resolve("redlock.jar"));
      replace(script, folder.resolve("redlock"));
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void replace(Path from, Path to) throws IOException {
    // In one step: commands of another test JVM start from there meanwhile.
    Path copy = to.resolveSibling(to.getFileName() + "." + ProcessHandle.current().pid());
    Files.copy(from, copy, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.COPY_ATTRIBUTES);
    Files.move(copy, to, StandardCopyOption.ATOMIC_MOVE);
  }

  /**
   * A process of this command, with a clean environment. A caller such as {@code nohup} ignores
   * signals, and processes inherit that: so it is undone, if the system has a program for it.
   */
  static ProcessBuilder process(Path home, String java, List<String> command) {
    List<String> all = new ArrayList<>(DEFAULT_SIGNALS);
    all.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(all);
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("REDLOCK_"));
    environment.remove("XDG_CACHE_HOME");
    environment.remove("XDG_CONFIG_HOME");
    environment.put("HOME", home.toString());
    environment.put("JAVA_HOME", java);
    environment.put("REDLOCK_CACHE", CACHE.toString());
    environment.merge("PATH", FOLDER.toString(), (old, ours) -> ours + ":" + old);
    return builder;
  }

  private static List<String> defaultSignals() {
    List<String> command = List.of("env", "--default-signal=HUP,INT,QUIT,TERM,USR1,USR2");
    try {
      Process trial =
          new ProcessBuilder(Stream.concat(command.stream(), Stream.of("true")).toList()).start();
      return trial.waitFor() == 0 ? command : List.of();
    } catch (IOException e) {
      return List.of();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of();
    }
  }

  /** The JDK of the tests, and each other one that is installed, one for each version. */
  static List<String> javaHomes() {
    Map<Integer, String> homes = new java.util.TreeMap<>();
    homes.put(Runtime.version().feature(), System.getProperty("java.home"));
    try (Stream<Path> all = Files.list(Path.of("/usr/lib/jvm"))) {
      all.filter(home -> Files.isExecutable(home.resolve("bin/java")))
          .forEach(home -> homes.putIfAbsent(feature(home), home.toString()));
    } catch (IOException e) {
      // Another place, so only the JDK of the tests.
    }
    homes.keySet().removeIf(version -> version < 17);
    return List.copyOf(homes.values());
  }

  /** Zero if it cannot be read. */
  private static int feature(Path home) {
    try (Stream<String> lines = Files.lines(home.resolve("release"))) {
      return lines
          .filter(line -> line.startsWith("JAVA_VERSION="))
          .map(line -> line.replaceAll("[^0-9.]", "").replaceFirst("\\..*", ""))
          .mapToInt(Integer::parseInt)
          .findFirst()
          .orElse(0);
    } catch (IOException | NumberFormatException e) {
      return 0;
    }
  }

  /** The keeper or the watchdog of a child, whose arguments contain this text. */
  static Stream<ProcessHandle> helpers(String text) {
    return ProcessHandle.allProcesses()
        .filter(process -> commandLine(process.pid()).contains(text));
  }

  private static String commandLine(long pid) {
    try {
      return Files.readString(
              Path.of("/proc/" + pid + "/cmdline"), java.nio.charset.StandardCharsets.ISO_8859_1)
          .replace('\0', ' ');
    } catch (IOException e) {
      return "";
    }
  }
}
