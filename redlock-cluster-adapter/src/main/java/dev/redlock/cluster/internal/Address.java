package dev.redlock.cluster.internal;

import org.jspecify.annotations.Nullable;

/** Where a server listens, as the cluster tells its clients. */
record Address(String host, int port) {

  /**
   * Reads what follows the slot in {@code MOVED 3999 host:port}.
   *
   * @param from who said so: an empty host is that of the one who answers
   */
  static @Nullable Address parse(String text, Address from) {
    int colon = text.lastIndexOf(':');
    if (colon < 0) {
      return null;
    }
    try {
      String host = text.substring(0, colon);
      return new Address(
          host.isEmpty() || host.equals("?") ? from.host() : host,
          Integer.parseInt(text.substring(colon + 1)));
    } catch (NumberFormatException e) {
      return null;
    }
  }

  @Override
  public String toString() {
    return host + ":" + port;
  }
}
