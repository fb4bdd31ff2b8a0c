package dev.redlock.cli.run;

import dev.redlock.DistributedLock;
import dev.redlock.Lease;
import dev.redlock.LeaseEnd;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import dev.redlock.cli.NodeOptions;
import dev.redlock.internal.Assembly;
import dev.redlock.internal.text.Printable;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
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
      "The command is the process that the caller started: signals, open files and the"
          + " exit code are its own."
    },
    footer = {
      "",
      "Exit codes: 75 another client holds the lock, 69 too few nodes, 64 wrong usage,",
      "else that of the command. If the lock is lost, the command is ended: 143 or 137.",
      "The command gets REDLOCK_TOKEN, REDLOCK_NAME and REDLOCK_RUN, beside all",
      "variables that redlock got, also REDLOCK_PASSWORD.",
      "A time without a unit is in seconds.",
      "",
      "Example: redlock run -n backup -- pg_dump --file=/backup/shop.sql shop"
    })
public final class RunCommand implements Callable<Integer> {
  /** Within it, the client tells how a lease has ended. */
  private static final Duration TOLD = Duration.ofMillis(25);

  /** The shortest lease: within its tenth, KILL must arrive on a busy machine. */
  private static final Duration SHORTEST = Duration.ofMillis(500);

  /** A file system that hangs delays neither the command nor the release for longer. */
  private static final long STATUS_MILLIS = 500;

  /** How long before this command holds a lease it begins, at most: node timeout and pauses. */
  private static final Duration ROUND = Duration.ofMillis(1_500);

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
      description = "The longest wait: 500ms, 30s, 2m. Default: no limit.")
  private @Nullable Duration wait;

  @Option(
      names = "--connect",
      paramLabel = "TIME",
      description = "The longest wait for connections to enough nodes, beside -w. Default: 3s.")
  private Duration connect = Duration.ofSeconds(3);

  @Option(
      names = "-E",
      paramLabel = "CODE",
      description = "The exit code if another client holds the lock. Default: ${DEFAULT-VALUE}.")
  private int heldCode = ExitCode.HELD;

  @Option(
      names = "--lease",
      paramLabel = "TIME",
      description = "How long the lock outlives this machine, at least 500ms. Default: 30s.")
  private @Nullable Duration leaseTime;

  @Option(
      names = "--grace",
      paramLabel = "TIME",
      description =
          "The time from TERM to KILL when the lock is lost."
              + " Default: a fifth of the lease, 10s at most; never more than a third.")
  private @Nullable Duration grace;

  @Option(
      names = "--cap",
      paramLabel = "TIME",
      description =
          "The longest time that the command may take, at least the lease. It then ends as if the"
              + " lock were lost. Default: no limit.")
  private @Nullable Duration cap;

  @Option(
      names = "--label",
      paramLabel = "TEXT",
      description =
          "What other users see of this holder. Default: host and process id of the command.")
  private @Nullable String label;

  @Option(
      names = "--status",
      paramLabel = "FILE",
      description =
          "Write to this file what happens: held TOKEN, then released, or lost and why. It says lost"
              + " before the command is ended.")
  private @Nullable Path status;

  @Mixin private NodeOptions nodes = new NodeOptions();

  /** One thread: in the order of the lines. */
  private final ExecutorService reports =
      Executors.newSingleThreadExecutor(new DefaultThreadFactory("redlock-status", true));

  /** Who writes {@code -w 5 minutes NAME} wants one lock. */
  private static final Set<String> UNITS =
      Set.of(
          "ms", "s", "sec", "secs", "second", "seconds", "m", "min", "mins", "minute", "minutes",
          "h", "hour", "hours");

  @Override
  public Integer call() throws InterruptedException {
    requireUsage();
    StartScript.greet();
    Aside.install();
    String run = String.format("%016x", new SecureRandom().nextLong());
    Tree tree = Tree.of(StartScript.childPid(), run).orElse(null);
    if (tree == null) {
      return ExitCode.DEFECT; // The script has ended, or cannot be observed.
    }
    try (Redlock redlock = nodes.client((builder, longest) -> builder.label(labelOrDefault()))) {
      DistributedLock lock = lock(redlock);
      Duration least = grace(lock.options());
      Acquiring acquiring = new Acquiring(redlock, lock, tree, connect, heldCode, talks());
      Lease lease = once ? acquiring.once() : acquiring.within(wait);
      if (lease == null) {
        return ExitCode.DEFECT; // As above.
      }
      // For the KILL to arrive, for what the command starts meanwhile, for pauses of this machine.
      Duration tenth = lock.options().leaseTime().dividedBy(10);
      Duration margin = Collections.min(List.of(tenth, Duration.ofMillis(1_500)));
      try (lease) {
        keepOrHalt(new Keeper(lease, tree, least, margin), lease, run, least);
      }
    }
    StartScript.tellWatchdog("released");
    reports.shutdown();
    boolean unused = reports.awaitTermination(1, TimeUnit.SECONDS);
    return ExitCode.OK;
  }

  private void requireUsage() {
    if (!StartScript.isThere()) {
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
    } else if (status != null
        && (status.toString().indexOf('\n') >= 0
            || (Files.exists(status) && !Files.isRegularFile(status)))) {
      throw Failure.usage("--status needs a regular file, whose name has no line feed");
    }
  }

  /** Operators look for the process that holds the lock: the child, not this one. */
  private String labelOrDefault() {
    return label != null
        ? label
        : Assembly.defaultLabel("").replaceFirst("\\d+$", String.valueOf(StartScript.childPid()));
  }

  /** Whether a person reads what is printed. */
  private boolean talks() {
    return nodes.verbose() || Boolean.getBoolean("redlock.terminal");
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
              "--cap %s must not be shorter than the lease time %s: set --lease too"
                  .formatted(Printable.of(cap), Printable.of(lease)));
        }
        options.holdCap(cap);
      }
      if (leaseTime != null) {
        options.leaseTime(leaseTime);
      }
      // Up to 1 s: this JVM has just started, and its first round loads classes. A vote that comes
      // too late would be reported as an outage.
      Duration tenth = options.build().leaseTime().dividedBy(10);
      options.nodeTimeout(Collections.min(List.of(tenth, Duration.ofSeconds(1))));
      return redlock.lock(names, options.build());
    } catch (IllegalArgumentException e) {
      throw Failure.usage(String.valueOf(e.getMessage()));
    }
  }

  /** After two extensions that failed, a third of the lease time is left. */
  private Duration grace(LockOptions options) {
    Duration lease = options.leaseTime();
    if (lease.compareTo(SHORTEST) < 0) {
      throw Failure.usage("lease " + Printable.of(lease) + " is below " + Printable.of(SHORTEST));
    }
    Duration usual = Collections.min(List.of(lease.dividedBy(5), Duration.ofSeconds(10)));
    Duration chosen = grace == null ? usual : grace;
    if (chosen.compareTo(lease.dividedBy(3)) > 0) { // Otherwise one slow extension ends the child.
      throw Failure.usage(
          "--grace %s must not be longer than a third of the lease time %s"
              .formatted(Printable.of(chosen), Printable.of(lease)));
    }
    return chosen;
  }

  /**
   * A defect or a lack of memory must not release the lock while the child runs. So the keeper ends
   * at once: the watchdog ends the child, and the lease ends later.
   */
  private void keepOrHalt(Keeper keeper, Lease lease, String run, Duration least)
      throws InterruptedException {
    boolean ended = false;
    try {
      keep(keeper, lease, run, least);
      ended = true;
    } finally {
      if (!ended) {
        Runtime.getRuntime().halt(ExitCode.DEFECT);
      }
    }
  }

  private void keep(Keeper keeper, Lease lease, String run, Duration least)
      throws InterruptedException {
    long began = System.nanoTime();
    String name = String.join(",", names);
    long token = lease.fencingToken().value();
    report("held " + token);
    String file = status == null ? "" : status.toAbsolutePath().toString();
    StartScript.tellWatchdog("hold " + run + " " + least.toMillis() / 10 + " " + file);
    StartScript.grant(
        Map.of(
            "REDLOCK_NAME",
            name,
            "REDLOCK_TOKEN",
            String.valueOf(token),
            // A run within a run: the processes of the inner one belong to both.
            "REDLOCK_RUN",
            System.getProperty("redlock.runs", "") + run));
    if (nodes.verbose()) {
      say("holds " + name + ", token " + token);
    }
    if (!keeper.await(() -> lost(lossLine(lease, name, began)), this::survive)) {
      say("the lock " + name + " is gone, and the command has ended");
      return;
    }
    if (!lease.isValid()) {
      lost("the lock " + name + " was lost before the command had ended");
      return;
    }
    report("released");
    if (nodes.verbose()) {
      say("the command has ended, releases " + name);
    }
  }

  private void lost(String why) {
    StartScript.tellWatchdog("kill");
    report("lost " + why);
    say(why);
  }

  private void survive(List<ProcessHandle> left) {
    say(
        "cannot end "
            + Tree.described(left)
            + ", which may run while another client holds the lock: end it as its user, or as root");
  }

  private String lossLine(Lease lease, String name, long beganNanos) {
    Duration left = lease.remainingValidity();
    return lossLine(name, left, left.plusNanos(System.nanoTime() - beganNanos), cap, end(lease));
  }

  /** Near the cap only, because a lease that is lost earlier ends before it. */
  static String lossLine(
      String name, Duration left, Duration until, @Nullable Duration cap, @Nullable LeaseEnd end) {
    if (cap != null && end == null && until.compareTo(cap.minus(ROUND)) > 0) {
      return "the command has reached --cap " + Printable.of(cap) + ": TERM";
    }
    return end == null
        ? "the lock %s cannot be extended, valid for %s: TERM"
            .formatted(name, Printable.of(Duration.ofMillis(left.toMillis())))
        : "the lock " + name + " was broken or lost (" + end + "): KILL at once, without a grace";
  }

  /** How it ended; null if it is valid. A callback thread tells that, some time after the end. */
  private static @Nullable LeaseEnd end(Lease lease) {
    long patience = lease.isValid() ? 0 : TOLD.toMillis();
    CompletableFuture<LeaseEnd> ended = lease.whenEnded().toCompletableFuture().copy();
    return ended.completeOnTimeout(null, patience, TimeUnit.MILLISECONDS).join();
  }

  /** For a caller that wants to know whether the lock was lost. Written before the child ends. */
  private void report(String line) {
    Path file = status;
    if (file != null) {
      CompletableFuture.runAsync(() -> write(file, line), reports)
          .completeOnTimeout(null, STATUS_MILLIS, TimeUnit.MILLISECONDS)
          .join();
    }
  }

  private static void write(Path file, String line) {
    try {
      Files.writeString(file, Printable.of(line) + "\n");
    } catch (IOException e) {
      say("--status cannot be written: " + NodeOptions.why(e));
    }
  }

  static void say(String line) {
    System.err.println("redlock: " + Printable.of(line));
  }
}
