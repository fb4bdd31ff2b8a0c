package dev.redlock.it;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A server on a socket. It sends the replies that a test sets. To other commands it replies like an
 * idle Redis that has been up for a long time.
 */
@SuppressWarnings("StringConcatToTextBlock") // Lines of the protocol end with CR LF.
final class FakeServer implements AutoCloseable {
  /** The replies that a test sets. */
  interface Answers {
    /**
     * The bytes to send.
     *
     * @return null to reply like a Redis, {@link #HANG_UP} to close the connection
     */
    @Nullable String to(List<String> command);
  }

  /** Closes the connection instead of a reply. */
  static final String HANG_UP = "(hang up)";

  private static final String HELLO =
      "%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:3\r\n"
          + "$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
          + "$7\r\nmodules\r\n*0\r\n";

  private final ServerSocket listening;
  private final String runId = Integer.toHexString(System.identityHashCode(this));
  private final AtomicInteger connections = new AtomicInteger();
  private volatile Answers answers = command -> null;

  /** The end of the reply of the marker script; a client writes the record. */
  private volatile String versionAndRecord = VERSION_AND_NO_RECORD;

  FakeServer() throws IOException {
    listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    daemon(this::accept);
  }

  String uri() {
    return "redis://127.0.0.1:" + listening.getLocalPort();
  }

  void answer(Answers next) {
    answers = next;
  }

  /** The replies that were set last. */
  Answers answers() {
    return answers;
  }

  /** How often a client has connected. */
  int connections() {
    return connections.get();
  }

  private static void daemon(Runnable task) {
    Thread thread = new Thread(task, "fake server");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        connections.incrementAndGet();
        daemon(() -> serve(client));
      } catch (IOException e) {
        return; // Closed.
      }
    }
  }

  private void serve(Socket client) {
    try (client) {
      client.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(client.getInputStream());
      OutputStream out = client.getOutputStream();
      for (List<String> command = read(in); command != null; command = read(in)) {
        String told = answers.to(command);
        String answer = told == null ? likeRedis(command) : told;
        if (answer.equals(HANG_UP)) {
          return;
        }
        out.write(answer.getBytes(ISO_8859_1));
        out.flush();
      }
    } catch (IOException e) {
      // The client has disconnected.
    }
  }

  private static @Nullable List<String> read(InputStream in) throws IOException {
    String head = line(in);
    if (head == null) {
      return null;
    }
    List<String> words = new ArrayList<>();
    for (int n = Integer.parseInt(head.substring(1)); n > 0; n--) {
      String length = line(in);
      if (length == null) {
        return null;
      }
      words.add(new String(in.readNBytes(Integer.parseInt(length.substring(1))), ISO_8859_1));
      line(in);
    }
    words.set(0, words.get(0).toUpperCase(Locale.ROOT));
    return words;
  }

  private static @Nullable String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int b = in.read(); b != '\n'; b = in.read()) {
      if (b < 0) {
        return null;
      }
      if (b != '\r') {
        line.append((char) b);
      }
    }
    return line.toString();
  }

  /** The end of the reply of the marker script: its wire version, and no record. */
  private static final String VERSION_AND_NO_RECORD =
      ":1\r\n"
          + bulk("")
          + bulk("0")
          + bulk("")
          + bulk("")
          + bulk("0").repeat(5)
          + bulk("")
          + bulk("0");

  /** Whether it is one of the scripts that read and change the node's marker. */
  static boolean isMarker(List<String> command) {
    return command.get(0).equals("EVAL") && command.get(3).endsWith("%node");
  }

  /** Whether it is this command; {@code marker} stands for {@link #isMarker}. */
  static boolean isFor(List<String> command, String asked) {
    return asked.equals("marker") ? isMarker(command) : command.get(0).equals(asked);
  }

  private static boolean isTrial(List<String> command) {
    return command.size() > 3 && command.get(3).contains("redlock.trial");
  }

  /** Whether it is the script that reads the marker, or writes one. */
  static boolean readsMarker(List<String> command) {
    return isMarker(command) && command.size() == 9;
  }

  private String onMarker(List<String> command, long now) {
    if (readsMarker(command)) {
      return marker(false, 1000, now, "id" + runId);
    }
    // It is a change of the record, or the doctor asks for other databases.
    return command.size() == 15 ? store(command) : "*0\r\n";
  }

  /** The reply of the marker script. */
  String marker(boolean anew, long since, long now, String id) {
    String written = anew ? "1" : "0";
    return "*19\r\n:"
        + written
        + "\r\n:3000\r\n:"
        + since
        + "\r\n:"
        + now
        + "\r\n:"
        + written
        + "\r\n:0\r\n"
        + bulk(id)
        + versionAndRecord;
  }

  /** It has lost its record, with all other keys. */
  void forgetRecord() {
    versionAndRecord = VERSION_AND_NO_RECORD;
  }

  private String store(List<String> command) {
    StringBuilder record = new StringBuilder();
    command.subList(5, 15).forEach(word -> record.append(bulk(word)));
    record.append(bulk("1")); // Since when.
    versionAndRecord = ":1\r\n" + record;
    return "*11\r\n" + record;
  }

  private String likeRedis(List<String> command) {
    long now = System.currentTimeMillis() * 1000;
    return switch (command.get(0)) {
      case "HELLO" -> HELLO;
      case "INFO" ->
          bulk(
              "run_id:"
                  + runId
                  + "\r\nredis_version:7.0.15\r\nuptime_in_seconds:100000\r\nrole:master\r\n"
                  + "maxmemory_policy:noeviction\r\n");
      case "SCRIPT" -> {
        int hashes = command.size() - 2; // SCRIPT EXISTS hash ...
        yield "*" + hashes + "\r\n" + ":1\r\n".repeat(hashes);
      }
      case "EVAL", "EVALSHA" ->
          isMarker(command)
              ? onMarker(command, now)
              : "*3\r\n:" + (isTrial(command) ? 6 : 9) + "\r\n:" + now + "\r\n:0\r\n";
      case "PING" -> "+PONG\r\n";
      default -> "+OK\r\n";
    };
  }

  private static String bulk(String text) {
    return "$" + text.length() + "\r\n" + text + "\r\n";
  }

  @Override
  public void close() {
    try {
      listening.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
