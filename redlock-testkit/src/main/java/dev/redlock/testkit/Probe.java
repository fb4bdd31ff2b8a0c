package dev.redlock.testkit;

import java.io.IOException;
import java.time.Duration;

/** Asks a server that may not be there, or not yet be ready, and never throws. */
final class Probe {

  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private Probe() {}

  /** The server section of INFO once the server answers PING, else an empty string. */
  static String serverInfo(NodeAddress address) {
    return serverInfo(address, PATIENCE);
  }

  static String serverInfo(NodeAddress address, Duration patience) {
    try (RespConnection connection = RespConnection.open(address, patience)) {
      boolean ready = "PONG".equals(connection.call("PING"));
      return ready && connection.call("INFO", "server") instanceof String info ? info : "";
    } catch (IOException | RedisReplyException e) {
      return "";
    }
  }

  /** The value of one line of an INFO answer, or the given one if there is no such line. */
  static String field(String info, String name, String otherwise) {
    return info.lines()
        .filter(line -> line.startsWith(name + ":"))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst()
        .orElse(otherwise);
  }
}
