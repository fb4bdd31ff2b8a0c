package dev.redlock.cluster.internal;

import dev.redlock.cluster.ClusterLockNode;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends one request to the master of its slot: as one script, or in {@link Steps} while the slot is
 * being moved. The handler receives one reply: that of the cluster, or an error when {@code
 * redirectPatience} has passed.
 *
 * <p>During a change of masters, a release can be executed before the acquire that it undoes. The
 * release raises the fence, and the fence then rejects the acquire.
 */
final class RoutedRequest implements Route.Destination {
  private static final Logger log = LoggerFactory.getLogger(ClusterLockNode.class);

  private final Masters masters;
  private final ClusterReplies answers;
  private final long patienceNanos;
  private final LockRequest request;
  private final ClusterWire wire;
  private final Consumer<NodeReply> handler;
  private final long deadlineNanos;

  /** Set by the first reply. A confirmation of the replicas may arrive after a failure. */
  private final AtomicBoolean ended = new AtomicBoolean();

  RoutedRequest(
      Masters masters,
      ClusterReplies answers,
      long patienceNanos,
      LockRequest request,
      ClusterWire wire,
      Consumer<NodeReply> handler) {
    this.masters = masters;
    this.answers = answers;
    this.patienceNanos = patienceNanos;
    this.request = request;
    this.wire = wire;
    this.handler = handler;
    deadlineNanos = masters.time().nanos() + patienceNanos;
  }

  void begin() {
    // The queue only saves time. While the slot moves, its keys cannot be used safely: the script
    // would write keys that it does not declare, beside those that are still to be moved.
    Route.Moving moving =
        request instanceof LockRequest.Enqueue ? Route.Moving.WAIT : Route.Moving.TELL;
    new Route(
            masters,
            answers,
            wire.request(),
            wire.slot(),
            request instanceof LockRequest.Acquire,
            moving,
            deadlineNanos,
            patienceNanos,
            this)
        .begin();
  }

  @Override
  public void moving() {
    new Steps(masters, answers, request, wire, deadlineNanos, patienceNanos, this).begin();
  }

  /** A master executed the script: a definite reply. */
  @Override
  public void reached(MasterLink link, boolean asked, NodeReply reply) {
    confirmed(
        List.of(ReplicaConfirmation.Write.ofFence(link, asked, request.keys(), 0)),
        reply.code(),
        () -> answered(answers.definite(request, link, reply)));
  }

  /**
   * All steps have ended: a definite reply.
   *
   * @param writes what the replicas must confirm of a lease
   */
  void reached(List<ReplicaConfirmation.Write> writes, NodeReply reply) {
    confirmed(writes, reply.code(), () -> answered(reply));
  }

  /** A reply that stores a lease counts after the required replicas have confirmed it. */
  private void confirmed(List<ReplicaConfirmation.Write> writes, Code code, Runnable thenAnswer) {
    ReplicaConfirmation confirmation = masters.confirmation();
    if (confirmation == null || !stores(code)) {
      thenAnswer.run();
      return;
    }
    confirmation.confirm(
        writes,
        complaint -> {
          if (complaint == null) {
            thenAnswer.run();
          } else {
            failed(answers.failure(NodeError.Kind.REPLICAS, complaint));
          }
        });
  }

  private void answered(NodeReply reply) {
    WatchedLocks locks = masters.watchedLocks();
    boolean refused =
        (reply.code() == Code.HELD || reply.code() == Code.QUEUED)
            && !(request instanceof LockRequest.Inspect);
    boolean waited = refused && locks.isWaitedFor(request.keys());
    end(reply);
    if (refused && answers.carriesHints(wire.slot())) {
      locks.refused(request.keys(), wire.slot(), reply.nodeMicros(), waited);
    }
  }

  @Override
  public void failed(NodeReply failure) {
    end(failure);
  }

  private static boolean stores(Code code) {
    return code == Code.GRANTED || code == Code.EXTENDED || code == Code.REPAIRED;
  }

  private void end(NodeReply reply) {
    if (ended.compareAndSet(false, true)) {
      deliver(reply, handler);
    }
  }

  static void deliver(NodeReply reply, Consumer<NodeReply> handler) {
    try {
      handler.accept(reply);
    } catch (RuntimeException | Error e) {
      log.error("a reply handler failed with an exception", e);
    }
  }
}
