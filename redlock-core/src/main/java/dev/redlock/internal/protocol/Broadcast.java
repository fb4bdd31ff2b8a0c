package dev.redlock.internal.protocol;

import static java.util.Objects.requireNonNull;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;

/**
 * One request of an operator to all nodes, of which every reply is wanted: inspect, or break. No
 * {@link LockMachine} takes part. The shell, or the simulator, sends the request and passes the
 * replies on until all nodes have replied or a timeout is over. Until then it is not safe for
 * concurrent use.
 */
public final class Broadcast extends Exchange {
  private final Nodes nodes;
  private final LockRequest request;

  /** To each member with a probed connection. */
  public Broadcast(Nodes nodes, LockRequest request, long nowNanos) {
    super(nodes);
    this.nodes = nodes;
    this.request = request;
    asked(nodes.usable(), nowNanos);
  }

  /**
   * Takes the lock from its holder, by a token above this one: a node that the break has reached
   * stores no lease up to its token any more.
   */
  public static Broadcast breaking(Nodes nodes, LockKeys keys, long above, long nowNanos) {
    TokenChoice tokens = new TokenChoice(nodes);
    tokens.seen(above, nowNanos);
    long token = tokens.propose(nowNanos);
    return new Broadcast(nodes, new LockRequest.Break(keys, token), nowNanos);
  }

  /** What is to be sent once it begins. */
  public Effect.Send send() {
    return new Effect.Send(this, request, open());
  }

  /** Whether all nodes have replied now; a copy of a reply changes nothing. */
  public boolean onReply(int node, NodeReply reply, long now) {
    if (answered(node)) {
      record(node, reply);
      if (reply.code().definite()) {
        nodes.heard(node, sentNanos(), now, reply.nodeMicros());
      }
    }
    return open() == 0;
  }

  /** Whether the node has confirmed that it stores no lease of this lock now. */
  public boolean isBroken(int node) {
    return is(node, Code.RELEASED) || is(node, Code.NOT_OWNER);
  }

  /** Whether so many nodes have confirmed it that no lease has a quorum left. */
  public boolean isBroken() {
    return members.hasQuorum(this::isBroken);
  }

  /**
   * Whether so many nodes have ended all leases up to this token that none of them has a quorum.
   */
  public boolean hasEnded(long token) {
    return members.hasQuorum(i -> isBroken(i) && requireNonNull(reply(i)).fence() >= token);
  }
}
