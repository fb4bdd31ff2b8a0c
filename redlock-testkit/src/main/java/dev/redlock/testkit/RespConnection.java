package dev.redlock.testkit;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A plain, blocking RESP2 connection for administration: one socket, no threads. Replies are {@code
 * String}, {@code Long}, {@code List} of these, or null. Confined to the thread that opened it.
 */
final class RespConnection implements AutoCloseable {

  private final Socket socket;
  private final InputStream in;
  private final OutputStream out;

  private RespConnection(Socket socket) throws IOException {
    this.socket = socket;
    this.in = new BufferedInputStream(socket.getInputStream(), 16 * 1024);
    this.out = new BufferedOutputStream(socket.getOutputStream(), 16 * 1024);
  }

  /** Connects and, if the address has credentials or a database, logs in and selects it. */
  static RespConnection open(NodeAddress address, Duration timeout) throws IOException {
    int millis = Math.toIntExact(timeout.toMillis());
    Socket socket = new Socket();
    try {
      socket.setTcpNoDelay(true);
      socket.setSoLinger(true, 0); // avoids TIME_WAIT: tests open thousands of connections
      socket.setSoTimeout(millis);
      socket.connect(new InetSocketAddress(address.host(), address.port()), millis);
      RespConnection connection = new RespConnection(socket);
      for (String[] command : address.greeting()) {
        connection.call(command);
      }
      return connection;
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  /** Sends one command and reads its reply; an error reply is a {@link RedisReplyException}. */
  @Nullable Object call(String... command) throws IOException {
    send(command);
    return read();
  }

  /**
   * Sends a command without waiting for its reply. The caller must call {@link #read} once for each
   * command.
   */
  void send(String... command) throws IOException {
    write("*" + command.length + "\r\n");
    for (String word : command) {
      byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
      write("$" + bytes.length + "\r\n");
      out.write(bytes);
      write("\r\n");
    }
  }

  /** Flushes the commands that were sent. */
  void flush() throws IOException {
    out.flush();
  }

  /** Reads the next reply. */
  @Nullable Object read() throws IOException {
    flush();
    Object reply = readAny();
    if (reply instanceof RedisReplyException error) {
      throw error;
    }
    return reply;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }

  private void write(String ascii) throws IOException {
    out.write(ascii.getBytes(StandardCharsets.US_ASCII));
  }

  /** Reads one value. An error can be an element of an array, so errors are returned as values. */
  private @Nullable Object readAny() throws IOException {
    String line = readLine();
    String rest = line.substring(1);
    return switch (line.charAt(0)) {
      case '+' -> rest;
      case '-' -> new RedisReplyException(rest);
      case ':' -> Long.valueOf(rest);
      case '$' -> readBulk(Integer.parseInt(rest));
      case '*' -> readArray(Integer.parseInt(rest));
      default -> throw new IOException("Not a RESP2 reply: " + line);
    };
  }

  private @Nullable String readBulk(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    byte[] bytes = in.readNBytes(length + 2);
    if (bytes.length < length + 2) {
      throw new EOFException("The node closed the connection within a reply");
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  private @Nullable List<@Nullable Object> readArray(int length) throws IOException {
    if (length < 0) {
      return null;
    }
    List<@Nullable Object> elements = new ArrayList<>(length);
    for (int i = 0; i < length; i++) {
      elements.add(readAny());
    }
    return elements;
  }

  private String readLine() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\r'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("The node closed the connection");
      }
      line.append((char) c);
    }
    if (in.read() != '\n' || line.isEmpty()) {
      throw new IOException("Not a RESP2 reply: " + line);
    }
    return line.toString();
  }
}
