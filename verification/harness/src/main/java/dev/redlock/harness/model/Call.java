package dev.redlock.harness.model;

import dev.redlock.spi.NodeError;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import org.jspecify.annotations.Nullable;

/**
 * One call of a script: what it reads and writes, for which connection, and when.
 *
 * @param session the number of the connection that brought the request
 * @param connection what the reply carries as {@link NodeReply#connection()}
 * @param now the node's clock, in microseconds
 */
record Call(Keyspace keyspace, long session, long connection, long now) {

  /** For how many keys a script reads the time to live; see {@code acquire.lua}. */
  static final int MAX_TTL_READS = 10;

  long nowMillis() {
    return now / 1000;
  }

  QueueModel queues() {
    return keyspace.queues;
  }

  long fenceLifeMillis() {
    return keyspace.fenceLifeMillis;
  }

  /** The keys of this name, without a read that makes the node send an invalidation. */
  Slot slot(String lockKey) {
    return keyspace.slot(lockKey);
  }

  Slot read(String lockKey) {
    Slot s = keyspace.slot(lockKey);
    s.track(session);
    return s;
  }

  void write(Slot s, String owner, long lifeMillis) {
    keyspace.write(s, owner, nowMillis() + lifeMillis, session);
  }

  void delete(Slot s) {
    keyspace.delete(s, session);
  }

  /** A fence lives on after each use. */
  void refreshFence(Slot s) {
    if (s.fence > 0) {
      s.fenceExpiresMillis = nowMillis() + fenceLifeMillis();
    }
  }

  /** What replies show of the lease that the slot stores; of no lease without a slot. */
  String mark(@Nullable Slot s) {
    return keyspace.mark(s);
  }

  /** No request may raise a fence higher than an acquire can. */
  boolean isStorable(long token) {
    return token <= now + NodeModel.AHEAD_MICROS;
  }

  NodeReply reply(Code code, long fence) {
    return NodeReply.of(code, connection, now, fence);
  }

  NodeReply reply(Code code, long fence, long remainingMillis, @Nullable String mark, int others) {
    return new NodeReply(code, connection, now, fence, remainingMillis, mark, others, null);
  }

  NodeReply foreign(Slot s) {
    return NodeReply.failed(
        connection,
        NodeError.Kind.FOREIGN_KEY,
        "key '" + s.lockKey + "' contains foreign data: it has another type or no time to live");
  }
}
