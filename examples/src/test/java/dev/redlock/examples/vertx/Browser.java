package dev.redlock.examples.vertx;

import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A page in a real browser, driven by the DevTools protocol. */
final class Browser implements AutoCloseable {
  private static final String LISTENS = "DevTools listening on ws://";
  private static final List<String> NAMES =
      List.of("chromium", "chromium-browser", "google-chrome");

  private final Process process;
  private final Path profile;
  private final WebSocket socket;
  private final AtomicInteger ids = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonObject>> asked = new ConcurrentHashMap<>();

  /** The browser of this machine, if there is one. */
  static Optional<Path> find() {
    return Stream.of(System.getenv("PATH").split(java.io.File.pathSeparator))
        .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  Browser(Path executable, String page) throws Exception {
    profile = Files.createTempDirectory("redlock-browser");
    process =
        new ProcessBuilder(
                executable.toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--remote-debugging-port=0",
                "--window-size=900,620",
                "--user-data-dir=" + profile,
                "about:blank")
            .redirectErrorStream(true)
            .start();
    HttpClient http = HttpClient.newHttpClient();
    HttpRequest open =
        HttpRequest.newBuilder(URI.create("http://" + authority() + "/json/new?" + page))
            .PUT(HttpRequest.BodyPublishers.noBody())
            .build();
    String target = http.send(open, HttpResponse.BodyHandlers.ofString()).body();
    socket =
        http.newWebSocketBuilder()
            .buildAsync(
                URI.create(new JsonObject(target).getString("webSocketDebuggerUrl")), new Replies())
            .get(20, TimeUnit.SECONDS);
  }

  /** Host and port of the DevTools server, from the first lines that the browser prints. */
  private String authority() throws IOException {
    BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    StringBuilder said = new StringBuilder();
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith(LISTENS)) {
        Thread drain = new Thread(() -> out.lines().forEach(ignored -> {}), "browser-output");
        drain.setDaemon(true);
        drain.start();
        return line.substring(LISTENS.length(), line.indexOf('/', LISTENS.length()));
      }
      said.append(line).append('\n');
    }
    throw new IOException("the browser ended: " + said);
  }

  private final class Replies implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
      text.append(part);
      if (last) {
        JsonObject reply = new JsonObject(text.toString());
        text.setLength(0);
        CompletableFuture<JsonObject> future = asked.remove(reply.getInteger("id", 0));
        if (future != null) {
          future.complete(reply);
        }
      }
      from.request(1);
      return CompletableFuture.completedFuture(null);
    }
  }

  private JsonObject call(String method, JsonObject parameters) throws Exception {
    int id = ids.incrementAndGet();
    CompletableFuture<JsonObject> reply = new CompletableFuture<>();
    asked.put(id, reply);
    JsonObject request =
        new JsonObject().put("id", id).put("method", method).put("params", parameters);
    socket.sendText(request.encode(), true).get(20, TimeUnit.SECONDS);
    return reply.get(20, TimeUnit.SECONDS).getJsonObject("result");
  }

  /** The value of a JavaScript expression in the page. */
  Object evaluate(String expression) throws Exception {
    JsonObject parameters =
        new JsonObject().put("expression", expression).put("returnByValue", true);
    return call("Runtime.evaluate", parameters).getJsonObject("result").getValue("value");
  }

  /** Saves what the page looks like now. */
  void screenshot(Path file) throws Exception {
    JsonObject shot = call("Page.captureScreenshot", new JsonObject().put("format", "png"));
    Files.write(file, Base64.getDecoder().decode(shot.getString("data")));
  }

  @Override
  public void close() throws Exception {
    socket.abort();
    List<ProcessHandle> children = process.descendants().toList();
    process.destroy();
    if (!process.waitFor(10, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
    }
    for (ProcessHandle child : children) {
      child.destroyForcibly();
      child.onExit().get(10, TimeUnit.SECONDS);
    }
    try (Stream<Path> files = Files.walk(profile)) {
      files.sorted(java.util.Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    }
  }
}
