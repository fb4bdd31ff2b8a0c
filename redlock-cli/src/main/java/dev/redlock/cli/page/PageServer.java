package dev.redlock.cli.page;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Serves the page and its events, read only. A request must name one of the expected hosts: a page
 * of another site, whose name was made to lead here (DNS rebinding), cannot read the locks.
 */
final class PageServer implements AutoCloseable {
  /** Each viewer keeps a thread. */
  static final int MAX_VIEWERS = 50;

  /** For all other requests. */
  private static final int OTHER_THREADS = 20;

  static {
    // The server of the JDK knows no other way: seconds in which a request must have arrived.
    System.setProperty("sun.net.httpserver.maxReqTime", "10");
  }

  /** So long without news, a comment tells a viewer that the connection is alive. */
  private static final Duration HEARTBEAT = Duration.ofSeconds(5);

  private final HttpServer server;
  private final ExecutorService threads;

  /** Interrupts the thread of a viewer that does not read: this closes its connection. */
  private final ScheduledExecutorService alarm;

  private final Duration patience;
  private final Board board;
  private final Set<String> hosts;
  private final AtomicInteger viewers = new AtomicInteger();
  private final SecureRandom random = new SecureRandom();
  private final String page;

  /**
   * Begins to serve.
   *
   * @param patience for so long a viewer may read nothing
   */
  PageServer(InetSocketAddress address, Set<String> hosts, Board board, Duration patience)
      throws IOException {
    this.board = board;
    this.hosts = hosts;
    this.patience = patience;
    try (InputStream source = PageServer.class.getResourceAsStream("page.html")) {
      if (source == null) {
        throw new IOException("page.html is missing");
      }
      page = new String(source.readAllBytes(), UTF_8);
    }
    server = HttpServer.create(address, 0);
    DefaultThreadFactory daemons = new DefaultThreadFactory("redlock-page", true);
    threads = Executors.newFixedThreadPool(MAX_VIEWERS + OTHER_THREADS, daemons);
    alarm = Executors.newSingleThreadScheduledExecutor(daemons);
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  int port() {
    return server.getAddress().getPort();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      Headers headers = exchange.getResponseHeaders();
      headers.set("Cache-Control", "no-store");
      headers.set("X-Content-Type-Options", "nosniff");
      headers.set("Referrer-Policy", "no-referrer");
      String path = exchange.getRequestURI().getPath();
      if (!isExpected(exchange.getRequestHeaders().getFirst("Host"))) {
        answer(
            exchange, 403, "this host is not served: open the address that redlock serve printed");
      } else if (isOfAnotherSite(exchange.getRequestHeaders())) {
        answer(exchange, 403, "another site may link to this page, and not load it");
      } else if (exchange.getRequestMethod().equals("HEAD")) {
        exchange.sendResponseHeaders(path.equals("/") ? 200 : 404, -1);
      } else if (!exchange.getRequestMethod().equals("GET")) {
        answer(exchange, 405, "read only");
      } else if (path.equals("/")) {
        page(exchange);
      } else if (path.equals("/events")) {
        events(exchange);
      } else {
        answer(exchange, 404, "not found");
      }
    }
  }

  private boolean isExpected(String host) {
    if (host == null) {
      return false;
    }
    int port = host.lastIndexOf(':');
    String name = port > host.lastIndexOf(']') ? host.substring(0, port) : host;
    return hosts.stream().anyMatch(name::equalsIgnoreCase);
  }

  private static boolean isOfAnotherSite(Headers headers) {
    return "cross-site".equals(headers.getFirst("Sec-Fetch-Site"))
        && !"navigate".equals(headers.getFirst("Sec-Fetch-Mode"));
  }

  /** Now connected. */
  int viewers() {
    return viewers.get();
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = (text + "\n").getBytes(UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private void page(HttpExchange exchange) throws IOException {
    byte[] secret = new byte[16];
    random.nextBytes(secret);
    String nonce = Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
    Headers headers = exchange.getResponseHeaders();
    headers.set("Content-Type", "text/html; charset=utf-8");
    headers.set(
        "Content-Security-Policy",
        "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none';"
            + " frame-ancestors 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'"
                .formatted(nonce, nonce));
    byte[] bytes = page.replace("{{nonce}}", nonce).getBytes(UTF_8);
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  /** Server-sent events, until the viewer goes. */
  private void events(HttpExchange exchange) throws IOException {
    if (viewers.incrementAndGet() > MAX_VIEWERS) {
      viewers.decrementAndGet();
      answer(exchange, 503, "more than " + MAX_VIEWERS + " viewers");
      return;
    }
    try {
      exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
      exchange.getResponseHeaders().set("X-Accel-Buffering", "no"); // nginx would hold events back.
      exchange.sendResponseHeaders(200, 0);
      OutputStream out = exchange.getResponseBody();
      Thread thread = Thread.currentThread();
      long seen = 0;
      while (!thread.isInterrupted()) {
        Board.Shown shown = board.newerThan(seen, HEARTBEAT);
        Future<?> late = alarm.schedule(thread::interrupt, patience.toMillis(), MILLISECONDS);
        try {
          out.write(
              (shown == null ? ": alive\n\n" : "data: " + shown.json() + "\n\n").getBytes(UTF_8));
          out.flush();
        } finally {
          late.cancel(false); // Else it would interrupt the thread when it serves another viewer.
        }
        seen = shown == null ? seen : shown.version();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // The server ends, or the viewer was late.
    } finally {
      viewers.decrementAndGet();
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    alarm.shutdownNow();
    server.stop(0);
  }
}
