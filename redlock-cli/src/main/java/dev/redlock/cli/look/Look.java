package dev.redlock.cli.look;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.mapping;

import dev.redlock.Redlock;
import dev.redlock.RedlockBuilder;
import dev.redlock.RedlockException;
import dev.redlock.cli.Connecting;
import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import dev.redlock.cli.NodeOptions;
import dev.redlock.cli.OutputOptions;
import dev.redlock.operations.LockInspection;
import dev.redlock.operations.NodeState;
import dev.redlock.operations.Operations;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * A command that connects, asks the nodes that it reaches, prints what they say, and ends. Its
 * client is an observer: a look with a wrong list must not become the first record of a deployment.
 */
public abstract class Look implements Callable<Integer> {
  /** People wait longer for a slow node than a lock does. Nodes that are down cost nothing. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  @Mixin private NodeOptions nodes = new NodeOptions();
  @Mixin private OutputOptions output = new OutputOptions();
  @Spec private @Nullable CommandSpec spec;

  /** What a command does with the nodes that it reaches. */
  @FunctionalInterface
  interface Task {
    int run(Redlock client, PrintWriter out) throws InterruptedException;
  }

  /** Looks and prints; returns the exit code. */
  protected abstract int look(Operations operations, PrintWriter out) throws InterruptedException;

  @Override
  public final Integer call() throws InterruptedException {
    return connected((client, out) -> look(client.operations(), out));
  }

  /** Connects, runs the task and closes the client; returns the exit code. */
  final int connected(Task task) throws InterruptedException {
    try (Redlock client = nodes.client(Look::observe)) {
      Connecting.settle(client.operations()); // To look at a node, its vote need not count yet.
      PrintWriter out = requireNonNull(spec, "not made by picocli").commandLine().getOut();
      int code = task.run(client, out);
      if (out.checkError() || System.out.checkError()) {
        throw new Failure(ExitCode.OUTPUT, "the output cannot be written");
      }
      return code;
    } catch (IllegalArgumentException e) { // A name or a pattern.
      throw Failure.usage(String.valueOf(e.getMessage()));
    }
  }

  /** A node timeout must be shorter than a lease without its drift. */
  private static void observe(RedlockBuilder builder, Duration longest) {
    Duration half = longest.dividedBy(2);
    builder.observer(true).nodeTimeout(half.compareTo(PATIENCE) < 0 ? half : PATIENCE);
  }

  protected PrintWriter err() {
    return requireNonNull(spec, "not made by picocli").commandLine().getErr();
  }

  boolean json() {
    return output.json();
  }

  /** Waits for the answer of the client, which is bounded by itself. */
  static <T> T answer(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RedlockException failure ? failure : e;
    }
  }

  /** What the nodes say together about one lock, for people. */
  public static String sentence(LockInspection inspection) {
    return Holding.of(inspection).sentence(inspection);
  }

  /** Why a node does not vote, and the options that help. */
  public static String cause(NodeState node) {
    String cause = Failure.withoutJava(node.cause());
    return cause.contains("NOAUTH")
        ? cause + " - give --password-file, --ask-password or REDLOCK_PASSWORD"
        : cause;
  }

  /** What the nodes say, each text once, after the names of all nodes that say it. */
  public static <T> String together(
      List<T> nodes, Function<T, String> name, Function<T, String> text) {
    Map<String, String> names =
        nodes.stream().collect(groupingBy(text, LinkedHashMap::new, mapping(name, joining(", "))));
    return names.entrySet().stream()
        .map(said -> said.getValue() + " " + said.getKey())
        .collect(joining("; "));
  }

  /** How many nodes vote. */
  public static long voting(List<NodeState> nodes) {
    return nodes.stream().filter(node -> node.state() == NodeState.State.VOTING).count();
  }

  static Failure tooFew(String message) {
    return new Failure(ExitCode.TOO_FEW_NODES, message);
  }
}
