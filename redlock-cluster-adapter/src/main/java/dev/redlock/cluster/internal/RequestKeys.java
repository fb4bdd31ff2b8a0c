package dev.redlock.cluster.internal;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;

/** Replaces the keys of a request. */
final class RequestKeys {
  private RequestKeys() {}

  /** The same request for these keys. */
  static LockRequest replace(LockRequest request, LockKeys keys) {
    if (request instanceof LockRequest.Acquire a) {
      return new LockRequest.Acquire(
          keys,
          a.leaseId(),
          a.token(),
          a.ttlMillis(),
          a.previousLeaseId(),
          a.previousToken(),
          a.queueEntry());
    } else if (request instanceof LockRequest.Extend e) {
      return new LockRequest.Extend(keys, e.leaseId(), e.token(), e.ttlMillis());
    } else if (request instanceof LockRequest.Release r) {
      return new LockRequest.Release(
          keys, r.leaseId(), r.token(), r.ended(), r.keepMillis(), r.leaveQueue());
    } else if (request instanceof LockRequest.Enqueue q) {
      return new LockRequest.Enqueue(keys, q.entry(), q.afterToken());
    } else if (request instanceof LockRequest.Break b) {
      return new LockRequest.Break(keys, b.token());
    } else if (request instanceof LockRequest.Inspect i) {
      return new LockRequest.Inspect(keys, i.listens());
    }
    throw new IllegalStateException("unknown request " + request);
  }
}
