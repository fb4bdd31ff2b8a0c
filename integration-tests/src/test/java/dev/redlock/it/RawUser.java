package dev.redlock.it;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/**
 * A raw connection, because a client library would handle SUBSCRIBE or MULTI itself. Only the first
 * line of a reply is kept: the tests need errors, and an error is one line.
 */
final class RawUser implements AutoCloseable {
  private static final int PATIENCE_MILLIS = 5_000;

  private final Socket socket;
  private final BufferedReader in;

  private RawUser(Socket socket) throws IOException {
    this.socket = socket;
    in =
        new BufferedReader(
            new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
  }

  static RawUser login(int port, String user, String password) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(PATIENCE_MILLIS);
    RawUser raw = new RawUser(socket);
    String answer = raw.ask("AUTH", user, password);
    if (!answer.equals("+OK")) {
      throw new IOException(answer);
    }
    return raw;
  }

  /** The first line of the reply. After a reply with more lines the connection is unusable. */
  String ask(String... words) throws IOException {
    StringBuilder request = new StringBuilder("*" + words.length + "\r\n");
    for (String word : words) {
      request.append('$').append(word.length()).append("\r\n").append(word).append("\r\n");
    }
    socket.getOutputStream().write(request.toString().getBytes(StandardCharsets.ISO_8859_1));
    String line = in.readLine();
    if (line == null) {
      throw new IOException("closed after " + String.join(" ", words));
    }
    return line;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
