package dev.redlock.testkit;

import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeContext;
import dev.redlock.spi.NodeIdentity;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyHandler;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A lock node without Redis: the executable specification of the scripts, in this process, with
 * ways to fail. Answers come on the timer's thread.
 *
 * <p>One object is what one client has of the server; {@link #another()} is the same server for
 * another client. What is done to the server is felt by all of them. Safe from any thread.
 *
 * <pre>{@code
 * InMemoryLockNode[] nodes = {create("a"), create("b"), create("c")};
 * Redlock redlock = Redlock.builder().nodes(nodes).restartGuard(RestartGuard.off()).build();
 * nodes[2].kill();
 * }</pre>
 */
public final class InMemoryLockNode implements LockNode {
  private final MemoryServer server;
  private final MemoryConnection connection;

  private InMemoryLockNode(MemoryServer server) {
    this.server = server;
    connection = new MemoryConnection(this, server);
  }

  /** A new server that is up, empty, and has been up for an hour. */
  public static InMemoryLockNode create(String name) {
    return new InMemoryLockNode(new MemoryServer(name));
  }

  /** The same server for another client. */
  public InMemoryLockNode another() {
    return new InMemoryLockNode(server);
  }

  MemoryServer server() {
    return server;
  }

  @Override
  public String name() {
    return server.name();
  }

  @Override
  public void start(NodeContext context) {
    connection.start(context);
  }

  @Override
  public NodeStatus status() {
    return connection.status();
  }

  @Override
  public Optional<NodeIdentity> identity() {
    return connection.identity();
  }

  @Override
  public void send(LockRequest request, ReplyHandler handler) {
    connection.send(request, handler);
  }

  @Override
  public void close() {
    connection.close();
  }

  // What happens to the server.

  /** The server dies; connections break. */
  public void kill() {
    server.kill();
  }

  /**
   * Starts a dead server again, or kills it first: a new run, with the keys it had. Clients connect
   * to it by themselves.
   */
  public void restart() {
    server.restart(true);
  }

  /** The same without any key. */
  public void restartEmpty() {
    server.restart(false);
  }

  /** From now on nothing is answered; connections stay. */
  public void hang() {
    server.hang(true);
  }

  /** The server goes on with what came meanwhile. */
  public void resume() {
    server.hang(false);
  }

  /** How long each request takes to be executed from now on; zero at first. */
  public void delay(Duration delay) {
    server.delay(delay);
  }

  /**
   * How long the server works on each request from now on, one after another, whoever asks: what
   * comes faster than that waits for all before it. Comes on top of {@link #delay}; zero at first.
   */
  public void work(Duration work) {
    server.work(work);
  }

  /** All keys are gone, and all who are connected are told. */
  public void flush() {
    server.flush();
  }

  /** The lock key of the name, with the prefix {@code redlock}, is gone; its fence stays. */
  public void delete(String name) {
    server.delete(name);
  }

  /** The server's clock is set forward, or back if negative. Keys expire by it. */
  public void stepClock(Duration step) {
    server.stepClock(step);
  }

  /** The lease id under the lock key of the name, with the prefix {@code redlock}; null if free. */
  public @Nullable String holder(String name) {
    return server.holder(name);
  }

  /**
   * The highest token granted for the name, with the prefix {@code redlock}; 0 if none is known.
   */
  public long fence(String name) {
    return server.fence(name);
  }

  @Override
  public String toString() {
    return name();
  }
}
