package dev.redlock.cli.look;

import static java.util.Objects.requireNonNull;

import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.RedlockClosedException;
import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import dev.redlock.cli.PresentSet;
import dev.redlock.internal.text.Printable;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.operations.Operations;
import dev.redlock.spi.NodeRecord;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ParentCommand;

/**
 * A change of the set of nodes: prints each step on standard error, and the set afterwards on
 * standard output. If it is interrupted, the same command continues what it began.
 */
abstract class NodeChange implements Callable<Integer> {
  private static final Duration CONNECTING = Duration.ofSeconds(3);

  /** How the core begins to say so. */
  private static final String INTERRUPTED = "the change was interrupted";

  private static final String CONTINUE = "run the same command again to continue";

  /** The steps of a wait differ only in the seconds that are left. */
  private static final Pattern COUNTDOWN = Pattern.compile("(.*: )(\\d+) s");

  private static final int SECONDS_BETWEEN_LINES = 10;
  private static final Pattern ADDRESS = Pattern.compile("[^@/\\s]+:([1-9]\\d{0,4})(/\\d{1,9})?");
  private static final int LARGEST_PORT = 65_535;

  @ParentCommand private @Nullable NodesCommand nodes;

  /** Refuses names that are unknown, and begins the change. */
  abstract CompletionStage<List<String>> begin(
      Operations operations, PresentSet set, Consumer<String> progress);

  @Override
  public Integer call() throws InterruptedException {
    return nodes().connected(this::change);
  }

  private NodesCommand nodes() {
    return requireNonNull(nodes, "not made by picocli");
  }

  private int change(Redlock client, PrintWriter out) {
    Operations operations = client.operations();
    PresentSet set = PresentSet.of(operations.nodes());
    if (set.isNew()) {
      throw NodesCommand.tooFew(set);
    }
    Progress progress = new Progress(nodes().err());
    Interruption interruption = new Interruption(client);
    try {
      CompletionStage<List<String>> change = begin(operations, set, progress);
      if (!client.awaitReady(CONNECTING)) {
        throw NodesCommand.tooFew(PresentSet.of(operations.nodes()));
      }
      await(change);
    } finally {
      interruption.end();
    }
    NodeRecord after = PresentSet.of(operations.nodes()).record();
    if (after != null) {
      if (after.members().size() % 2 == 0) {
        progress.accept("an even number of nodes tolerates as many failures as one node less");
      }
      out.println(
          nodes().json()
              ? NodesCommand.put(new Json(), after).toString()
              : Printable.of(PresentSet.describe(after)));
    }
    return ExitCode.OK;
  }

  private static void await(CompletionStage<List<String>> change) {
    try {
      Look.answer(change);
    } catch (LockTimeoutException e) {
      throw new Failure(ExitCode.HELD, "another operator changes the set now: " + e.getMessage());
    } catch (CompletionException e) {
      if (e.getCause() instanceof IllegalStateException refusal) {
        String why = String.valueOf(refusal.getMessage());
        boolean again = why.startsWith(INTERRUPTED);
        throw new Failure(again ? ExitCode.HELD : ExitCode.NO, again ? why : "refused: " + why);
      }
      throw e;
    } catch (RedlockClosedException e) {
      throw new Failure(ExitCode.HELD, INTERRUPTED + ": " + CONTINUE);
    }
  }

  /** What a URI has more than an address is that of the other nodes. */
  static String address(String hostAndPort) {
    Matcher address = ADDRESS.matcher(hostAndPort);
    if (!address.matches() || Integer.parseInt(address.group(1)) > LARGEST_PORT) {
      throw Failure.usage(
          "give the new node as HOST:PORT: user, password and TLS are those of the other nodes");
    }
    return hostAndPort;
  }

  /** The name in the set of the node that a person calls so; without the password of a URI. */
  static String named(String name, PresentSet set) {
    boolean uri = name.contains("://");
    if (!uri && name.indexOf('@') >= 0) {
      throw Failure.usage("a name contains no user or password: give it as redlock nodes shows it");
    }
    return set.nameOf(uri ? NodeUri.parse(name).name() : name);
  }

  /** Whether it is a member, or the last change removed it: that may have to continue. */
  static boolean isOrWas(String name, PresentSet set) {
    NodeRecord record = set.record();
    return record == null || record.members().contains(name) || record.before().contains(name);
  }

  /** Prints the steps. Confined to the thread on which the client reports them. */
  private static final class Progress implements Consumer<String> {
    private final PrintWriter err;
    private String last = "";

    Progress(PrintWriter err) {
      this.err = err;
    }

    @Override
    public void accept(String step) {
      Matcher countdown = COUNTDOWN.matcher(step);
      boolean counts = countdown.matches();
      String text = counts ? countdown.group(1) : step;
      boolean due = counts && Integer.parseInt(countdown.group(2)) % SECONDS_BETWEEN_LINES == 0;
      if (due || !text.equals(last)) {
        last = text;
        err.println("redlock: " + Printable.of(step));
        err.flush();
      }
    }
  }

  /** Says what an interrupt leaves behind, and lets the next operator begin at once. */
  private static final class Interruption {
    private final Thread hook;

    Interruption(Redlock client) {
      hook =
          new Thread(
              () -> {
                System.err.println("redlock: interrupted: " + CONTINUE);
                client.close();
              });
      Runtime.getRuntime().addShutdownHook(hook);
    }

    void end() {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) { // It runs: this process ends and prints nothing more.
        while (true) {
          LockSupport.park();
        }
      }
    }
  }
}
