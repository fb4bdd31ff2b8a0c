package dev.redlock.it.failures;

import dev.redlock.internal.Failpoint;
import dev.redlock.testkit.RedisNode;
import dev.redlock.testkit.ServerState;
import dev.redlock.testkit.TcpGate;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import java.util.stream.Stream;

/** The faults. Each chooses its victims and its duration at random; {@link Fault#end} undoes it. */
enum Nemesis {
  KILL_EMPTY("N1", "SIGKILL of one to three masters; they come back without their keys") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      return killed(world, random, "killed, back empty", RedisNode::restart);
    }
  },
  KILL_KEEPING("N1", "the same; they come back with all acknowledged writes") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      return killed(world, random, "killed, back with its file", RedisNode::restartKeepingData);
    }
  },
  KILL_TRUNCATED(
      "N1",
      "SIGKILL of a master; it comes back without the end of its file, as after a power failure") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      List<RedisNode> victims = masters(world, 1, random);
      RedisNode victim = victims.get(0);
      List<?> dir = (List<?>) victim.command("CONFIG", "GET", "dir");
      victim.kill();
      long cut = truncate(Path.of(dir.get(1).toString()), random);
      return new Fault(
          lanes(victims),
          "killed, back without the last " + cut + " bytes of its file",
          part(world, random, 0.1, 1),
          victim::restartKeepingData);
    }
  },
  STOP_NODE("N2", "SIGSTOP of one or two masters") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      List<RedisNode> victims = masters(world, 1 + random.nextInt(2), random);
      victims.forEach(RedisNode::pause);
      return new Fault(
          lanes(victims),
          "paused (SIGSTOP)",
          part(world, random, 0.1, 3),
          () -> victims.forEach(RedisNode::resume));
    }
  },
  STOP_CLIENT("N3", "SIGSTOP of a worker, mostly of the one that held last") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      WorkerProcess victim = holder(world, random);
      victim.pause();
      return new Fault(
          victim.who(), "paused (SIGSTOP)", part(world, random, 0.1, 2), victim::resume);
    }
  },
  PARTITION("N4", "one worker is cut off from some masters or all, in both directions or in one") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      WorkerProcess victim = any(world.workers(), random);
      List<TcpGate> gates = some(victim.gates(), 1 + random.nextInt(5), random);
      String how;
      switch (random.nextInt(4)) {
        case 0 -> {
          gates.forEach(TcpGate::blackHole);
          how = "sends nothing and receives nothing";
        }
        case 1 -> {
          gates.forEach(TcpGate::dropRequests);
          how = "does not reach";
        }
        case 2 -> {
          gates.forEach(TcpGate::dropReplies);
          how = "does not hear";
        }
        default -> {
          gates.forEach(TcpGate::cut);
          how = "is refused";
        }
      }
      return new Fault(
          victim.who(),
          how + " of " + gates.size() + " masters",
          part(world, random, 0.1, 2),
          () -> gates.forEach(TcpGate::endFaults));
    }
  },
  LATENCY("N5", "slow links, each with its own delay, constant or varying") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      List<TcpGate> gates = new ArrayList<>();
      world.workers().forEach(w -> gates.addAll(some(w.gates(), 1 + random.nextInt(5), random)));
      for (TcpGate gate : gates) {
        gate.delay(millis(random, 60), millis(random, 60));
      }
      boolean jitters = random.nextBoolean();
      Random own = new Random(random.nextLong());
      Runnable steady =
          jitters
              ? whileItLasts(
                  "jitter",
                  since -> any(gates, own).delay(millis(own, 60), millis(own, 60)),
                  Duration.ofMillis(5))
              : () -> {};
      return new Fault(
          "links",
          gates.size() + " delayed by up to 120 ms" + (jitters ? ", with jitter" : ""),
          part(world, random, 0.3, 1.5),
          () -> {
            steady.run();
            gates.forEach(TcpGate::endFaults);
          });
    }
  },
  CLOCK("N6", "a master's clock jumps or runs at another rate; without gcc, keys expire early") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      List<RedisNode> victims = masters(world, 1, random);
      RedisNode victim = victims.get(0);
      if (world.shim().isEmpty()) {
        for (String name : List.of(Settings.HOT, "long", "still")) {
          victim.command(
              "PEXPIRE", "redlock:{" + name + "}", "1"); // Holders may repair it at once.
        }
        return new Fault(lanes(victims), "lets keys expire early", Duration.ZERO, () -> {});
      }
      if (random.nextInt(3) == 0) {
        return drifting(world, victim, random);
      }
      long millis = (random.nextBoolean() ? 1 : -1) * (500L + random.nextInt(40_000));
      world.shim().get().set(victim.directPort(), millis * 1000);
      return new Fault(
          lanes(victims),
          "clock steps by " + millis + " ms, and back",
          part(world, random, 0.3, 2),
          () -> world.shim().get().set(victim.directPort(), 0));
    }

    /** A clock that is too fast or too slow, by up to five times the drift. */
    private Fault drifting(RunningSystem world, RedisNode victim, Random random) {
      int percent = (random.nextBoolean() ? 1 : -1) * (random.nextBoolean() ? 1 : 5);
      ClockShim clock = world.shim().orElseThrow();
      int port = victim.directPort();
      Runnable back =
          whileItLasts(
              "drift",
              since -> clock.set(port, since / 1000 * percent / 100),
              Duration.ofMillis(5));
      return new Fault(
          lanes(List.of(victim)),
          "clock's rate is off by " + percent + " %, and it is set right at the end",
          part(world, random, 1, 3),
          () -> {
            back.run();
            clock.set(port, 0);
          });
    }

    @Override
    boolean losesKeysUnnoticed() {
      return true;
    }
  },
  SCRIPT_FLUSH("N7", "SCRIPT FLUSH on all masters") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      List<RedisNode> victims = masters(world, Settings.MASTERS, random);
      victims.forEach(node -> node.command("SCRIPT", "FLUSH"));
      return new Fault("masters", "forget their scripts", Duration.ZERO, () -> {});
    }
  },
  FLUSHDB("N8", "FLUSHDB on one master") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      List<RedisNode> victims = masters(world, 1, random);
      victims.get(0).command("FLUSHDB");
      return new Fault(lanes(victims), "flushed", Duration.ZERO, () -> {});
    }

    @Override
    boolean losesKeysUnnoticed() {
      return true; // By clients that are not connected at that moment.
    }
  },
  CLIENT_PAUSE("N9", "CLIENT PAUSE on one or two masters") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      List<RedisNode> victims = masters(world, 1 + random.nextInt(2), random);
      Duration length = part(world, random, 0.1, 1.5);
      String what = random.nextBoolean() ? "ALL" : "WRITE";
      String millis = Long.toString(length.toMillis());
      victims.forEach(node -> node.command("CLIENT", "PAUSE", millis, what));
      return new Fault(lanes(victims), "CLIENT PAUSE " + what, length.plusMillis(20), () -> {});
    }
  },
  KILL_HOLDER(
      "N10", "SIGKILL of a worker, mostly of the one that held last; a new process replaces it") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      WorkerProcess victim = holder(world, random);
      String who = victim.who();
      victim.kill();
      return new Fault(who, "killed (SIGKILL)", part(world, random, 0.1, 0.5), victim::replace);
    }
  },
  RESET("N11", "all connections are reset, several times") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      reset(world);
      return new Fault("links", "all reset", millis(random, 400), () -> reset(world));
    }
  },
  ERRING("N12", "one or two masters reply with errors instead of executing requests") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      List<RedisNode> victims = masters(world, 1 + random.nextInt(2), random);
      Erring how = any(List.of(Erring.values()), random);
      Duration length = part(world, random, 0.1, 1.5);
      List<Runnable> ends = victims.stream().map(node -> how.beginWhateverElseComes(node)).toList();
      return new Fault(
          lanes(victims),
          "answers " + how.answer() + " to everything",
          length,
          () -> ends.forEach(Runnable::run));
    }
  },
  STOP_AT_STEP("N13", "SIGSTOP of a worker at a certain step of a lock's queue") {
    @Override
    Fault begin(RunningSystem world, Random random) {
      WorkerProcess victim = holder(world, random);
      Failpoint step = any(List.of(Failpoint.values()), random);
      Duration length = part(world, random, 0.1, 2);
      victim.order("stop-at " + step + " " + length.toMillis());
      return new Fault(victim.who(), "stops at " + step, length, () -> {});
    }
  };

  /** A fault in progress: its victims, its kind, its duration and its end. */
  record Fault(String where, String text, Duration length, Runnable end) {}

  private final String code;
  private final String words;

  Nemesis(String code, String words) {
    this.code = code;
    this.words = words;
  }

  String code() {
    return code;
  }

  /** Its code and its name, as an option takes them, for example "N2 stop-node". */
  String label() {
    return code + " " + name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** What it does, in words. */
  String words() {
    return words;
  }

  abstract Fault begin(RunningSystem world, Random random);

  /**
   * Whether masters may forget leases without a quarantine. That is safe only for a minority of
   * masters and if all masters store the lease, so such a fault comes alone.
   */
  boolean losesKeysUnnoticed() {
    return false;
  }

  private interface Restart {
    void of(RedisNode node);
  }

  /**
   * Mostly a minority; sometimes a majority, after which no worker can be granted the lock for a
   * while.
   */
  private static Fault killed(RunningSystem world, Random random, String text, Restart restart) {
    int count = random.nextInt(6) == 0 ? 3 : 1 + random.nextInt(2);
    List<RedisNode> victims = masters(world, count, random);
    victims.forEach(RedisNode::kill);
    return new Fault(
        lanes(victims), text, part(world, random, 0, 1), () -> victims.forEach(restart::of));
  }

  /**
   * Chooses among running processes only: a second fault on a stopped process would fail halfway,
   * and would not be undone.
   */
  private static List<RedisNode> masters(RunningSystem world, int count, Random random) {
    List<RedisNode> running =
        world.masters().stream().filter(node -> node.state() == ServerState.RUNNING).toList();
    if (running.isEmpty()) {
      throw new IllegalStateException("no master runs");
    }
    return some(running, count, random);
  }

  private static <T> List<T> some(List<T> all, int count, Random random) {
    List<T> shuffled = new ArrayList<>(all);
    Collections.shuffle(shuffled, random);
    return List.copyOf(shuffled.subList(0, Math.min(count, shuffled.size())));
  }

  private static <T> T any(List<T> all, Random random) {
    return all.get(random.nextInt(all.size()));
  }

  private static WorkerProcess holder(RunningSystem world, Random random) {
    String name = random.nextBoolean() ? Settings.HOT : "long";
    return world
        .holderOf(name)
        .filter(w -> random.nextInt(4) > 0)
        .orElseGet(() -> any(world.workers(), random));
  }

  /**
   * Repeats a task, with the nanoseconds since the first execution.
   *
   * @return the handle that ends it; after its return the task does not run any more
   */
  private static Runnable whileItLasts(String name, LongConsumer action, Duration pause) {
    long began = System.nanoTime();
    Thread thread =
        new Thread(
            () -> {
              while (!Thread.currentThread().isInterrupted()) {
                action.accept(System.nanoTime() - began);
                LockSupport.parkNanos(pause.toNanos());
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
    return () -> {
      thread.interrupt();
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    };
  }

  private static String lanes(List<RedisNode> nodes) {
    return String.join("+", nodes.stream().map(node -> "n" + node.index()).sorted().toList());
  }

  private static Duration part(RunningSystem world, Random random, double least, double most) {
    double factor = least + random.nextDouble() * (most - least);
    return Duration.ofNanos((long) (world.settings().leaseTime().toNanos() * factor));
  }

  private static Duration millis(Random random, int below) {
    return Duration.ofMillis(random.nextInt(below));
  }

  private static void reset(RunningSystem world) {
    world.workers().forEach(w -> w.gates().forEach(TcpGate::resetConnections));
  }

  private static long truncate(Path data, Random random) {
    try (Stream<Path> files = Files.walk(data)) {
      Path log = files.filter(f -> f.toString().endsWith(".incr.aof")).findFirst().orElseThrow();
      try (FileChannel channel = FileChannel.open(log, StandardOpenOption.WRITE)) {
        long cut = Math.min(channel.size(), 1 + random.nextInt(20_000));
        channel.truncate(channel.size() - cut);
        return cut;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
