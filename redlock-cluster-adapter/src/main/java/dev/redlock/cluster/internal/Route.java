package dev.redlock.cluster.internal;

import static dev.redlock.cluster.internal.Log.log;
import static java.util.Objects.requireNonNull;

import dev.redlock.redis.internal.scripts.EncodedRequest;
import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeStatus;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The way of one command to the master of its slot. Follows redirections until the deadline. A
 * master does not execute a command that it redirects, so the command is executed at most once; a
 * command without a reply is never sent again. The {@link Destination} is called exactly once.
 */
final class Route implements Consumer<NodeReply> {
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(16);

  /** Pause after this many redirections in a row: two masters may redirect to each other. */
  private static final int MAX_REDIRECTIONS = 4;

  /** Where the way ends. Called by the connection's thread, a timer, or the sender. */
  interface Destination {
    /** A master executed the command. */
    void reached(MasterLink link, NodeReply reply);

    /** No definite reply, with the reason. */
    void failed(NodeReply failure);

    /**
     * The slot is being moved, and its keys are on two masters. No master has executed the command.
     */
    void moving();
  }

  /** What to do about a slot that is being moved. */
  enum Moving {
    /** The command has one key: follow {@code ASK}. */
    FOLLOW,
    /** Tell the destination. */
    TELL,
    /** Retry until the move is over. */
    WAIT
  }

  private final RoutedRequest whole;
  private final Masters masters;
  private final ClusterReplies answers;
  private final EncodedRequest command;
  private final boolean grants;
  private final Moving moving;
  private final Destination destination;

  // Used by one step at a time; the connection or the timer starts the next step.
  private @Nullable MasterLink asked;
  private int redirections;
  private boolean waited;
  private long pauseNanos = FIRST_PAUSE_NANOS;

  /**
   * @param whole the request of which the command is a part: has its slot and its deadline
   * @param grants whether a master that must not vote must not execute the command
   */
  Route(
      RoutedRequest whole,
      EncodedRequest command,
      boolean grants,
      Moving moving,
      Destination destination) {
    this.whole = whole;
    this.masters = whole.masters;
    this.answers = whole.answers;
    this.command = command;
    this.grants = grants;
    this.moving = moving;
    this.destination = destination;
  }

  /** Sends the command to the master that serves the slot according to the current topology. */
  void begin() {
    try {
      lookUp();
    } catch (RuntimeException e) {
      failed(e);
    }
  }

  private void lookUp() {
    MasterLink link = masters.linkOf(whole.slot);
    if (link == null) {
      masters.topologyDoubtful();
      if (answers.status().usable()) {
        again("no known master serves slot " + whole.slot);
      } else {
        destination.failed(answers.notSent());
      }
    } else {
      ask(link, false);
    }
  }

  private void ask(MasterLink link, boolean withAsking) {
    NodeStatus status = link.status();
    if (!status.usable()) {
      masters.topologyDoubtful();
      if (redirections == 0 && !waited) {
        destination.failed(answers.notSent(link));
      } else { // A redirection led here, and the connection is being made.
        again("master " + link + ": " + status.cause());
      }
      return;
    }
    if (grants) {
      String bar = answers.mayNotGrant(link, whole.slot);
      if (bar != null) {
        fail(bar);
        return;
      }
    }
    asked = link;
    link.send(command, withAsking, this);
  }

  @Override
  public void accept(NodeReply reply) {
    MasterLink link = asked;
    if (link == null) {
      return;
    }
    try {
      onReply(link, reply);
    } catch (RuntimeException e) {
      failed(e);
    }
  }

  /** Ends the way with an error. Every request needs one reply: its lock machine waits for it. */
  private void failed(RuntimeException e) {
    log.error("a request failed with an exception before it was sent", e);
    destination.failed(
        answers.failure(NodeError.Kind.UNEXPECTED, "failed before it was sent: " + e));
  }

  private void onReply(MasterLink link, NodeReply reply) {
    NodeError error = reply.error();
    if (error == null) {
      destination.reached(link, reply);
      return;
    }
    if (error.kind() != NodeError.Kind.CLUSTER) {
      destination.failed(answers.none(link, error));
      return;
    }
    Redirection redirection = Redirection.of(error.message(), link.address());
    switch (redirection.kind()) {
      case MOVED -> {
        masters.moved(whole.slot, requireNonNull(redirection.to()));
        redirect(requireNonNull(redirection.to()), false, error.message());
      }
      case ASK -> {
        if (moving == Moving.FOLLOW) {
          redirect(requireNonNull(redirection.to()), true, error.message());
        } else {
          // The master to ask may be new: connect before the first step needs it.
          var unused = masters.links().linkTo(requireNonNull(redirection.to()));
          split(error.message());
        }
      }
      case SPLIT -> split(error.message());
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

  private void split(String answer) {
    if (moving == Moving.TELL) {
      destination.moving();
    } else {
      again(answer);
    }
  }

  private void redirect(Address to, boolean withAsking, String answer) {
    if (++redirections == MAX_REDIRECTIONS) {
      again(answer);
      return;
    }
    ask(masters.links().linkTo(to), withAsking);
  }

  /** Looks up the master again after a pause, or ends the way if the deadline has passed. */
  private void again(String why) {
    waited = true;
    redirections = 0;
    long now = masters.time().nanos();
    if (now + pauseNanos - whole.deadlineNanos >= 0) {
      fail(
          why
              + "; retried for "
              + TimeUnit.NANOSECONDS.toMillis(RoutedRequest.PATIENCE_NANOS)
              + " ms");
      return;
    }
    masters.time().schedule(this::begin, pauseNanos);
    pauseNanos = Math.min(MAX_PAUSE_NANOS, 2 * pauseNanos);
  }

  private void fail(String why) {
    destination.failed(answers.failure(NodeError.Kind.CLUSTER, why));
  }
}
