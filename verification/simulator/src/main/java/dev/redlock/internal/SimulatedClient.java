package dev.redlock.internal;

import dev.redlock.Lease;
import dev.redlock.Redlock;
import dev.redlock.internal.protocol.Exchange;
import dev.redlock.internal.protocol.ExtendQueue;
import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.internal.protocol.LockMachine;
import dev.redlock.internal.protocol.Randomness;
import dev.redlock.internal.protocol.RoundLimiter;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.Time;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A client as it ships, in a simulated world: opens what the package hides to the simulator. The
 * simulator sees each event of each queue, and decides on threads, waiting and random numbers.
 */
public final class SimulatedClient {
  private SimulatedClient() {}

  /** What nodes store under the keys of the lease; a user does not see it. */
  public static String id(Lease lease) {
    return ((DefaultLease) lease).core().lease.id();
  }

  /** The world around one client. */
  public interface Surroundings {
    Randomness randomness();

    /** Code in the client threw an exception, and the client continued. */
    void failed(String kind, Throwable failure);

    ThreadPoolExecutor pool();

    Thread thread(Runnable task);

    /** Parks the current thread until done, until it is interrupted, or for this time. */
    void park(BooleanSupplier done, long nanos);

    void later(Runnable task, long nanos);

    /** Another number than all before. */
    int number();

    /** A queue was made; returns what observes it. */
    Observer queue(LockMachine machine);
  }

  /** Observes one queue. Its exceptions are not handled here. */
  public interface Observer {
    /** The machine has handled an event; its effects are not carried out yet. */
    void handled();

    void carriedOut();

    /** The machine will handle this reply next. */
    void arrives(Exchange exchange, int node, LockRequest request, NodeReply reply);

    void retired();
  }

  /** Builds the client that the parts describe. */
  public static Redlock start(Assembly.Parts parts, Surroundings world) {
    return Assembly.start(parts, new SimulatedPlatform(world));
  }

  /** Lease ids by the rule that ships. */
  public static Randomness ids(String suffix, SecureRandom secure, LongSupplier clock) {
    return new SecureRandomness(suffix, secure, clock);
  }

  /** The exchange of a request that a node was given; null if an operator asks. */
  public static @Nullable Exchange exchange(Consumer<NodeReply> handler) {
    return handler instanceof LockActor.Reply reply ? reply.exchange : null;
  }

  /** The observer of the queue that sent a request; null if an operator asks. */
  public static @Nullable Observer observer(Consumer<NodeReply> handler) {
    return handler instanceof LockActor.Reply r ? ((ObservedQueue) r.actor).observer : null;
  }

  /** The name of the client in the queues of the nodes. */
  public static String processName(Redlock client) {
    return ((Client) client).context().processName;
  }

  public static HeldLease held(Lease lease) {
    return ((DefaultLease) lease).core().lease;
  }

  public static RoundLimiter limiter(Redlock client) {
    return ((Client) client).context().nodes.limiter();
  }

  public static ExtendQueue extensions(Redlock client) {
    return ((Client) client).context().nodes.extensions();
  }

  /** The node to which the client has given this number. */
  public static LockNode node(Redlock client, int number) {
    return ((Client) client).context().nodes.node(number);
  }

  /** The number of queues that are in use. */
  public static int queues(Redlock client) {
    return ((Client) client).context().locks.size();
  }

  /** The number of releases that nodes have not confirmed. */
  public static int pendingReleases(Redlock client) {
    int sum = 0;
    ClientContext context = ((Client) client).context();
    for (int i = 0; i < context.nodes.count(); i++) {
      sum += context.nodes.releasesPending(i);
    }
    return sum;
  }

  private static final class SimulatedPlatform extends Platform {
    private final Surroundings world;

    SimulatedPlatform(Surroundings world) {
      this.world = world;
    }

    @Override
    Randomness randomness(String suffix, Time clock) {
      return world.randomness();
    }

    @Override
    FailureLog failures(Logger log) {
      return new FailureLog(log) {
        @Override
        void report(String kind, Object detail, Throwable failure) {
          world.failed(kind, failure);
        }
      };
    }

    @Override
    ThreadPoolExecutor queueThreads() {
      return world.pool();
    }

    @Override
    ThreadPoolExecutor callbackThreads() {
      return world.pool();
    }

    @Override
    Thread closingThread(Runnable task) {
      return world.thread(task);
    }

    @Override
    LockActor actor(ClientContext context, LockKeys keys) {
      return new ObservedQueue(context, keys, world);
    }

    @Override
    void park(CompletableFuture<?> until) {
      world.park(until::isDone, Long.MAX_VALUE);
    }

    @Override
    void park(CompletableFuture<?> until, long nanos) {
      world.park(until::isDone, nanos);
    }

    @Override
    Time.Cancellable runLater(Runnable task, long nanos) {
      world.later(task, nanos);
      return () -> {};
    }
  }

  private static final class ObservedQueue extends LockActor {
    final Observer observer;
    private final int number;

    ObservedQueue(ClientContext context, LockKeys keys, Surroundings world) {
      super(context, keys);
      observer = world.queue(machine);
      number = world.number();
    }

    /** Sets of queues are read in this order; that of identity differs in each run. */
    @Override
    public int hashCode() {
      return number;
    }

    @Override
    public boolean equals(Object other) {
      return this == other;
    }

    @Override
    void carryOut() {
      observer.handled();
      super.carryOut();
      observer.carriedOut();
    }

    @Override
    void observe(Reply to, NodeReply reply, long now) {
      observer.arrives(to.exchange, to.node, to.request, reply);
      super.observe(to, reply, now);
    }

    @Override
    void retire() {
      boolean before = isRetired();
      super.retire();
      if (!before) {
        observer.retired();
      }
    }
  }
}
