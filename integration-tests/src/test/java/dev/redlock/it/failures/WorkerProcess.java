package dev.redlock.it.failures;

import dev.redlock.harness.ForkedJvm;
import dev.redlock.testkit.TcpGate;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * One worker: a process, which is replaced if it is killed, and its own gate to each master, so
 * that only this worker can be cut off from some of them.
 *
 * <p>With another build beside this one, half of the processes are of that build, and a process
 * that replaces a killed one is of the build that the killed one was not of: a rolling update and
 * its roll-back.
 */
final class WorkerProcess implements AutoCloseable {
  /** A system property: the class path of the other build; see {@code bin/mixed}. */
  static final String OTHER_BUILD = "redlock.it.other-build";

  private final int place;
  private final Settings settings;
  private final List<TcpGate> gates;
  private final Supplier<List<String>> masters;
  private final Map<String, String> properties;
  private final String register;
  private final History history;
  private final long seed;
  private int incarnation;
  private volatile Run run;

  WorkerProcess(
      int place,
      Settings settings,
      List<TcpGate> gates,
      String register,
      History history,
      long seed) {
    this(
        place,
        settings,
        gates,
        () -> gates.stream().map(gate -> "redis://127.0.0.1:" + gate.port()).toList(),
        Map.of(),
        register,
        history,
        seed);
  }

  /**
   * @param masters the list with which the next process is configured
   * @param properties more system properties of each process
   */
  WorkerProcess(
      int place,
      Settings settings,
      List<TcpGate> gates,
      Supplier<List<String>> masters,
      Map<String, String> properties,
      String register,
      History history,
      long seed) {
    this.place = place;
    this.settings = settings;
    this.gates = gates;
    this.masters = masters;
    this.properties = properties;
    this.register = register;
    this.history = history;
    this.seed = seed;
    this.run = new Run();
  }

  /** One process and its reports. */
  private final class Run {
    private final String who = letter() + place + "." + ++incarnation;
    private final long startedNanos = System.nanoTime();
    private final CountDownLatch ready = new CountDownLatch(1);
    private final CountDownLatch done = new CountDownLatch(1);
    private final ForkedJvm jvm = start();

    private ForkedJvm start() {
      ForkedJvm.Builder forked =
          ForkedJvm.of(Worker.class)
              .name(who)
              .jvmArgs(jvmArgs())
              .property("logback.configurationFile", "logback-failures.xml")
              .property("redlock.failpoints", "true")
              .args(Worker.orders(who, settings, masters.get(), register, seed + incarnation))
              .onLine(this::take);
      properties.forEach(forked::property);
      return forked.start();
    }

    /** Java uses the last class path that it gets. */
    private String[] jvmArgs() {
      List<String> args =
          new ArrayList<>(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
      String other = System.getProperty(OTHER_BUILD);
      if (other != null && (place + incarnation) % 2 == 0) {
        history.add(who, Builds.OTHER);
        args.addAll(List.of("-cp", other));
      }
      return args.toArray(String[]::new);
    }

    private void take(String line) {
      Event.parse(line).ifPresentOrElse(this::take, () -> System.err.println(who + ": " + line));
    }

    private void take(Event event) {
      // Stamps of processes are compared, so all processes must share a clock.
      if (event.atNanos() < startedNanos || event.atNanos() > System.nanoTime()) {
        System.err.println("processes here do not share a monotonic clock: " + event);
        Runtime.getRuntime().exit(2);
      }
      history.add(event);
      if (event.is("ready")) {
        ready.countDown();
      } else if (event.is("done")) {
        done.countDown();
      }
    }
  }

  String who() {
    return run.who;
  }

  /** Those of the deployment beside are called otherwise; see {@link Checks#isBeside}. */
  private String letter() {
    return properties.containsKey(Worker.BESIDE) ? "q" : "w";
  }

  /** Whether the process runs for that long and is not ready yet. */
  boolean isStuck(long nanos) {
    Run now = run;
    return now.ready.getCount() > 0 && System.nanoTime() - now.startedNanos > nanos;
  }

  boolean isReady() {
    Run now = run;
    return now.ready.getCount() == 0 && now.jvm.isAlive();
  }

  List<TcpGate> gates() {
    return gates;
  }

  void awaitReady(long seconds) throws InterruptedException {
    await(run.ready, "is not ready", seconds);
  }

  void awaitDone(long seconds) throws InterruptedException {
    await(run.done, "is not done", seconds);
  }

  private void await(CountDownLatch latch, String complaint, long seconds)
      throws InterruptedException {
    for (long i = 0; i < seconds * 10; i++) {
      if (latch.await(100, TimeUnit.MILLISECONDS)) {
        return;
      }
      if (!run.jvm.isAlive() && !latch.await(1, TimeUnit.SECONDS)) {
        break;
      }
    }
    throw new IllegalStateException(complaint + ": " + run.jvm.describe());
  }

  void kill() {
    run.jvm.kill();
    history.add(run.who, "gone");
  }

  /** Starts a new process that replaces a killed one. */
  void replace() {
    run = new Run();
  }

  /** Kills the process, if it lives, and starts a new one. Safe from several threads. */
  synchronized void killAndReplace() {
    kill();
    replace();
  }

  void pause() {
    run.jvm.pause();
  }

  void resume() {
    run.jvm.resume();
  }

  /** The order is lost if another thread kills the process meanwhile: it has no result then. */
  void order(String order) {
    try {
      run.jvm.send(order);
    } catch (UncheckedIOException e) {
      System.err.println(e.getMessage());
    }
  }

  @Override
  public void close() {
    run.jvm.close();
  }
}
