package dev.redlock.cli.run;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import dev.redlock.cli.NodeOptions;
import dev.redlock.cli.Terminal;
import dev.redlock.cli.TimeConverter;
import dev.redlock.cli.TimeSpan;
import dev.redlock.internal.text.Printable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code redlock run}: acquires a lock, runs a child, releases the lock. */
@Command(
    name = "run",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    customSynopsis = "redlock run [-n | -w TIME] [-E CODE] [OPTIONS] NAME... -- COMMAND [ARG...]",
    description = {
      "Run a command under a lock, without a shell. Its exit code is that of the command.",
      "The command is gone before another client can hold the lock: it gets TERM when the"
          + " lease cannot be extended any more, and KILL before the lease ends.",
      "If redlock itself is killed (KILL) or stopped, the command goes on without the lock."
    },
    footer = {
      "",
      "Exit codes: 75 another client holds the lock, 69 too few nodes, 79 the lock was lost,",
      "64 wrong usage, 126 or 127 the command cannot start, else that of the command.",
      "The command gets REDLOCK_TOKEN and REDLOCK_NAME in its environment, beside all variables"
          + " that redlock got, also REDLOCK_PASSWORD.",
      "A time without a unit is in seconds.",
      "",
      "Example: redlock run -n backup -- pg_dump --file=/backup/shop.sql shop"
    })
public final class RunCommand implements Callable<Integer> {
  @Parameters(
      paramLabel = "NAME",
      arity = "0..*",
      description = "The name of the lock. Several names: all of them are acquired, or none.")
  private List<String> names = List.of();

  @Option(names = "-n", description = "Do not wait if another client holds the lock.")
  private boolean once;

  @Option(
      names = "-w",
      paramLabel = "TIME",
      converter = TimeConverter.class,
      description = "The longest wait: 500ms, 30s, 2m. Default: no limit.")
  private @Nullable Duration wait;

  @Option(
      names = "-E",
      paramLabel = "CODE",
      description = "The exit code if another client holds the lock. Default: ${DEFAULT-VALUE}.")
  private int heldCode = ExitCode.HELD;

  @Option(
      names = "--lease",
      paramLabel = "TIME",
      converter = TimeConverter.class,
      description = "How long the lock outlives this machine. Default: 30s.")
  private @Nullable Duration leaseTime;

  @Option(
      names = "--grace",
      paramLabel = "TIME",
      converter = TimeConverter.class,
      description =
          "The time from TERM to KILL when the lock is lost."
              + " Default: a quarter of the lease, 10s at most.")
  private @Nullable Duration grace;

  @Option(
      names = "--cap",
      paramLabel = "TIME",
      converter = TimeConverter.class,
      description =
          "The longest time that the command may take, at least the lease. It then ends as if the"
              + " lock were lost, with 79. Default: no limit.")
  private @Nullable Duration cap;

  @Option(
      names = "--label",
      paramLabel = "TEXT",
      description = "What other users see of this holder. Default: host and process id of redlock.")
  private @Nullable String label;

  @Mixin private NodeOptions nodes = new NodeOptions();

  /** Who writes {@code -w 5 minutes NAME} wants one lock. */
  private static final Set<String> UNITS =
      Set.of(
          "ms", "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes",
          "h", "hour", "hours");

  private final List<String> command;

  /**
   * A command.
   *
   * @param command what follows the two dashes; empty if there is nothing
   */
  public RunCommand(List<String> command) {
    this.command = List.copyOf(command);
  }

  /** Sets what has no value; false if it is no such option. */
  boolean setFlag(String option) {
    if (option.equals("-n")) {
      once = true;
      return true;
    }
    return nodes.setFlag(option);
  }

  /**
   * Sets an option; false if there is none of this name.
   *
   * @throws IllegalArgumentException if the value has no meaning
   */
  boolean setValue(String option, String value) {
    switch (option) {
      case "-w" -> wait = TimeSpan.parse(value);
      case "-E" -> heldCode = Integer.parseInt(value);
      case "--lease" -> leaseTime = TimeSpan.parse(value);
      case "--grace" -> grace = TimeSpan.parse(value);
      case "--cap" -> cap = TimeSpan.parse(value);
      case "--label" -> label = value;
      default -> {
        return nodes.setValue(option, value);
      }
    }
    return true;
  }

  RunCommand names(List<String> names) {
    this.names = List.copyOf(names);
    return this;
  }

  @Override
  public Integer call() throws InterruptedException {
    if (command.isEmpty()) {
      throw Failure.usage(
          names.size() < 2
              ? "no command is given: write it after --, as in redlock run NAME -- COMMAND"
              : "write -- before the command: redlock run "
                  + names.get(0)
                  + " -- "
                  + String.join(" ", names.subList(1, names.size())));
    } else if (names.isEmpty()) {
      throw Failure.usage(
          "the lock has no name: write it before --, as in redlock run NAME -- COMMAND");
    } else if (names.size() > 1 && UNITS.contains(names.get(0))) {
      throw Failure.usage(
          "'" + names.get(0) + "' would be the name of a lock: write a time as 5m or 30s");
    } else if (once && wait != null) {
      throw Failure.usage("-n and -w exclude each other");
    } else if (heldCode < 0 || heldCode > 255) {
      throw Failure.usage("-E " + heldCode + " must lie between 0 and 255");
    }
    Preload preload = Preload.begin();
    Signals signals = new Signals();
    try (Redlock redlock = nodes.client(builder -> setUp(builder, preload))) {
      // While the nodes connect. Until now a signal ended the JVM, which held nothing.
      signals.install();
      DistributedLock lock = lock(redlock);
      Duration least = grace(lock.options());
      boolean talks = nodes.verbose() || Terminal.console() != null;
      Acquiring acquiring = new Acquiring(redlock, lock, signals, heldCode, talks);
      Lease lease = once ? acquiring.once() : acquiring.within(wait);
      if (lease == null) {
        return ExitCode.ofSignal(signals.first());
      }
      try (lease) {
        return runUnder(lease, least, margin(lock.options().leaseTime()), signals);
      }
    }
  }

  private void setUp(RedlockBuilder builder, Preload preload) {
    if (label != null) {
      builder.label(label);
    }
    preload.awaitLogging();
  }

  private DistributedLock lock(Redlock redlock) {
    try {
      LockOptions.Builder options = redlock.defaultOptions().toBuilder();
      if (cap == null) {
        options.noHoldCap();
      } else {
        Duration lease = leaseTime == null ? options.build().leaseTime() : leaseTime;
        if (cap.compareTo(lease) < 0) {
          throw Failure.usage(
              "--cap "
                  + Printable.of(cap)
                  + " must not be shorter than the lease time "
                  + Printable.of(lease)
                  + ": set --lease too");
        }
        options.holdCap(cap);
      }
      if (leaseTime != null) {
        options.leaseTime(leaseTime);
      }
      options.nodeTimeout(nodeTimeout(options.build().leaseTime()));
      return redlock.lock(names, options.build());
    } catch (IllegalArgumentException e) {
      throw Failure.usage(String.valueOf(e.getMessage()));
    }
  }

  /**
   * Longer than that of an application: this JVM has just started, and its first round loads
   * classes. A vote that comes too late would be reported as an outage.
   */
  private static Duration nodeTimeout(Duration leaseTime) {
    return min(leaseTime.dividedBy(10), Duration.ofSeconds(1));
  }

  private static Duration min(Duration a, Duration b) {
    return a.compareTo(b) <= 0 ? a : b;
  }

  /** After two extensions that failed, a third of the lease time is left. */
  private Duration grace(LockOptions options) {
    Duration lease = options.leaseTime();
    Duration chosen = grace == null ? min(lease.dividedBy(4), Duration.ofSeconds(10)) : grace;
    if (chosen.compareTo(lease.dividedBy(2)) > 0) {
      throw Failure.usage(
          "--grace "
              + Printable.of(chosen)
              + " must not be longer than half of the lease time "
              + Printable.of(lease));
    }
    return chosen;
  }

  /** For the KILL to arrive and for pauses of this machine: a twentieth, 50 to 500 ms. */
  static Duration margin(Duration leaseTime) {
    long millis = leaseTime.toMillis() / 20;
    return Duration.ofMillis(Math.max(50, Math.min(500, millis)));
  }

  private int runUnder(Lease lease, Duration least, Duration margin, Signals signals)
      throws InterruptedException {
    if (signals.first() != 0) {
      return ExitCode.ofSignal(signals.first());
    }
    String name = String.join(",", names);
    long token = lease.fencingToken().value();
    Child child =
        Child.start(command, Map.of("REDLOCK_TOKEN", String.valueOf(token), "REDLOCK_NAME", name));
    if (nodes.verbose()) {
      say("holds " + name + ", token " + token + ": " + command.get(0) + " runs");
    }
    boolean foreground = isForeground();
    // A terminal sends INT to this process and to the child.
    boolean passes = signals.passTo(signal -> pass(child, signal, foreground));
    long began = System.nanoTime();
    Guard guard = new Guard(lease, child, least, margin, () -> say(lossLine(lease, name, began)));
    guard.start();
    if (!passes) {
      child.signal("TERM"); // It came while the child was started.
    }
    int code = child.await();
    if (guard.stop()) {
      say("the lock " + name + " is gone; the command was ended");
      return ExitCode.LOST;
    }
    if (nodes.verbose()) {
      say(command.get(0) + " ended with " + code + ", releases " + name);
    }
    return code;
  }

  private static void pass(Child child, String signal, boolean foreground) {
    if (!(foreground && signal.equals("INT"))) {
      child.signal(signal);
    }
  }

  private String lossLine(Lease lease, String name, long beganNanos) {
    Duration left = lease.remainingValidity();
    LeaseEnd end = lease.whenEnded().toCompletableFuture().getNow(null);
    long heldNanos = System.nanoTime() - beganNanos;
    if (cap != null && heldNanos + left.toNanos() > cap.minus(cap.dividedBy(10)).toNanos()) {
      return "the command has reached --cap " + Printable.of(cap) + ": TERM";
    }
    return end == null
        ? "the lock "
            + name
            + " cannot be extended, valid for "
            + Printable.of(Duration.ofMillis(left.toMillis()))
            + ": TERM"
        : "the lock " + name + " was broken or lost (" + end + "): KILL at once, without a grace";
  }

  /** Whether a terminal sends its signals to the group of this process. */
  private static boolean isForeground() {
    try {
      String stat = Files.readString(Path.of("/proc/self/stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", 7);
      return fields[2].equals(fields[5]); // pgrp and tpgid, proc(5)
    } catch (java.io.IOException | RuntimeException e) {
      return false;
    }
  }

  static void say(String line) {
    System.err.println("redlock: " + Printable.of(line));
  }
}
