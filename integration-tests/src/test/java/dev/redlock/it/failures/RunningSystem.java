package dev.redlock.it.failures;

import dev.redlock.Redlock;
import dev.redlock.RedlockListener;
import dev.redlock.testkit.RedisKey;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.RedisNodes;
import dev.redlock.testkit.ServerState;
import dev.redlock.testkit.TcpGate;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Everything that runs: five masters, a register, workers behind gates, and an observing client.
 */
final class RunningSystem implements AutoCloseable {
  private final Settings settings;
  private final History history;
  private final Optional<ClockShim> shim;
  private final RedisNodes masters;
  private final RedisNodes registers;
  private final List<WorkerProcess> workers = new ArrayList<>();
  private final Redlock observer;

  RunningSystem(Settings settings, int workerCount, History history, Path scratch, long seed) {
    this.settings = settings;
    this.history = history;
    shim = ClockShim.compile(scratch);
    RedisNodes.Builder builder =
        RedisNodes.builder()
            .count(Settings.MASTERS)
            .appendOnly(true)
            .serverArgs("--enable-debug-command", "yes");
    shim.ifPresent(clock -> builder.binary(clock.server()));
    masters = builder.start();
    registers = RedisNodes.builder().count(1).start();
    // It bypasses the gates, so it sees the masters' states whatever the links do.
    observer = settings.client(masters.uris(), new RedlockListener() {});
    for (int place = 1; place <= workerCount; place++) {
      List<TcpGate> gates = new ArrayList<>();
      for (RedisNode master : masters) {
        gates.add(TcpGate.inFrontOf("127.0.0.1", master.directPort()));
      }
      workers.add(
          new WorkerProcess(
              place, settings, gates, registers.get(0).uri(), history, seed * 1000 + place * 50L));
    }
  }

  Settings settings() {
    return settings;
  }

  History history() {
    return history;
  }

  Optional<ClockShim> shim() {
    return shim;
  }

  RedisNodes masters() {
    return masters;
  }

  List<WorkerProcess> workers() {
    return workers;
  }

  Redlock observer() {
    return observer;
  }

  String source() {
    return masters.source();
  }

  void awaitReady() throws InterruptedException {
    for (WorkerProcess worker : workers) {
      worker.awaitReady(60);
    }
  }

  /** The worker that holds this name now, according to the history. */
  Optional<WorkerProcess> holderOf(String name) {
    return history
        .last(event -> event.is("acquired") && event.list("names").contains(name))
        .flatMap(held -> workers.stream().filter(w -> w.who().equals(held.who())).findFirst());
  }

  /** Searches for keys without a time to live, on all reachable masters. */
  void lookForImmortals() {
    for (RedisNode master : masters) {
      if (master.state() == ServerState.RUNNING) {
        for (RedisKey key : MasterKeys.of(master)) {
          if (key.name().startsWith("redlock:") && !isMarker(key) && key.ttl().isEmpty()) {
            history.add("n" + master.index(), "immortal", "key", key.name());
          }
        }
      }
    }
  }

  /** The lock keys on all masters. */
  List<String> lockKeys() {
    return MasterKeys.locks(masters);
  }

  private static boolean isMarker(RedisKey key) {
    return key.name().equals("redlock:%node");
  }

  /** Records the final values of the registers. */
  void tellRegisters() {
    try (Register register = new Register(registers.get(0).uri())) {
      for (String name : List.of(Register.CHECKED, Register.UNCHECKED)) {
        history.add("harness", "final", "register", name, "value", register.finalValue(name));
      }
    }
  }

  String describe() {
    return masters.describe();
  }

  @Override
  public void close() {
    workers.forEach(WorkerProcess::close);
    observer.close();
    workers.forEach(worker -> worker.gates().forEach(TcpGate::close));
    registers.close();
    masters.close();
  }
}
