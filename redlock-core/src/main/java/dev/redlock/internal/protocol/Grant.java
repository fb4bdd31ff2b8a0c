package dev.redlock.internal.protocol;

import dev.redlock.LockOptions;
import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;

/**
 * What the nodes store for a lease: a lease id and a token, for a time. A lease that is handed off
 * locally passes its grant on, and nothing on the nodes changes. So one grant serves up to {@link
 * HeldLease#TOKENS_PER_GRANT} leases, one after another, each with a fencing token of its own.
 */
final class Grant {
  final LockKeys keys;
  final String id;

  /** The token that the nodes store; also the fencing token of the grant's first lease. */
  final long token;

  final LockOptions options;

  /** The round that won it. */
  final AcquireRound votes;

  /** Written by the machine's actor; read by any thread that asks whether a lease is valid. */
  private volatile Validity validity;

  /** The nodes to which it was sent beside its round, by extensions. */
  private long alsoSent;

  /** Whether votes that are still to come are too late. */
  private boolean closed;

  Grant(AcquireRound won, LockOptions options) {
    votes = won;
    keys = won.request.keys();
    id = won.request.leaseId();
    token = won.request.token();
    validity = won.validity;
    this.options = options;
  }

  /** Whether the vote that this round has just received is one of its own, and in time. */
  boolean awaits(AcquireRound round) {
    return votes == round && !closed;
  }

  /** The nodes whose votes are still to come. */
  long awaited() {
    return closed ? 0 : votes.open();
  }

  /** No further vote is waited for, although some nodes have not voted. */
  void close() {
    closed = true;
  }

  Validity validity() {
    return validity;
  }

  /** An extension succeeded; the deadline never moves backwards. */
  void renew(Validity renewed) {
    if (renewed.deadlineNanos() - validity.deadlineNanos() > 0) {
      validity = renewed;
    }
  }

  /**
   * The nodes on which it must be released: not a node that was down all the time, nor one that
   * failed the round before it wrote anything.
   */
  long written() {
    return votes.recipients.mask() | alsoSent;
  }

  /** The nodes that were kept back from its round, and were not sent it later. */
  long untouched() {
    return votes.recipients.keptBack() & ~alsoSent;
  }

  /** It is sent to these nodes as well. */
  void noteSent(long mask) {
    alsoSent |= mask;
  }

  /** For how long its keys can live after they were last written. */
  long lifeNanos() {
    return options.leaseTime().toNanos()
        + options.drift().toNanos()
        + options.nodeTimeout().toNanos();
  }

  LockRequest.Extend extend(long ttlMillis) {
    return new LockRequest.Extend(keys, id, token, ttlMillis);
  }

  /** The release, which lets the keys live for this time at most. */
  LockRequest.Release release(long keepMillis) {
    return new LockRequest.Release(keys, id, token, true, keepMillis, null);
  }
}
