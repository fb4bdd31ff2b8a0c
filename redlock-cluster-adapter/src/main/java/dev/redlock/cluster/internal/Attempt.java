package dev.redlock.cluster.internal;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import dev.redlock.spi.ReplyCode;
import dev.redlock.spi.ReplyHandler;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

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
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long MOST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(16);

  /** After so many redirections in a row two masters are pointing at each other. */
  private static final int REDIRECTIONS_AT_ONCE = 4;

  private final Cluster cluster;
  private final LockRequest request;
  private final ClusterWire wire;
  private final ReplyHandler handler;
  private final long deadlineNanos;

  // One step at a time, handed over by the connection or the timer.
  private @Nullable MasterLink asked;
  private int redirections;
  private long pauseNanos = FIRST_PAUSE_NANOS;
  private String lastAnswer = "";

  Attempt(Cluster cluster, LockRequest request, ClusterWire wire, ReplyHandler handler) {
    this.cluster = cluster;
    this.request = request;
    this.wire = wire;
    this.handler = handler;
    deadlineNanos = cluster.time().nanos() + cluster.redirectPatienceNanos();
  }

  /** Asks the master of the slot, as far as is known. */
  void begin() {
    MasterLink link = cluster.linkOf(wire.slot());
    if (link == null) {
      cluster.topologyDoubtful();
      if (cluster.status().usable()) {
        again("slot " + wire.slot() + " is served by no master that is known");
      } else {
        cluster.refuse(handler);
      }
    } else {
      ask(link, false);
    }
  }

  private void ask(MasterLink link, boolean asking) {
    NodeStatus status = link.status();
    if (!status.usable()) {
      cluster.topologyDoubtful();
      if (redirections == 0) {
        cluster.refuse(handler, link);
      } else { // Sent here by another, and just about to connect.
        again("master " + link + ": " + status.cause());
      }
      return;
    }
    if (request instanceof LockRequest.Acquire) {
      String bar = cluster.mayNotGrant(link);
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
      cluster.answered(request, wire, link, reply, handler);
      return;
    }
    if (error.kind() != NodeError.Kind.CLUSTER) {
      cluster.failed(link, error, handler);
      return;
    }
    Redirection redirection = Redirection.of(error.message(), link.address());
    Address to = redirection.to();
    switch (redirection.kind()) {
      case MOVED -> {
        if (to != null) {
          cluster.moved(wire.slot(), to);
          redirect(to, false, error.message());
        }
      }
      case ASK -> {
        if (to != null) {
          redirect(to, true, error.message());
        }
      }
      case LATER -> {
        cluster.topologyDoubtful();
        again(error.message());
      }
      case NEVER -> {
        cluster.topologyDoubtful();
        fail(error.message());
      }
    }
  }

  private void redirect(Address to, boolean asking, String answer) {
    if (++redirections % REDIRECTIONS_AT_ONCE == 0) {
      again(answer);
      return;
    }
    lastAnswer = answer;
    ask(cluster.linkTo(to), asking);
  }

  /** Begins anew after a pause, or answers if the patience is over. */
  private void again(String why) {
    lastAnswer = why;
    redirections = Math.max(redirections, 1);
    long now = cluster.time().nanos();
    if (now + pauseNanos - deadlineNanos >= 0) {
      fail(lastAnswer + "; tried again for " + cluster.redirectPatienceNanos() / 1_000_000 + " ms");
      return;
    }
    cluster.time().schedule(this::begin, pauseNanos);
    pauseNanos = Math.min(MOST_PAUSE_NANOS, 2 * pauseNanos);
  }

  private void fail(String why) {
    cluster.deliver(
        new NodeReply(
            ReplyCode.FAILED,
            cluster.status().connection(),
            0,
            0,
            0,
            null,
            0,
            new NodeError(NodeError.Kind.CLUSTER, why)),
        handler);
  }
}
