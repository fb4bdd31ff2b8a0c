package dev.redlock.testkit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Independent Redis masters for a test, on ports of 127.0.0.1.
 *
 * <pre>{@code
 * try (RedisNodes nodes = RedisNodes.builder().count(5).gated(true).start()) {
 *   connect(nodes.uris());
 *   nodes.get(0).kill();
 *   nodes.get(1).gate().dropReplies();
 * }
 * }</pre>
 *
 * <p>They end with {@link #close()}, and in any case when this JVM ends, also if it is killed. They
 * are for tests: persistence and password are off unless configured.
 */
public final class RedisNodes implements Iterable<RedisNode>, AutoCloseable {

  private static final Executor STARTERS =
      task -> {
        Thread thread = new Thread(task, "redlock-testkit-start");
        thread.setDaemon(true);
        thread.start();
      };

  private final List<RedisNode> nodes;
  private final String source;

  private RedisNodes(List<RedisNode> nodes, String source) {
    this.nodes = nodes;
    this.source = source;
  }

  /**
   * Starts this number of empty nodes, without gates, from the {@link RedisSource#configured()
   * configured} source. When this returns, all nodes reply to commands.
   *
   * @throws RedisStartException if they cannot be started; the message lists what was tried
   */
  public static RedisNodes start(int count) {
    return builder().count(count).start();
  }

  /** Returns a builder. Defaults: five nodes, without gates and without persistence. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns the node with this index, from 0. */
  public RedisNode get(int index) {
    return nodes.get(index);
  }

  /** The number of nodes, including dead ones. */
  public int size() {
    return nodes.size();
  }

  @Override
  public Iterator<RedisNode> iterator() {
    return nodes.iterator();
  }

  /** The nodes in order. */
  public Stream<RedisNode> stream() {
    return nodes.stream();
  }

  /** The URIs for clients, in order; of the gates if there are any. */
  public List<String> uris() {
    return nodes.stream().map(RedisNode::uri).toList();
  }

  /** The server program and where it was found. */
  public String source() {
    return source;
  }

  /** Ends all faults: opens gates, resumes paused nodes and restarts dead ones, empty. */
  public void endFaults() {
    nodes.forEach(RedisNode::endFaults);
  }

  /** Removes all data on all nodes, which must be running. */
  public void flush() {
    nodes.forEach(RedisNode::flush);
  }

  /** Returns one line per node, for failure messages; see {@link RedisNode#describe()}. */
  public String describe() {
    return nodes.stream().map(RedisNode::describe).collect(Collectors.joining("\n"));
  }

  @Override
  public String toString() {
    return nodes.toString();
  }

  /** Stops all nodes and removes their files. A second call does nothing. */
  @Override
  public void close() {
    closeAll(nodes);
  }

  private static void closeAll(List<RedisNode> nodes) {
    List<CompletableFuture<Void>> closing =
        nodes.stream().map(node -> CompletableFuture.runAsync(node::close, STARTERS)).toList();
    CompletableFuture.allOf(closing.toArray(CompletableFuture[]::new)).join();
  }

  /** Configures nodes. Not safe for use by several threads. May start several groups of nodes. */
  public static final class Builder {

    private int count = 5;
    private boolean gated;
    private boolean appendOnly;
    private String user = "";
    private String password = "";
    private List<String> serverArgs = List.of();
    private IntFunction<List<String>> nodeArgs = index -> List.of();
    private List<Integer> ports = List.of();
    private @Nullable RedisSource source;
    private @Nullable Path binary;

    private Builder() {}

    /** Sets the number of nodes, at least one. */
    public Builder count(int count) {
      if (count < 1) {
        throw new IllegalArgumentException("Needs at least one node, got " + count);
      }
      this.count = count;
      return this;
    }

    /** Sets whether clients reach each node through a {@link TcpGate}. */
    public Builder gated(boolean gated) {
      this.gated = gated;
      return this;
    }

    /**
     * Sets whether the nodes keep an append-only file, for {@link RedisNode#restartKeepingData()}.
     */
    public Builder appendOnly(boolean appendOnly) {
      this.appendOnly = appendOnly;
      return this;
    }

    /** Sets the password for clients. The URIs contain it, percent-encoded. */
    public Builder password(String password) {
      this.user = "";
      this.password = password;
      return this;
    }

    /**
     * Sets the user and the password for clients. The user has every permission, and the default
     * user is disabled. The URIs contain both, percent-encoded. Needs Redis 6.2, for the permission
     * of channels; locks need 6.0.
     */
    public Builder login(String user, String password) {
      if (user.isEmpty() || password.isEmpty()) {
        throw new IllegalArgumentException("A login needs a user and a password");
      }
      if (user.indexOf(':') >= 0) {
        throw new IllegalArgumentException(
            "The user "
                + user
                + " contains a colon, at which Lettuce cuts it even if it is encoded");
      }
      this.user = user;
      this.password = password;
      return this;
    }

    /** Adds command line options for each server, such as {@code "--maxmemory", "2mb"}. */
    public Builder serverArgs(String... args) {
      this.serverArgs = List.of(args);
      return this;
    }

    /**
     * Adds command line options for single servers, such as a TLS port. The function receives the
     * index of a node; several threads call it.
     */
    public Builder nodeArgs(IntFunction<List<String>> nodeArgs) {
      this.nodeArgs = nodeArgs;
      return this;
    }

    /** Sets the ports for clients, one per node. Default: free ports. */
    public Builder ports(int... ports) {
      this.ports = Arrays.stream(ports).boxed().toList();
      return this;
    }

    /** Sets the source of the servers; overrides {@code -Dredlock.redis}. */
    public Builder source(RedisSource source) {
      this.source = source;
      return this;
    }

    /** Sets the server program; the source is then {@link RedisSource#PATH}. */
    public Builder binary(Path binary) {
      this.binary = binary;
      this.source = RedisSource.PATH;
      return this;
    }

    /**
     * Starts all nodes in parallel. When this returns, all nodes reply to commands. If one node
     * cannot be started, the others are stopped.
     *
     * @throws RedisStartException if a node cannot be started; the message lists what was tried, in
     *     order
     */
    public RedisNodes start() {
      if (!ports.isEmpty() && ports.size() != count) {
        throw new IllegalArgumentException(ports.size() + " ports for " + count + " nodes");
      }
      RedisSource chosen = source == null ? RedisSource.configured() : source;
      ServerFactory servers = chosen.find(binary == null ? RedisSource.configuredBinary() : binary);
      if (servers.capacity() < count) {
        throw new RedisStartException(
            count + " nodes configured, but only " + servers.capacity() + " URIs given");
      }
      NodeStarter starter =
          new NodeStarter(
              servers,
              gated,
              (index, port) -> new ServerSpec(port, appendOnly, user, password, args(index)));
      List<CompletableFuture<RedisNode>> starting =
          IntStream.range(0, count)
              .mapToObj(
                  i -> CompletableFuture.supplyAsync(() -> starter.start(i, port(i)), STARTERS))
              .toList();
      return new RedisNodes(allOrNone(starting), servers.description());
    }

    private List<String> args(int index) {
      return Stream.concat(serverArgs.stream(), nodeArgs.apply(index).stream()).toList();
    }

    private int port(int index) {
      return ports.isEmpty() ? 0 : ports.get(index);
    }

    private static List<RedisNode> allOrNone(List<CompletableFuture<RedisNode>> starting) {
      List<RedisNode> started = new ArrayList<>();
      @Nullable Throwable failure = null;
      for (CompletableFuture<RedisNode> node : starting) {
        try {
          started.add(node.join());
        } catch (CompletionException e) {
          failure = failure == null ? e.getCause() : failure;
        }
      }
      if (failure == null) {
        return List.copyOf(started);
      }
      closeAll(started);
      if (failure instanceof RuntimeException unchecked) {
        unchecked.addSuppressed(new IllegalStateException("Started from here"));
        throw unchecked;
      }
      throw new RedisStartException("A node could not be started", failure);
    }
  }
}
