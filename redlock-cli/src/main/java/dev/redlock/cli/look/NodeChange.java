package dev.redlock.cli.look;

import static java.util.Objects.requireNonNull;

import dev.redlock.LeaseLostException;
import dev.redlock.LockTimeoutException;
import dev.redlock.Redlock;
import dev.redlock.RedlockClosedException;
import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import dev.redlock.cli.PresentSet;
import dev.redlock.internal.text.Printable;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.operations.Operations;
import dev.redlock.operations.SetProgress;
import dev.redlock.spi.NodeRecord;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
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

  private static final String INTERRUPTED = "the change was interrupted";

  private static final String CONTINUE = "run the same command again to continue";

  private static final int SECONDS_BETWEEN_LINES = 10;
  private static final Pattern ADDRESS = Pattern.compile("[^@/\\s]+:([1-9]\\d{0,4})(/\\d{1,9})?");
  private static final int LARGEST_PORT = 65_535;

  @ParentCommand private @Nullable NodesCommand nodes;

  /** What the last line said. Confined to the thread on which the client reports the steps. */
  private String last = "";

  /** Refuses names that are unknown, and begins the change. */
  abstract CompletionStage<List<String>> begin(Operations operations, PresentSet set);

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
    Interruption interruption = new Interruption(client);
    try {
      CompletionStage<List<String>> change = begin(operations, set);
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
        say("an even number of nodes tolerates as many failures as one node less");
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
    } catch (LeaseLostException e) {
      String why = ", because this client no longer excludes other operators (";
      String again = "); the same call continues it";
      throw new Failure(ExitCode.HELD, INTERRUPTED + why + e.end() + again);
    } catch (CompletionException e) {
      if (e.getCause() instanceof IllegalStateException refusal) {
        throw new Failure(ExitCode.NO, "refused: " + refusal.getMessage());
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

  /** Prints a step. Those of a wait differ only in the seconds that are left. */
  final void show(SetProgress step) {
    Duration left = step.left();
    boolean due = left != null && left.toSeconds() % SECONDS_BETWEEN_LINES == 0;
    if (due || !step.doing().equals(last)) {
      last = step.doing();
      say(step.toString());
    }
  }

  final void say(String line) {
    PrintWriter err = nodes().err();
    err.println("redlock: " + Printable.of(line));
    err.flush();
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
