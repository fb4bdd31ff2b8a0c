package dev.redlock.cluster.internal;

import org.jspecify.annotations.Nullable;

/** Host and port of a server, as the cluster reports them to its clients. */
record Address(String host, int port) {
  private static final int LAST_PORT = 65_535;

  /**
   * Parses the address in {@code MOVED 3999 host:port}. Returns null if it is not a valid address.
   *
   * @param from the server that sent the redirection; an empty host in the text means this server's
   *     host
   */
  static @Nullable Address parse(String text, Address from) {
    int colon = text.lastIndexOf(':');
    if (colon < 0) {
      return null;
    }
    try {
      String host = text.substring(0, colon);
      int port = Integer.parseInt(text.substring(colon + 1));
      if (port < 1 || port > LAST_PORT) {
        return null;
      }
      return new Address(isUnknown(host) ? from.host() : host, port);
    } catch (NumberFormatException e) {
      return null;
    }
  }

  /** Whether a cluster reports this in place of a host that it does not know. */
  static boolean isUnknown(String host) {
    return host.isEmpty() || host.equals("?");
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }
}
