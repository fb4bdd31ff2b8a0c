package dev.redlock.cli.page;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.redlock.cli.look.Json;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One page in a Chromium without a window, driven by the DevTools protocol. It ends with {@link
 * #close()}; Chromium ends itself when the connection is gone.
 */
final class Browser implements AutoCloseable {
  private static final long DEADLINE_SECONDS = 60;
  private static final Pattern VALUE = Pattern.compile("\"value\":(true|false|-?[0-9.eE+]+)");

  private final Process process;
  private final WebSocket socket;
  private final String session;
  private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
  private int lastId;

  static Optional<Path> find() {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .flatMap(
            place ->
                Stream.of("chromium", "chromium-browser", "google-chrome")
                    .map(name -> Path.of(place, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  Browser(Path program, Path profile, String url) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                program.toString(),
                "--headless=new",
                "--disable-gpu",
                "--no-first-run",
                "--disable-dev-shm-usage",
                "--remote-debugging-port=0",
                "--user-data-dir=" + profile));
    if (System.getProperty("user.name").equals("root")) {
      command.add("--no-sandbox");
    }
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("TMPDIR", profile.toString()); // It leaves files behind when killed.
    process = builder.start();
    try {
      BufferedReader output =
          new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
      String address = null;
      for (String line = output.readLine(); address == null; line = output.readLine()) {
        if (line == null) {
          throw new IOException("the browser ended before it listened");
        }
        address = line.startsWith("DevTools listening on ") ? line.substring(22) : null;
      }
      Thread drain = new Thread(() -> output.lines().forEach(line -> {}), "browser-output");
      drain.setDaemon(true);
      drain.start();
      socket =
          HttpClient.newHttpClient()
              .newWebSocketBuilder()
              .buildAsync(URI.create(address), new Messages(messages))
              .get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      String target =
          text(call("Target.createTarget", "{\"url\":" + Json.quoted(url) + "}", null), "targetId");
      session =
          text(
              call(
                  "Target.attachToTarget",
                  "{\"targetId\":\"" + target + "\",\"flatten\":true}",
                  null),
              "sessionId");
    } catch (Throwable e) {
      end();
      throw e;
    }
  }

  /** Sends a command and returns the whole reply. */
  private String call(String method, String params, String session) throws Exception {
    int id = ++lastId;
    String to = session == null ? "" : ",\"sessionId\":\"" + session + "\"";
    socket
        .sendText(
            "{\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":" + params + to + "}",
            true)
        .get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    while (true) {
      String message = messages.poll(DEADLINE_SECONDS, TimeUnit.SECONDS);
      if (message == null) {
        throw new IOException("no reply to " + method);
      }
      if (message.startsWith("{\"id\":" + id + ",")) {
        return message;
      }
    }
  }

  private static String text(String reply, String field) throws IOException {
    Matcher matcher = Pattern.compile("\"" + field + "\":\"([^\"]+)\"").matcher(reply);
    if (!matcher.find()) {
      throw new IOException("no " + field + " in " + reply);
    }
    return matcher.group(1);
  }

  /** The value of an expression: a number, or true or false. */
  String evaluate(String expression) throws Exception {
    String reply =
        call(
            "Runtime.evaluate",
            "{\"returnByValue\":true,\"expression\":" + Json.quoted(expression) + "}",
            session);
    Matcher matcher = VALUE.matcher(reply);
    if (!matcher.find()) {
      throw new IOException("no value in " + reply);
    }
    return matcher.group(1);
  }

  /** Waits until the text is on the page. */
  void awaitText(String text) throws Exception {
    long start = System.nanoTime();
    while (!evaluate(
            "document.body !== null && document.body.innerText.includes(" + Json.quoted(text) + ")")
        .equals("true")) {
      if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(DEADLINE_SECONDS)) {
        throw new AssertionError("the page never showed: " + text);
      }
      Thread.sleep(20);
    }
  }

  private void end() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  @Override
  public void close() throws InterruptedException {
    socket.abort();
    end();
    process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  /** Puts whole messages together. */
  private static final class Messages implements WebSocket.Listener {
    private final BlockingQueue<String> messages;
    private final StringBuilder begun = new StringBuilder();

    Messages(BlockingQueue<String> messages) {
      this.messages = messages;
    }

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence part, boolean last) {
      begun.append(part);
      if (last) {
        messages.add(begun.toString());
        begun.setLength(0);
      }
      socket.request(1);
      return null;
    }
  }
}
