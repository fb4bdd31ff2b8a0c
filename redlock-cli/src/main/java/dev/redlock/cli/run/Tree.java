package dev.redlock.cli.run;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The child and the processes that it has started, as far as the machine shows them.
 *
 * <p>The naive way asks for the descendants when the lock is lost, and ends these. A process that
 * traps TERM may start another one and end: its parent is another process then, and it is no
 * descendant any more. So each look adds to what was seen before: the children of each process that
 * was seen, and each process whose environment has the mark of this run.
 */
final class Tree {
  private final ProcessHandle child;
  private final String mark;

  /** Null on a system without {@code /proc}. */
  private final @Nullable RandomAccessFile childStat;

  /** Looks write it. The thread that sends KILL reads it, and waits for no look. */
  private final Set<ProcessHandle> seen = ConcurrentHashMap.newKeySet();

  /** Processes that were not started by the child. A look need not read them again. */
  private final Set<ProcessHandle> strangers = new HashSet<>();

  private Tree(ProcessHandle child, String mark, @Nullable RandomAccessFile childStat) {
    this.child = child;
    this.mark = mark;
    this.childStat = childStat;
    seen.add(child);
  }

  /**
   * The tree of a process that has started before this one; empty if it has ended, or cannot be
   * observed.
   *
   * @param mark the text in a variable of the processes of this run
   */
  static Optional<Tree> of(long pid, String mark) {
    ProcessHandle self = ProcessHandle.current();
    try {
      boolean isLinux = Files.exists(Path.of("/proc/self/stat"));
      RandomAccessFile stat = isLinux ? new RandomAccessFile("/proc/" + pid + "/stat", "r") : null;
      return ProcessHandle.of(pid)
          .filter(process -> runs(process) && !startedAfter(process, self))
          .map(process -> new Tree(process, mark, stat));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** The number of the child may already be that of another process. */
  private static boolean startedAfter(ProcessHandle one, ProcessHandle other) {
    return one.info()
        .startInstant()
        .flatMap(start -> other.info().startInstant().map(start::isAfter))
        .orElse(false);
  }

  /**
   * Whether the child runs. The naive way opens its file each time. That fails for a child that has
   * become another user, as sudo does, where {@code /proc} hides the processes of other users, and
   * where no more files can be opened: the lock would be released while it runs. So the file is
   * open since the child was the script, of the same user.
   */
  boolean childRuns() {
    if (childStat == null) {
      return child.isAlive();
    }
    byte[] stat = new byte[1_024];
    synchronized (childStat) {
      try {
        childStat.seek(0);
        int length = childStat.read(stat);
        return length <= 0 || !hasEnded(new String(stat, 0, length, ISO_8859_1));
      } catch (IOException e) {
        return !String.valueOf(e.getMessage()).contains("No such process"); // ESRCH.
      }
    }
  }

  private static boolean runs(ProcessHandle process) {
    try {
      return process.isAlive()
          && !hasEnded(Files.readString(Path.of("/proc/" + process.pid() + "/stat"), ISO_8859_1));
    } catch (IOException e) {
      return process.isAlive(); // Another system, or it has just ended.
    }
  }

  /** A process that has ended and that its parent has not waited for yet does not run. */
  private static boolean hasEnded(String stat) {
    // State and number of threads, proc(5). While other threads run, the process does.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", 20);
    return (fields[0].equals("Z") && fields[17].equals("1")) || fields[0].equals("X");
  }

  /** Looks at all processes, which takes seconds on a busy machine; returns what is new. */
  synchronized Set<ProcessHandle> look() {
    Set<ProcessHandle> before = Set.copyOf(seen);
    List<ProcessHandle> others =
        ProcessHandle.allProcesses()
            .filter(process -> !before.contains(process) && !strangers.contains(process))
            .toList();
    Set<ProcessHandle> found = new HashSet<>();
    while (found.addAll(others.stream().filter(this::belongs).toList())) {
      seen.addAll(found);
    }
    return found;
  }

  /**
   * What has been seen and runs, the child first: a shell whose part gets TERM before it goes on,
   * and may end with 0. Unlike a look it takes no time.
   */
  List<ProcessHandle> running() {
    return Stream.concat(Stream.of(child), seen.stream().sorted())
        .distinct()
        .filter(process -> process.equals(child) ? childRuns() : runs(process))
        .toList();
  }

  private boolean belongs(ProcessHandle process) {
    return process.parent().filter(seen::contains).isPresent() || hasMark(process);
  }

  private boolean hasMark(ProcessHandle process) {
    try {
      byte[] environ = Files.readAllBytes(Path.of("/proc/" + process.pid() + "/environ"));
      if (new String(environ, ISO_8859_1).contains(mark)) {
        return true;
      }
      if (environ.length > 0) { // It is empty while a program is being loaded.
        strangers.add(process);
      }
      return false;
    } catch (IOException e) {
      return false; // Of another user, or gone.
    }
  }

  /** For people: which processes, such as {@code 4711 (sudo)}. */
  static String described(List<ProcessHandle> processes) {
    return processes.stream()
        .map(process -> process.pid() + name(process.pid()))
        .collect(Collectors.joining(", "));
  }

  private static String name(long pid) {
    try {
      return " (" + Files.readString(Path.of("/proc/" + pid + "/comm"), ISO_8859_1).strip() + ")";
    } catch (IOException e) {
      return "";
    }
  }
}
