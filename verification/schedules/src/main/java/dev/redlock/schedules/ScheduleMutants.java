package dev.redlock.schedules;

import dev.redlock.harness.mutants.Mutant;
import dev.redlock.harness.mutants.Mutant.Edit;
import java.util.ArrayList;
import java.util.List;

/**
 * Faults in what threads share; a scenario must catch each of them. Their sources: {@code 14.…} is
 * a defect that this project had, {@code own} a fault that was thought of.
 */
@SuppressWarnings("StringConcatToTextBlock") // Snippets keep their own indentation.
final class ScheduleMutants {
  private static final String CORE = "redlock-core/src/main/java/dev/redlock/internal/";
  private static final String REDIS = "redlock-redis/src/main/java/dev/redlock/redis/internal/";

  private static final List<Mutant> ALL = new ArrayList<>();

  private ScheduleMutants() {}

  static List<Mutant> all() {
    return List.copyOf(ALL);
  }

  private static void mutant(String source, String name, String caughtBy, Edit... edits) {
    ALL.add(new Mutant(source, name, caughtBy, List.of(edits)));
  }

  static Edit redis(String type, String original, String replacement) {
    return new Edit(REDIS + type + ".java", original, replacement);
  }

  private static Edit shell(String type, String original, String replacement) {
    return new Edit(CORE + type + ".java", original, replacement);
  }

  static {
    // The three serious defects of issue 14.
    mutant(
        "14.1",
        "a caller that found the client open makes a queue that close has not seen",
        "close races",
        shell(
            "Locks",
            "          if (isClosed()) {\n"
                + "            machine.close(now, wall);\n"
                + "          } else if (!isOpen()) {\n"
                + "            machine.refuseWaiters(now);\n"
                + "          }\n",
            ""));
    mutant(
        "14.2",
        "the client keeps a release pending for an acquire that the server refused unexecuted",
        "errs",
        redis("scripts/ServerErrors", "OUT_OF_MEMORY,\n          MISCONFIGURED,", "MISCONFIGURED,"),
        redis(
            "scripts/ServerErrors",
            "case TIMEOUT, DISCONNECTED,",
            "case OUT_OF_MEMORY, TIMEOUT, DISCONNECTED,"));
    mutant(
        "14.3",
        "what foreign code throws outside of an event ends the queue of that name",
        "foreign code",
        shell(
            "LockActor",
            "    } catch (Throwable ignored) {\n"
                + "      // It was reported, or the stack was too short to report it.\n    }\n"
                + "    worker = null;",
            "    } finally {\n      worker = null;\n    }"),
        shell(
            "LockActor",
            "      context.hints.waiting(keys(), waits);",
            "      context.nodes.node(0).waiting(keys());"));
    mutant(
        "14.1",
        "a close that has ended gives up only what waited before",
        "close races",
        shell(
            "Locks",
            "    if (state == State.ENDED) {\n      chosen.post(Locks::giveUp);\n    }\n",
            ""),
        shell(
            "Locks",
            "          if (isClosed()) {\n"
                + "            machine.close(now, wall);\n"
                + "          } else if (!isOpen()) {\n"
                + "            machine.refuseWaiters(now);\n"
                + "          }\n",
            "          if (state == State.CLOSED) {\n"
                + "            machine.close(now, wall);\n"
                + "          }\n"));
    // Others.
    mutant(
        "own",
        "an event goes to a queue that has retired",
        "queue retires",
        shell("Locks", "          if (chosen.isRetired()) {", "          if (keys == null) {"));
    mutant(
        "own",
        "an event is counted before it is added",
        "queue of a lock",
        shell(
            "LockActor",
            "      inbox.add(event);\n      if (unhandled.getAndIncrement() == 0) {\n"
                + "        handleAll();\n      }\n",
            "      boolean first = unhandled.getAndIncrement() == 0;\n      inbox.add(event);\n"
                + "      if (first) {\n        handleAll();\n      }\n"));
    mutant(
        "own",
        "two threads handle one queue",
        "queue of a lock",
        shell(
            "LockActor",
            "    if (unhandled.compareAndSet(0, 1)) {",
            "    if (unhandled.get() == 0) {\n      unhandled.set(1);"));
    mutant(
        "own",
        "a taker looks for the result before it says that it waits",
        "a result",
        shell(
            "Blocking",
            "  boolean await(CompletableFuture<?> result) {\n    unparkAt(result);\n"
                + "    while (!result.isDone()) {",
            "  boolean await(CompletableFuture<?> result) {\n"
                + "    for (; !result.isDone(); unparkAt(result)) {"));
    mutant(
        "14.11",
        "a result wakes one thread only",
        "a result",
        shell(
            "Blocking",
            "    Thread waiter = Thread.currentThread();\n",
            "    if (result.getNumberOfDependents() > 0) {\n      return;\n    }\n"
                + "    Thread waiter = Thread.currentThread();\n"));
    mutant(
        "own",
        "a result is set although the taker has given up",
        "cancel",
        shell(
            "PendingAcquire",
            "    boolean given = result.complete(Optional.of(lease));\n",
            "    boolean given = !result.isDone();\n    result.complete(Optional.of(lease));\n"));
    mutant(
        "own",
        "the future of an ack takes only a result that is there",
        "ack",
        shell(
            "PendingAck",
            "      Results.relay(result, users, result.isDone() ? Runnable::run : callbacks);\n",
            "      if (result.isDone()) {\n        Results.relay(result, users, Runnable::run);\n"
                + "      }\n"));
    mutant(
        "own",
        "a grant to a caller that gave up is not released",
        "cancel",
        shell(
            "PendingAcquire",
            "      core.releaseUnused(); // The caller cancelled, or was interrupted, meanwhile.",
            "      context.locks.size();"));
    mutant(
        "own",
        "a lease that comes at the moment of the interrupt is lost",
        "interrupt",
        shell(
            "Locks", "      var unused = pending.result.thenAccept(DefaultLease::giveBack);", ""));
    mutant(
        "own",
        "the end of a lease is read outside the monitor",
        "ends while",
        shell(
            "LeaseCore",
            "    synchronized (this) {\n      onEnd = taker;\n      over = end;\n    }\n"
                + "    if (over",
            "    over = end;\n"
                + "    synchronized (this) {\n"
                + "      onEnd = taker;\n"
                + "    }\n"
                + "    if (over"));
    mutant(
        "own",
        "the rounds under way are counted without the monitor",
        "limit",
        new Edit(
            CORE + "protocol/RoundLimiter.java",
            "  public void began() {\n    underWay++;",
            "  private volatile int count;\n\n  public void began() {\n    count = underWay;\n"
                + "    underWay = count + 1;"),
        shell("SharedRoundLimiter", "synchronized void began", "void began"));
    mutant(
        "own",
        "each thread tells the state of a node that it has seen",
        "states of a node",
        shell("NodeEvents", "    if (changes > 1) {", "    if (changes > 1_000) {"));
    mutant(
        "own",
        "a change of a node's state during the telling is not told",
        "states of a node",
        shell(
            "NodeEvents",
            "changes = untold.addAndGet(index, -changes);",
            "changes = untold.getAndSet(index, 0) * 0;"));
    mutant(
        "own",
        "the delivery to a listener looks at its count only once",
        "listener",
        shell(
            "ListenerQueue",
            "    } while (undelivered.decrementAndGet() != 0);",
            "    } while (!events.isEmpty());\n    undelivered.set(0);"));
    mutant(
        "own",
        "a listener whose timer was refused at close gets no event",
        "listener at close",
        shell(
            "ListenerQueue",
            "    if (closed) { // The timer may have been refused.\n      startNow();\n    }\n",
            ""));
    mutant(
        "14.12",
        "callbacks that block take all threads",
        "callbacks",
        shell("CallbackThreads", "int wanted = few + 2 * blocked;", "int wanted = few;"));
    mutant(
        "own",
        "a check of the callback threads is lost",
        "callbacks",
        shell(
            "CallbackThreads",
            "    } finally {\n      checking.set(false);\n    }\n    checkIfAnyWaits();",
            "    } finally {\n      checkIfAnyWaits();\n      checking.set(false);\n    }"));
    mutant(
        "own",
        "the second close returns at once",
        "close races close",
        shell("Client", "      awaitClosed(here);\n      return;", "      return;"));
    mutant(
        "own",
        "a close does not wait for releases",
        "close races",
        shell("Client", "    attempt(\"the drain\", () -> new Drain(context).await());", ""));
    mutant(
        "own",
        "two heartbeats release what one dead thread held",
        "dead thread",
        shell(
            "ReentrantHolds",
            "if (!key.owner().isAlive() && holds.remove(key, hold)) {",
            "if (key.owner().isAlive() && holds.remove(key, hold)) {"));
  }
}
