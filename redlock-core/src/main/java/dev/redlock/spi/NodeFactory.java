package dev.redlock.spi;

import java.util.List;

/**
 * Makes nodes from URIs. An adapter provides one as a service of {@link java.util.ServiceLoader},
 * so that {@code RedlockBuilder.nodes(String...)} works with core and that adapter alone. The
 * module {@code redlock-lettuce} has the one for {@code redis://} and {@code rediss://}.
 */
public interface NodeFactory {
  /**
   * Makes one node per URI, in the order of the URIs. Connects to none of them.
   *
   * @param uris at least one
   * @throws IllegalArgumentException if a URI is invalid, or two URIs name the same server; the
   *     message contains no password
   */
  List<LockNode> nodes(List<String> uris);
}
