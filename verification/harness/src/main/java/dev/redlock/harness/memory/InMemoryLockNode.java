package dev.redlock.harness.memory;

import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockReader;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A lock node without Redis: the executable specification of the scripts, in this process, with
 * methods that inject faults. Replies arrive on the timer's thread.
 *
 * <p>One object is the node of one client; {@link #another()} returns the same server for another
 * client. A fault of the server affects all its clients. Safe from any thread.
 *
 * <pre>{@code
 * InMemoryLockNode[] nodes = {create("a"), create("b"), create("c")};
 * Redlock redlock = Redlock.builder().nodes(nodes).restartGuard(RestartGuard.OFF).build();
 * nodes[2].kill();
 * }</pre>
 */
public final class InMemoryLockNode extends MemoryConnection {
  private InMemoryLockNode(MemoryServer server) {
    super(server);
  }

  /** Creates a server that runs, is empty, and has an uptime of one hour. */
  public static InMemoryLockNode create(String name) {
    return new InMemoryLockNode(new MemoryServer(name));
  }

  /** Returns the same server for another client. */
  public InMemoryLockNode another() {
    return new InMemoryLockNode(server);
  }

  /**
   * Makes this server and these known to each other by name: clients then follow a change of the
   * node set to them. At first a server knows itself only.
   */
  public void reach(InMemoryLockNode... others) {
    List<MemoryServer> all =
        Stream.concat(Stream.of(this), Stream.of(others)).map(node -> node.server).toList();
    all.forEach(one -> all.forEach(one::reach));
  }

  /** A node for a server that {@link #reach} has made known here; empty for any other name. */
  @Override
  public Optional<LockNode> sibling(String name) {
    MemoryServer found = server.reachable(name);
    return found == null ? Optional.empty() : Optional.of(new InMemoryLockNode(found));
  }

  @Override
  public LockReader reader() {
    return new MemoryReader(server);
  }

  // Faults of the server.

  /** Kills the server. Connections break. */
  public void kill() {
    server.kill();
  }

  /**
   * Kills the server if it runs, and starts it again with its keys and a new run id. Clients
   * reconnect by themselves.
   */
  public void restart() {
    server.restart(true);
  }

  /** Kills the server if it runs, and starts it again without any key. */
  public void restartEmpty() {
    server.restart(false);
  }

  /** Hangs the server: from now on it does not reply. Connections stay open. */
  public void hang() {
    server.hang(true);
  }

  /** Resumes the server: it executes the requests that arrived meanwhile. */
  public void resume() {
    server.hang(false);
  }

  /** Sets the delay before each request is executed from now on. Initially zero. */
  public void delay(Duration delay) {
    server.delay(delay);
  }

  /**
   * Sets how long the server works on each request from now on. The server executes the requests of
   * all clients one after another. Added to {@link #delay}; initially zero.
   */
  public void work(Duration work) {
    server.work(work);
  }

  /** Removes all keys, and sends an invalidation to all connected clients. */
  public void flush() {
    server.flush();
  }

  /** Deletes the lock key of the name, with the prefix {@code redlock}. Its fence stays. */
  public void delete(String name) {
    server.delete(name);
  }

  /**
   * Sets the server's clock forward, or back if the step is negative. Keys expire by this clock.
   */
  public void stepClock(Duration step) {
    server.stepClock(step);
  }

  /**
   * Returns the lease id under the lock key of the name, with the prefix {@code redlock}; null if
   * the lock is free.
   */
  public @Nullable String holder(String name) {
    return server.holder(name);
  }

  /**
   * Returns the highest token granted for the name, with the prefix {@code redlock}; 0 if none is
   * known.
   */
  public long fence(String name) {
    return server.fence(name);
  }

  @Override
  public String toString() {
    return name();
  }
}
