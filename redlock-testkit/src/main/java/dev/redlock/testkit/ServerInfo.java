package dev.redlock.testkit;

import java.io.IOException;
import java.time.Duration;

/** Queries a server that may not exist or not be ready yet. Never throws. */
final class ServerInfo {

  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private ServerInfo() {}

  /** The server section of INFO if the server replies to PING, otherwise an empty string. */
  static String read(NodeAddress address) {
    return read(address, PATIENCE);
  }

  static String read(NodeAddress address, Duration patience) {
    try (RespConnection connection = RespConnection.open(address, patience)) {
      boolean ready = "PONG".equals(connection.call("PING"));
      return ready && connection.call("INFO", "server") instanceof String info ? info : "";
    } catch (IOException | RedisReplyException e) {
      return "";
    }
  }

  /** The value of one line of an INFO reply, or the given value if there is no such line. */
  static String field(String info, String name, String otherwise) {
    return info.lines()
        .filter(line -> line.startsWith(name + ":"))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst()
        .orElse(otherwise);
  }
}
