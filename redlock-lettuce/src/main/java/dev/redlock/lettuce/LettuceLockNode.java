package dev.redlock.lettuce;

import dev.redlock.lettuce.internal.NodeConnection;
import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockReader;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeRecord;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * One Redis or Valkey master behind one connection. The client probes each new connection before
 * use and connects again after a loss. Safe from any thread.
 */
public final class LettuceLockNode implements LockNode {
  private final NodeUri uri;
  private final LettuceOptions options;
  private final SharedResources resources;
  private final NodeConnection connection;

  LettuceLockNode(NodeUri uri, LettuceOptions options, SharedResources resources) {
    this.uri = uri;
    this.options = options;
    this.resources = resources;
    connection = new NodeConnection(this, uri, options, resources);
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

  @Override
  public String name() {
    return connection.name();
  }

  @Override
  public void start(LockNode.Context context) {
    connection.start(context);
  }

  @Override
  public NodeStatus status() {
    return connection.status();
  }

  @Override
  public void send(LockRequest request, Consumer<NodeReply> handler) {
    connection.send(request, handler);
  }

  @Override
  public LockReader reader() {
    return connection.reader();
  }

  @Override
  public boolean notifiesWaiters() {
    return connection.tracks();
  }

  @Override
  public Optional<NodeIdentity> identity() {
    return Optional.ofNullable(connection.identity());
  }

  @Override
  public CompletionStage<Optional<NodeIdentity>> probe() {
    return connection.probe().thenApply(done -> identity());
  }

  @Override
  public CompletionStage<NodeRecord> change(NodeRecord.Change change) {
    return connection.change(change);
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

  @Override
  public void close() {
    connection.close();
  }

  @Override
  public boolean isEnded() {
    return connection.isEnded();
  }

  @Override
  public String toString() {
    return name();
  }
}
