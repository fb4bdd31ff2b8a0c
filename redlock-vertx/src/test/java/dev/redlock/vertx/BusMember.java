package dev.redlock.vertx;

import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.testkit.TcpGate;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryContext;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** One of two JVMs on a clustered bus; obeys commands on its standard input. */
final class BusMember implements AutoCloseable {
  static final Duration PATIENCE = Duration.ofSeconds(60);

  final CheckedVertx checked;
  final TcpGate gate;

  /** Messages of the library that this member sent or published. */
  final AtomicInteger sent = new AtomicInteger();

  BusMember(int member, int port) {
    int busPort = Clusters.freePort();
    gate = TcpGate.inFrontOf("127.0.0.1", busPort);
    checked = CheckedVertx.clustered(Clusters.clustered(member, port, gate, busPort));
    checked
        .vertx()
        .eventBus()
        .addOutboundInterceptor(
            (DeliveryContext<Object> delivery) -> {
              if (delivery.message().address().startsWith(BusFault.ADDRESS)) {
                sent.incrementAndGet();
              }
              delivery.next();
            });
  }

  Vertx vertx() {
    return checked.vertx();
  }

  /**
   * A client.
   *
   * @param hints {@code deaf}: without invalidations of the nodes; otherwise as in the options
   */
  VertxRedlock client(List<String> uris, String hints, long pollMillis) {
    boolean deaf = hints.equals("deaf");
    RedlockOptions options =
        new RedlockOptions()
            .setRestartGuard("off")
            .setNodeTimeoutMillis(500)
            .setPollIntervalMillis(pollMillis)
            .setReleaseHints(deaf ? "auto" : hints);
    return CheckedVertx.voting(
        VertxRedlock.create(
            vertx(),
            options,
            builder ->
                LettuceNodes.standalone(uris)
                    .forEach(node -> builder.nodes(deaf ? new DeafNode(node) : node))));
  }

  @Override
  public void close() {
    checked.close();
    gate.close();
  }

  /**
   * Arguments: port, URIs, hints, poll interval. Commands: {@code wait} acquires and releases;
   * {@code hold} acquires; {@code release}; {@code cut} and {@code mend} the bus; {@code end}.
   */
  public static void main(String[] args) throws Exception {
    try (BusMember here = new BusMember(1, Integer.parseInt(args[0]))) {
      VertxRedlock redlock =
          here.client(List.of(args[1].split(",")), args[2], Long.parseLong(args[3]));
      System.out.println("ready");
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      VertxLease held = null;
      for (String line = in.readLine(); line != null && !line.equals("end"); line = in.readLine()) {
        switch (line) {
          case "wait" -> {
            Future<VertxLease> asked = redlock.acquire("a", PATIENCE);
            System.out.println("waiting");
            VertxLease lease =
                CheckedVertx.get(
                    asked.onSuccess(l -> System.out.println("got " + System.nanoTime())), 60);
            CheckedVertx.get(lease.release());
            System.out.println("released");
          }
          case "hold" -> {
            held = CheckedVertx.get(redlock.acquire("a", PATIENCE), 60);
            System.out.println("held");
          }
          case "release" -> {
            CheckedVertx.get(held.release());
            System.out.println("released");
          }
          case "cut" -> {
            here.gate.blackHole();
            System.out.println("cut");
          }
          case "mend" -> {
            here.gate.endFaults();
            System.out.println("mended");
          }
          default -> throw new IllegalArgumentException(line);
        }
      }
    }
    System.exit(0);
  }
}
