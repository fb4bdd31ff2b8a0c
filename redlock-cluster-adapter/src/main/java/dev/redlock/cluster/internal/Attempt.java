package dev.redlock.cluster.internal;

import static java.util.Objects.requireNonNull;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyCode;
import dev.redlock.spi.ReplyHandler;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request on its way through the cluster: to the master of its slot, and where that one sends
 * it. What a master redirects it has not executed, so the request is still at most once executed;
 * what is not answered is never sent again. Ends with one answer, when there is one or the patience
 * is over.
 *
 * <p>While masters are being changed, a release can be executed before the acquire that it undoes.
 * The fence that it raised refuses the acquire then.
 */
final class Attempt implements ReplyHandler {
  private static final Logger log = LoggerFactory.getLogger(Attempt.class);
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long MOST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(16);

  /** After so many redirections in a row two masters are pointing at each other. */
  private static final int REDIRECTIONS_AT_ONCE = 4;

  private final Masters masters;
  private final Answers answers;
  private final Duration patience;
  private final LockRequest request;
  private final ClusterWire wire;
  private final ReplyHandler handler;
  private final long deadlineNanos;

  // One step at a time, handed over by the connection or the timer.
  private @Nullable MasterLink asked;
  private int redirections;
  private boolean waited;
  private long pauseNanos = FIRST_PAUSE_NANOS;

  Attempt(
      Masters masters,
      Answers answers,
      Duration patience,
      LockRequest request,
      ClusterWire wire,
      ReplyHandler handler) {
    this.masters = masters;
    this.answers = answers;
    this.patience = patience;
    this.request = request;
    this.wire = wire;
    this.handler = handler;
    deadlineNanos = masters.time().nanos() + patience.toNanos();
  }

  /** Asks the master of the slot, as far as is known. */
  void begin() {
    MasterLink link = masters.linkOf(wire.slot());
    if (link == null) {
      masters.topologyDoubtful();
      if (masters.status().usable()) {
        again("slot " + wire.slot() + " is served by no master that is known");
      } else {
        end(answers.notSent());
      }
    } else {
      ask(link, false);
    }
  }

  private void ask(MasterLink link, boolean asking) {
    NodeStatus status = link.status();
    if (!status.usable()) {
      masters.topologyDoubtful();
      if (redirections == 0 && !waited) {
        end(answers.notSent(link));
      } else { // Sent here by another, and just about to connect.
        again("master " + link + ": " + status.cause());
      }
      return;
    }
    if (request instanceof LockRequest.Acquire) {
      String bar = answers.mayNotGrant(link);
      if (bar != null) {
        fail(bar);
        return;
      }
    }
    asked = link;
    link.send(wire.request(), asking, this);
  }

  @Override
  public void onReply(NodeReply reply) {
    MasterLink link = asked;
    if (link == null) {
      return;
    }
    NodeError error = reply.error();
    if (error == null) {
      answered(link, reply);
      return;
    }
    if (error.kind() != NodeError.Kind.CLUSTER) {
      end(answers.none(link, error));
      return;
    }
    Redirection redirection = Redirection.of(error.message(), link.address());
    switch (redirection.kind()) {
      case MOVED -> {
        masters.moved(wire.slot(), requireNonNull(redirection.to()));
        redirect(requireNonNull(redirection.to()), false, error.message());
      }
      case ASK -> redirect(requireNonNull(redirection.to()), true, error.message());
      case LATER -> {
        masters.topologyDoubtful();
        again(error.message());
      }
      case NEVER -> {
        masters.topologyDoubtful();
        fail(error.message());
      }
    }
  }

  private void redirect(Address to, boolean asking, String answer) {
    if (++redirections == REDIRECTIONS_AT_ONCE) {
      again(answer);
      return;
    }
    ask(masters.linkTo(to), asking);
  }

  /** Begins anew after a pause, or answers if the patience is over. */
  private void again(String why) {
    waited = true;
    redirections = 0;
    long now = masters.time().nanos();
    if (now + pauseNanos - deadlineNanos >= 0) {
      fail(why + "; tried again for " + patience.toMillis() + " ms");
      return;
    }
    masters.time().schedule(this::begin, pauseNanos);
    pauseNanos = Math.min(MOST_PAUSE_NANOS, 2 * pauseNanos);
  }

  private void fail(String why) {
    end(answers.failure(NodeError.Kind.CLUSTER, why));
  }

  /** A definite answer: the end, once the replicas that are asked for have it. */
  private void answered(MasterLink link, NodeReply reply) {
    ReplicaConfirmation confirmation = masters.confirmation();
    if (confirmation != null && stores(reply.code())) {
      confirmation.confirm(
          link.address(),
          request.keys(),
          complaint ->
              end(
                  complaint == null
                      ? answers.definite(request, link, reply)
                      : answers.failure(NodeError.Kind.REPLICAS, complaint)));
      return;
    }
    Interests interests = masters.interests();
    boolean refused = reply.code() == ReplyCode.HELD && request instanceof LockRequest.Acquire;
    boolean waited = refused && interests.isWaitedFor(request.keys());
    end(answers.definite(request, link, reply));
    if (refused) {
      interests.refused(request.keys(), wire.slot(), reply.nodeMicros(), waited);
    }
  }

  private static boolean stores(ReplyCode code) {
    return code == ReplyCode.GRANTED || code == ReplyCode.EXTENDED || code == ReplyCode.REPAIRED;
  }

  private void end(NodeReply reply) {
    deliver(reply, handler);
  }

  static void deliver(NodeReply reply, ReplyHandler handler) {
    try {
      handler.onReply(reply);
    } catch (RuntimeException | Error e) {
      log.error("a reply handler failed", e);
    }
  }
}
