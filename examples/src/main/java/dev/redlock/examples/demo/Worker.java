package dev.redlock.examples.demo;

import dev.redlock.DistributedLock;
import dev.redlock.LockOptions;
import dev.redlock.Redlock;
import dev.redlock.examples.fencing.RedisStock;
import dev.redlock.operations.NodeState;
import dev.redlock.spi.RestartGuard;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * The main class of one worker process. It reports on standard output and reads commands from
 * standard input. It ends when standard input ends, so it never outlives the shop.
 */
public final class Worker {
  private final int number;
  private final Message settings;
  private final WorkerCommands commands = new WorkerCommands();
  private final Out out = new Out();

  private Worker(Message settings) {
    this.settings = settings;
    number = (int) settings.number("worker");
  }

  /** Runs one worker with the settings that {@link #settings} made. */
  public static void main(String[] args) throws InterruptedException {
    Message settings =
        Message.parse(args[0])
            .orElseThrow(() -> new IllegalArgumentException("no settings: " + args[0]));
    new Worker(settings).run();
  }

  /** The settings of a worker, as one line. Without masters the worker sells without a lock. */
  static String settings(int worker, String stock, List<String> masters, long seed) {
    String nodes = String.join(",", masters);
    return Message.of("settings", "worker", worker, "stock", stock, "masters", nodes, "seed", seed)
        .toString();
  }

  private void run() throws InterruptedException {
    Thread listener = new Thread(this::listen, "commands");
    listener.setDaemon(true);
    listener.start();

    RedisURI uri = RedisURI.create(settings.text("stock"));
    uri.setTimeout(Duration.ofSeconds(10));
    RedisCommands<String, String> redis = RedisClient.create(uri).connect().sync();
    RedisStock stock = new RedisStock(redis, Plan.ITEM);
    Redlock redlock = connect();
    DistributedLock lock = redlock == null ? null : redlock.lock(Plan.ITEM);
    out.send(Message.of("ready", "nanos", System.nanoTime()));

    List<Thread> sellers = new ArrayList<>();
    for (int i = 0; i < Plan.THREADS; i++) {
      Random random = new Random(settings.number("seed") * 31 + 10L * number + i);
      Seller seller = new Seller(number, stock, lock, commands, out, random);
      sellers.add(new Thread(seller, "seller-" + i));
    }
    sellers.forEach(Thread::start);
    for (Thread seller : sellers) {
      seller.join();
    }
    if (redlock != null) {
      redlock.close();
    }
    out.send(Message.of("done"));
    System.exit(0);
  }

  private @Nullable Redlock connect() throws InterruptedException {
    if (settings.text("masters").isEmpty()) {
      return null;
    }
    Redlock redlock = client(List.of(settings.text("masters").split(",")));
    while (!allVote(redlock)) {
      Thread.sleep(20);
    }
    return redlock;
  }

  /** Creates the client that the shop and its workers use. */
  static Redlock client(List<String> masters) {
    return Redlock.builder()
        .nodes(masters.toArray(String[]::new))
        .defaults(LockOptions.builder().leaseTime(Plan.LEASE).build())
        .maxLeaseTime(Plan.MAX_LEASE)
        .restartGuard(RestartGuard.UPTIME)
        .build();
  }

  /** Whether all masters are connected and vote. */
  static boolean allVote(Redlock redlock) {
    return redlock.operations().nodes().stream()
        .allMatch(node -> node.state() == NodeState.State.VOTING);
  }

  private void listen() {
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        commands.follow(line);
      }
    } catch (IOException e) {
      // Treat it as the end of the input.
    }
    Runtime.getRuntime().halt(3);
  }

  /** Writes whole lines to the shop, without delay. Safe from any thread. */
  static final class Out {
    private final PrintStream stream =
        new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);

    synchronized void send(Message message) {
      stream.print(message + "\n");
      stream.flush();
    }
  }
}
