package dev.redlock.harness.model;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;

/** What {@code release.lua} does: deletes the keys of a lease, and wakes the next process. */
final class ReleaseScript {
  /** In a queue that has this place, a release may wake the last process. */
  private static final int FAR_PLACE = 5;

  private ReleaseScript() {}

  static NodeReply execute(LockRequest.Release r, Call call) {
    LockKeys keys = r.keys();
    Code code = Code.NOT_OWNER;
    long fence = 0;
    boolean wanted = false;
    boolean shorten = false;
    boolean[] wakes = new boolean[keys.size()];
    boolean usual = isUsual(r, call.slot(keys.lockKey(0)));
    for (int i = 0; i < keys.size(); i++) {
      Slot s = call.read(keys.lockKey(i));
      wakes[i] = s.wanted && (r.ended() || s.owner == null || r.leaseId().equals(s.owner));
      if (!s.wrongType && r.leaseId().equals(s.owner)) {
        if (code == Code.NOT_OWNER) {
          // All keys of a lease are written at once, so the first is enough.
          shorten = s.expiresMillis - call.nowMillis() > r.keepMillis();
        }
        code = Code.RELEASED;
        if (r.keepMillis() == 0) {
          call.delete(s);
        } else if (shorten) {
          call.write(s, r.leaseId(), r.keepMillis());
        }
      }
      wanted |= s.wanted;
      if (call.isStorable(r.token())) {
        s.fence = Math.max(s.fence, r.token());
        if (r.ended()) {
          s.ended = Math.max(s.ended, r.token());
        }
      }
      call.refreshFence(s);
      fence = Math.max(fence, s.fence);
    }
    String leaving = r.leaveQueue();
    if (leaving != null) {
      call.queues().leave(keys.queueKey(), leaving);
      call.queues().delete(keys.wakeKey(leaving), call.session());
      call.queues().delete(keys.watchKey(leaving), call.session());
    }
    wake(r, wakes, call);
    long clock = usual ? 0 : call.now(); // The script does not read the clock then.
    return new NodeReply(code, call.connection(), clock, fence, 0, null, wanted ? 1 : 0, null);
  }

  /** Whether one name is released that no other client wants, and the fence is the lease's own. */
  private static boolean isUsual(LockRequest.Release r, Slot s) {
    return r.keys().size() == 1
        && r.ended()
        && r.keepMillis() == 0
        && r.leaveQueue() == null
        && !s.wrongType
        && r.leaseId().equals(s.owner)
        && r.token() == s.fence
        && !s.wanted
        && s.further.isEmpty();
  }

  /** Wakes the first of each queue that wants a name, and warns the second. */
  private static void wake(LockRequest.Release r, boolean[] wakes, Call call) {
    LockKeys keys = r.keys();
    boolean kept = r.keepMillis() > 0;
    boolean any = false;
    for (int i = 0; i < keys.size(); i++) {
      if (wakes[i]) {
        any = true;
        wake(keys.lockKey(i), keys.lockKey(i) + LockKeys.QUEUE, kept, call);
      }
    }
    if (any && keys.size() > 1) {
      wake(keys.lockKey(0), keys.queueKey(), kept, call);
    }
  }

  private static void wake(String lockKey, String queueKey, boolean kept, Call call) {
    QueueModel queues = call.queues();
    long nowMillis = call.nowMillis();
    long session = call.session();
    queues.sweep(queueKey, call.now());
    String first = queues.first(queueKey, nowMillis);
    if (first == null) {
      return;
    }
    String second = kept ? first : queues.place(queueKey, 1, nowMillis);
    String wakeKey = lockKey + LockKeys.WAKE + first;
    if (!kept && queues.woken(wakeKey, nowMillis) < 0) {
      queues.write(wakeKey, call.now(), session);
    }
    if (second != null) {
      queues.prolong(lockKey + LockKeys.WATCH + second, nowMillis, call.fenceLifeMillis(), session);
    }
    String last = queues.place(queueKey, queues.size(queueKey, nowMillis) - 1, nowMillis);
    boolean isLong = queues.place(queueKey, FAR_PLACE, nowMillis) != null;
    if (!kept && isLong && last != null && queues.mayWakeLast(queueKey, nowMillis)) {
      queues.touch(lockKey + LockKeys.WAKE + last, nowMillis, session);
    }
  }
}
