package dev.redlock.cli.page;

import dev.redlock.cli.ExitCode;
import dev.redlock.cli.Failure;
import dev.redlock.cli.Terminal;
import dev.redlock.cli.look.Look;
import dev.redlock.internal.text.Printable;
import dev.redlock.operations.Operations;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code redlock serve}. */
@Command(
    name = "serve",
    mixinStandardHelpOptions = true,
    description = {
      "Serve a page that shows locks and nodes, read only, until it is interrupted.",
      "Answers to this machine only, unless --address says otherwise. It has no passwords and no"
          + " encryption: every client that reaches the address sees all names and labels."
    },
    footer = {"", "Example: redlock serve --port 8080"})
public final class ServeCommand extends Look {
  /** Of the server, with a viewer that reads nothing. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final Duration LEAST = Duration.ofMillis(500);

  @Parameters(
      paramLabel = "PATTERN",
      arity = "0..1",
      description = "Only names that match, as in redlock list.")
  private String pattern = "*";

  @Option(names = "--port", paramLabel = "PORT", description = "Default: a free port.")
  private int port;

  @Option(
      names = "--address",
      paramLabel = "ADDRESS",
      description = "The address to listen on. Default 127.0.0.1.")
  private String address = "127.0.0.1";

  @Option(
      names = "--host",
      paramLabel = "NAME",
      description = "A further host name by which browsers may ask, as behind a proxy.")
  private List<String> names = List.of();

  @Option(
      names = "--every",
      paramLabel = "TIME",
      description = "The pause between two looks at the nodes. Default 2s, at least 500ms.")
  private Duration every = Duration.ofSeconds(2);

  @Override
  protected int look(Operations operations, PrintWriter out) throws InterruptedException {
    if (every.compareTo(LEAST) < 0) {
      throw Failure.usage("--every " + Printable.of(every) + " is below " + Printable.of(LEAST));
    }
    if (port < 0 || port > 65_535) {
      throw Failure.usage("--port " + port + " must lie between 0 (a free port) and 65535");
    }
    Board board = new Board();
    Observer observer = new Observer(operations, pattern);
    InetSocketAddress place = new InetSocketAddress(address, port);
    if (place.isUnresolved()) {
      throw Failure.usage("--address " + address + " is no address of this machine");
    }
    try (PageServer server = new PageServer(place, hosts(), board, PATIENCE)) {
      String host = address.contains(":") ? "[" + address + "]" : address;
      out.println("http://" + host + ":" + server.port() + "/");
      out.flush();
      if (Terminal.console() != null) {
        err().println("redlock: open this page in a browser; Ctrl-C ends");
        err().flush();
      }
      while (!Thread.currentThread().isInterrupted()) {
        board.show(observer.look(System.currentTimeMillis(), every));
        Thread.sleep(every.toMillis());
      }
      return ExitCode.OK;
    } catch (IOException e) {
      throw new Failure(
          ExitCode.SYSTEM, "cannot listen on " + address + ":" + port + ": " + e.getMessage());
    }
  }

  private Set<String> hosts() {
    Set<String> hosts = new HashSet<>(List.of("127.0.0.1", "localhost", "[::1]", address));
    hosts.add("[" + address + "]");
    hosts.addAll(names);
    return hosts;
  }
}
