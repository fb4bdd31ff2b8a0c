package dev.redlock.cluster.internal;

import dev.redlock.redis.internal.GuardedListener;
import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Sends one request to the master of its slot: as one script, or in {@link KeySteps} while the slot
 * is being moved. The handler receives one reply: that of the cluster, or an error when {@link
 * #PATIENCE_NANOS} have passed.
 *
 * <p>During a change of masters, a release can be executed before the acquire that it undoes. The
 * release raises the fence, and the fence then rejects the acquire.
 */
final class RoutedRequest implements Route.Destination {
  /**
   * How long redirections are followed, and a request is repeated ({@code TRYAGAIN}, {@code
   * CLUSTERDOWN}). Less than the default node timeout of 250 ms: a reply after that does not count,
   * and the report would only show a timeout.
   */
  static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(80);

  final Masters masters;
  final ClusterReplies answers;
  final LockRequest request;
  final int slot;
  final long fenceLifeMillis;
  final long deadlineNanos;
  private final boolean hinting;
  private final EncodedRequest command;
  private final Consumer<NodeReply> handler;

  /** Set by the first reply. What follows it may throw, which would be a second one. */
  private final AtomicBoolean ended = new AtomicBoolean();

  /**
   * @param request with the keys of the node that sends it
   * @param fenceLifeMillis how long a fence key lives
   */
  RoutedRequest(
      Masters masters,
      ClusterReplies answers,
      LockRequest request,
      long fenceLifeMillis,
      Consumer<NodeReply> handler) {
    this.masters = masters;
    this.answers = answers;
    this.request = request;
    this.fenceLifeMillis = fenceLifeMillis;
    this.handler = handler;
    slot = Slots.of(request.keys(), 0);
    hinting = answers.carriesHints(slot);
    String hintCommand = hinting ? masters.watchedLocks().command() : "";
    command = EncodedRequest.of(request, fenceLifeMillis, hintCommand);
    deadlineNanos = masters.time().nanos() + PATIENCE_NANOS;
  }

  void begin() {
    if (hinting && request instanceof LockRequest.Release release) {
      for (int i = 0; i < request.keys().size(); i++) {
        masters.watchedLocks().releasing(request.keys().lockKey(i), release.token());
      }
    }
    // The queue only saves time. While the slot moves, its keys cannot be used safely: the script
    // would write keys that it does not declare, beside those that are still to be moved.
    Route.Moving moving =
        request instanceof LockRequest.Enqueue ? Route.Moving.WAIT : Route.Moving.TELL;
    new Route(this, command, request instanceof LockRequest.Acquire, moving, this).begin();
  }

  @Override
  public void moving() {
    new KeySteps(this).begin();
  }

  /** A master executed the script: a definite reply. */
  @Override
  public void reached(MasterLink link, NodeReply reply) {
    answered(answers.definite(request, link, reply));
  }

  /** A definite reply, also that of all steps together. */
  void answered(NodeReply reply) {
    WatchedLocks locks = masters.watchedLocks();
    boolean refused =
        (reply.code() == Code.HELD || reply.code() == Code.QUEUED)
            && !(request instanceof LockRequest.Inspect);
    boolean waited = refused && locks.isWaitedFor(request.keys());
    end(reply);
    if (refused && hinting) {
      locks.refused(request.keys(), slot, reply.nodeMicros(), waited);
    }
  }

  @Override
  public void failed(NodeReply failure) {
    end(failure);
  }

  private void end(NodeReply reply) {
    if (ended.compareAndSet(false, true)) {
      GuardedListener.reply(answers.name(), reply, handler);
    }
  }
}
