package dev.redlock.simulation;

import dev.redlock.harness.mutants.Mutant;
import java.util.ArrayList;
import java.util.List;

/**
 * Faults of the client around the protocol (source {@code S}), which seeds of {@link
 * Scenario.Setting#SHELL} must catch.
 */
@SuppressWarnings("StringConcatToTextBlock") // Snippets keep their own indentation.
final class ShellMutants {
  private static final String SHELL = "redlock-core/src/main/java/dev/redlock/internal/";
  private static final String TENURE =
      "integrations/election/src/main/java/dev/redlock/election/Tenure.java";

  private static final List<Mutant> ALL = new ArrayList<>();

  private ShellMutants() {}

  static List<Mutant> all() {
    return List.copyOf(ALL);
  }

  private static void shellMutant(String name, Mutant.Edit edit) {
    ALL.add(new Mutant("S", name, Scenario.Setting.SHELL.name(), List.of(edit)));
  }

  /** A change of one class of the shell. */
  static Mutant variant(String type, String original, String replacement) {
    return new Mutant(
        "S",
        "a variant",
        Scenario.Setting.SHELL.name(),
        List.of(shell(type, original, replacement)));
  }

  static Mutant.Edit shell(String type, String original, String replacement) {
    return new Mutant.Edit(SHELL + type + ".java", original, replacement);
  }

  static {
    shellMutant(
        "events that come while another is handled are dropped",
        shell(
            "LockActor",
            "      inbox.add(event);\n"
                + "      if (unhandled.getAndIncrement() == 0) {\n"
                + "        handleAll();\n"
                + "      }\n",
            "      return;\n"));
    shellMutant(
        "a timer of a queue is not moved to an earlier time",
        shell(
            "LockActor",
            "      if (timerNanos - at <= 0) {",
            "      if (timerNanos - at <= 0 || timerNanos >= 0 || timerNanos < 0) {"));
    shellMutant(
        "a queue takes its timer for armed after it has fired",
        shell(
            "LockActor",
            "    if (timer != null && timerNanos - now <= 0) {",
            "    if (timer != null && timerNanos - now <= 0 && now == 0) {"));
    shellMutant(
        "the holder is not told the end of its lease",
        shell("LockActor", "    if (core != null) {\n      core.ended(end.end());\n    }\n", ""));
    shellMutant(
        "a lease is valid until the nodes confirm its release",
        shell("LeaseCore", "    lease.askRelease();\n", ""));
    shellMutant(
        "a lease that ended before whenEnded was asked for is never told",
        shell(
            "LeaseCore",
            "      if (end != null) {\n        // Not",
            "      if (end != null && release == null && onEnd != null) {\n        // Not"));
    shellMutant(
        "a lease that is granted to a caller that has given up is kept",
        shell(
            "PendingAcquire",
            "      core.releaseUnused(); // The caller cancelled, or was interrupted, meanwhile.\n",
            ""));
    shellMutant(
        "a waiter may give up after it was granted",
        shell(
            "Locks",
            "    if (pending.result.cancel(false)) {",
            "    pending.result.obtrudeException(new IllegalStateException());\n"
                + "    if (pending.result.isDone()) {"));
    shellMutant(
        "the future of a release or an extension is not completed",
        shell(
            "PendingAck",
            "result.isDone() ? Runnable::run : callbacks",
            "result.isDone() ? Runnable::run : task -> {}"));
    shellMutant(
        "a future that is asked for after the result never completes",
        shell(
            "PendingAck",
            "result.isDone() ? Runnable::run : callbacks",
            "result.isDone() ? task -> {} : callbacks"));
    shellMutant(
        "a close leaves what still waits for a node",
        shell(
            "Locks",
            "    for (LockActor actor : all()) {\n      actor.post(Locks::giveUp);\n    }\n",
            ""));
    shellMutant(
        "a close does not wait until the nodes have confirmed releases",
        shell(
            "Drain",
            "    return context.locks.emptied().isDone()\n",
            "    return context.locks.size() >= 0\n"));
    shellMutant(
        "a listener's queue forgets events after the first",
        shell(
            "ListenerQueue",
            "    } while (undelivered.decrementAndGet() != 0);",
            "    } while (undelivered.decrementAndGet() < 0);"));
    shellMutant(
        "a listener that throws gets no further events",
        shell(
            "ListenerQueue",
            "      failures.report(\"the listener \" + listener.getClass().getName(), e);\n"
                + "    }\n"
                + "  }\n"
                + "}",
            "      throw e;\n    }\n  }\n}"));
    shellMutant(
        "a callback that the executor rejects is lost",
        shell(
            "CallbackThreads",
            "        failures.report(\"the callback executor\", e);\n        execute(once);\n",
            "        failures.report(\"the callback executor\", e);\n"));
    shellMutant(
        "a callback runs twice if its executor throws after it took it",
        shell(
            "CallbackThreads",
            "            if (begun.compareAndSet(false, true)) {",
            "            if (begun.compareAndSet(false, true) || begun.get()) {"));
    shellMutant(
        "blocked callbacks delay all others",
        shell(
            "CallbackThreads",
            "      int wanted = few + 2 * blocked;",
            "      int wanted = few + 0 * blocked;"));
    shellMutant(
        "a late timer is never handled",
        shell(
            "ClientContext",
            "      time.schedule(() -> fired(task, now + wait, graces - 1), wait);\n",
            ""));
    shellMutant(
        "a late timer waits as long as timers are late",
        shell("ClientContext", "now + wait, graces - 1)", "dueNanos, graces)"));
    shellMutant(
        "queues are not told that the status of a node changed",
        shell(
            "NodeEvents",
            "(machine, now, wall) -> machine.onNodeStatus(i, now, wall)",
            "(machine, now, wall) -> {}"));
    shellMutant(
        "nodes are not told that no caller waits any more",
        shell("NodeSet", "node -> node.idle(keys)", "LockNode::name"));
    shellMutant(
        "an election releases its lease before its work has stopped",
        new Mutant.Edit(
            TENURE,
            "    timer.arm(config.stopTimeout().toNanos(), this::stopTimedOut);\n    queue.call(",
            "    release();\n    queue.call("));
    shellMutant(
        "the first of several unlocks releases a reentrant lock",
        shell("ReentrantHolds", "if (--hold.count > 0) {", "if (--hold.count < 0) {"));
  }
}
