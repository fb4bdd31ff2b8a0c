package dev.redlock.lettuce;

import dev.redlock.lettuce.internal.NodeConnection;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.spi.LockNode;
import java.util.Optional;

/**
 * One Redis or Valkey master behind one connection. The client probes each new connection before
 * use and connects again after a loss. Safe from any thread.
 */
@SuppressWarnings("exports") // Of the class that it extends, a user sees the methods of LockNode.
public final class LettuceLockNode extends NodeConnection {

  LettuceLockNode(NodeUri uri, LettuceOptions options, SharedResources resources) {
    super(uri, options, resources, false);
  }

  /**
   * A node at this URI, with default options; several nodes made by {@link LettuceNodes} share
   * their threads.
   *
   * @throws IllegalArgumentException if the URI is invalid
   */
  public static LettuceLockNode create(String uri) {
    return create(uri, LettuceOptions.defaults());
  }

  /**
   * A node at this URI.
   *
   * @throws IllegalArgumentException if the URI is invalid; the message contains no password
   */
  public static LettuceLockNode create(String uri, LettuceOptions options) {
    return new LettuceLockNode(
        NodeUri.parse(uri), options, new SharedResources(options.clientResources()));
  }

  /**
   * Makes a node for another server, with the user, the password, TLS, the options and the threads
   * of this one.
   *
   * @param name as {@link #name()} returns it: {@code host:port}, or {@code host:port/db} for a
   *     database other than 0; or a URI of which only address and database count
   * @throws IllegalArgumentException if the name is no address
   */
  @Override
  public Optional<LockNode> sibling(String name) {
    return Optional.of(new LettuceLockNode(uri.sibling(name), options, resources));
  }
}
