package dev.redlock.simulation;

import dev.redlock.internal.protocol.HeldLease;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;

/** Texts for the table of a history. */
final class Describe {
  private static final long BASE_MICROS = 1_760_000_000_000_000L;

  private Describe() {}

  static String token(long token) {
    return token < 1_000_000_000L ? Long.toString(token) : "T" + (token - BASE_MICROS);
  }

  static String holds(HeldLease lease, SimClient client) {
    String remaining = Scenario.ms(client.remaining(lease));
    return String.format("holds %s %s for %s", lease.id(), token(lease.token()), remaining);
  }

  static String request(LockRequest request) {
    String names = request.keys().names().toString();
    return switch (request.operation()) {
      case ACQUIRE -> acquire((LockRequest.Acquire) request) + names;
      case ENQUEUE -> enqueue((LockRequest.Enqueue) request) + names;
      case EXTEND -> extend((LockRequest.Extend) request) + names;
      case RELEASE -> release((LockRequest.Release) request) + names;
      case INSPECT -> "inspect " + names;
      case BREAK -> "break " + token(((LockRequest.Break) request).token()) + " " + names;
    };
  }

  private static String acquire(LockRequest.Acquire r) {
    return "acquire "
        + r.leaseId()
        + " "
        + token(r.token())
        + (r.queueEntry() == null ? "" : " queued")
        + " ttl "
        + r.ttlMillis()
        + " ";
  }

  private static String enqueue(LockRequest.Enqueue r) {
    return "enqueue "
        + r.entry().process()
        + (r.afterToken() == 0 ? "" : " after " + token(r.afterToken()))
        + " ";
  }

  private static String extend(LockRequest.Extend r) {
    return "extend " + r.leaseId() + " " + token(r.token()) + " ttl " + r.ttlMillis() + " ";
  }

  private static String release(LockRequest.Release r) {
    return (r.ended() ? "release " : "roll back ")
        + r.leaseId()
        + " "
        + token(r.token())
        + (r.keepMillis() > 0 ? " keep " + r.keepMillis() : "")
        + (r.leaveQueue() == null ? "" : " leave queue")
        + " ";
  }

  static String reply(NodeReply reply) {
    String out = reply.code().toString();
    if (reply.mark() != null) {
      out += " by " + reply.mark() + " for " + reply.remainingMillis();
    }
    if (reply.othersQueued() != 0) {
      out += " others " + reply.othersQueued();
    }
    if (reply.fence() != 0) {
      out += " fence " + token(reply.fence());
    }
    if (reply.error() != null) {
      out += " " + reply.error().kind();
    }
    return out;
  }
}
