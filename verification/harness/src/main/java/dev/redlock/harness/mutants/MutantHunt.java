package dev.redlock.harness.mutants;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Compiles mutants, and runs the trial of each.
 *
 * @param root the root of the project
 * @param threads how many trials run at once
 */
public record MutantHunt(Path root, MutantCheck trial, int threads) {

  /**
   * The result of one mutant.
   *
   * @param by what caught it; empty if nothing did
   */
  public record Outcome(Mutant mutant, String by) {
    /** Whether the trial noticed the fault. */
    public boolean isCaught() {
      return !by.isEmpty();
    }
  }

  /** Returns the outcomes in the order of the mutants. */
  public List<Outcome> hunt(List<Mutant> mutants) throws InterruptedException, ExecutionException {
    List<Outcome> outcomes = new ArrayList<>();
    hunt(mutants, outcomes::add);
    return outcomes;
  }

  /** Prints a table and a last line that begins with the command; true if all were caught. */
  public boolean print(String command, List<Mutant> mutants, PrintWriter out)
      throws InterruptedException, ExecutionException {
    List<Outcome> caught = new ArrayList<>();
    out.println("| source | mutant | caught by |");
    out.println("|---|---|---|");
    hunt(
        mutants,
        o -> {
          String by = o.isCaught() ? o.by() : "NOT CAUGHT";
          out.println("| " + o.mutant().source() + " | " + o.mutant().name() + " | " + by + " |");
          out.flush();
          if (o.isCaught()) {
            caught.add(o);
          }
        });
    out.println(command + ": mutants caught=" + caught.size() + " of=" + mutants.size());
    out.flush();
    return caught.size() == mutants.size();
  }

  /** Prints the faults and the classes that they change; runs nothing. */
  public static void list(String command, List<Mutant> mutants, PrintWriter out) {
    out.println("| source | class | mutant |");
    out.println("|---|---|---|");
    for (Mutant m : mutants) {
      String types =
          m.edits().stream()
              .map(edit -> edit.file().replaceAll(".*/|\\.java$", ""))
              .distinct()
              .collect(Collectors.joining(", "));
      out.println("| " + m.source() + " | " + types + " | " + m.name() + " |");
    }
    out.println(command + ": mutants=" + mutants.size());
    out.flush();
  }

  /** The mutants of that source, and those whose name contains the text. */
  public static List<Mutant> select(List<Mutant> mutants, String only) {
    return mutants.stream()
        .filter(m -> m.name().contains(only) || m.source().equals(only))
        .toList();
  }

  private void hunt(List<Mutant> mutants, Consumer<Outcome> then)
      throws InterruptedException, ExecutionException {
    ExecutorService workers = Executors.newFixedThreadPool(threads, MutantHunt::daemon);
    try {
      List<Future<Outcome>> hunts = new ArrayList<>();
      for (Mutant m : mutants) {
        hunts.add(workers.submit(() -> new Outcome(m, caughtBy(m))));
      }
      for (Future<Outcome> hunt : hunts) {
        then.accept(hunt.get());
      }
    } finally {
      workers.shutdownNow();
    }
  }

  /** An exception of the code with the fault has caught it, unless the code does not run at all. */
  private String caughtBy(Mutant m) throws Exception {
    try {
      return trial.run(m, m.compile(root));
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof LinkageError broken) {
        throw broken;
      }
      return "exception " + e.getCause();
    }
  }

  private static Thread daemon(Runnable task) {
    Thread t = new Thread(task, "mutants");
    t.setDaemon(true);
    return t;
  }
}
