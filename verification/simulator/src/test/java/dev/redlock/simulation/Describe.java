package dev.redlock.simulation;

import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;

/** Texts for the table of a history. */
final class Describe {
  private static final long BASE_MICROS = 1_760_000_000_000_000L;

  private Describe() {}

  static String token(long token) {
    return token < 1_000_000_000L ? Long.toString(token) : "T" + (token - BASE_MICROS);
  }

  static String request(LockRequest request) {
    String names = request.keys().names().toString();
    if (request instanceof LockRequest.Acquire r) {
      return "acquire "
          + r.leaseId()
          + " "
          + token(r.token())
          + (r.previousLeaseId() == null
              ? ""
              : " after " + r.previousLeaseId() + " " + token(r.previousToken()))
          + (r.queueEntry() == null ? "" : " queued")
          + " ttl "
          + r.ttlMillis()
          + " "
          + names;
    } else if (request instanceof LockRequest.Extend r) {
      return "extend "
          + r.leaseId()
          + " "
          + token(r.token())
          + " ttl "
          + r.ttlMillis()
          + " "
          + names;
    } else if (request instanceof LockRequest.Release r) {
      return (r.ended() ? "release " : "roll back ")
          + r.leaseId()
          + " "
          + token(r.token())
          + (r.keepMillis() > 0 ? " keep " + r.keepMillis() : "")
          + (r.leaveQueue() == null ? "" : " leave queue")
          + " "
          + names;
    } else if (request instanceof LockRequest.Enqueue r) {
      return "enqueue "
          + r.entry().process()
          + (r.afterToken() == 0 ? "" : " after " + token(r.afterToken()))
          + " "
          + names;
    } else if (request instanceof LockRequest.Break r) {
      return "break " + token(r.token()) + " " + names;
    }
    return "inspect " + names;
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
