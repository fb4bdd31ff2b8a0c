package dev.redlock.harness.model;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;
import org.jspecify.annotations.Nullable;

/** What {@code acquire.lua} does: grants the lock on all names or on none. */
final class AcquireScript {
  private final LockRequest.Acquire r;
  private final LockKeys keys;
  private final Call call;

  // What the keys say.
  private long fence;
  private @Nullable Slot holder;
  private long remaining = -1;
  private boolean stale;
  private boolean wanted;
  private boolean unfenced;

  private AcquireScript(LockRequest.Acquire r, Call call) {
    this.r = r;
    this.keys = r.keys();
    this.call = call;
  }

  static NodeReply execute(LockRequest.Acquire r, Call call) {
    return new AcquireScript(r, call).execute();
  }

  private NodeReply execute() {
    Slot foreign = readKeys();
    if (foreign != null) {
      return call.foreign(foreign);
    }
    if (holder != null) {
      return held(holder);
    }
    if (stale) {
      return call.reply(Code.STALE, fence);
    }
    QueueModel queues = call.queues();
    LockRequest.QueueEntry entry = r.queueEntry();
    int others = 0;
    boolean left = false;
    if ((wanted || (entry != null && unfenced))
        && queues.first(keys.queueKey(), call.nowMillis()) != null) {
      if (isTurnOfAnother(entry)) {
        return queued(entry);
      }
      left = entry != null && queues.leave(keys.queueKey(), entry.process());
      others = queues.size(keys.queueKey(), call.nowMillis());
    }
    grant(others);
    int want = wanted && !left ? Math.max(1, others) : others;
    return call.reply(Code.GRANTED, r.token(), 0, null, want);
  }

  /** Returns the key that another application has written, or null. */
  private @Nullable Slot readKeys() {
    long now = call.now();
    long nowMillis = call.nowMillis();
    boolean inWindow =
        r.token() >= now - NodeModel.SLACK_MICROS && r.token() <= now + NodeModel.AHEAD_MICROS;
    int ttlReads = 0;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = call.read(keys.lockKey(i));
      String owner = s.owner;
      boolean anothers = owner != null && !owner.equals(r.leaseId());
      if (s.wrongType) {
        return s;
      }
      fence = Math.max(fence, s.fence);
      wanted |= s.wanted;
      unfenced |= s.fence == 0;
      if (owner != null && (ttlReads < Call.MAX_TTL_READS || (anothers && holder == null))) {
        ttlReads++;
        if (s.isForeign()) {
          return s;
        }
        if (anothers && s.expiresMillis - nowMillis > remaining) {
          remaining = s.expiresMillis - nowMillis;
          holder = s;
        }
      }
      if (!isRepeat(s) && (r.token() <= s.fence || !inWindow)) {
        stale = true;
      }
    }
    return null;
  }

  /** Whether the name has been granted before by this request. */
  private boolean isRepeat(Slot s) {
    return r.leaseId().equals(s.owner) && s.fence == r.token();
  }

  private NodeReply held(Slot by) {
    for (int i = 0; i < keys.size(); i++) {
      Slot s = call.slot(keys.lockKey(i));
      s.wanted |= s.fence > 0; // Only beside a fence: it shares the time to live.
    }
    return call.reply(Code.HELD, fence, remaining, call.mark(by), 0);
  }

  /** Whether another process is the first of the queue, and has not let its turn pass. */
  private boolean isTurnOfAnother(LockRequest.@Nullable QueueEntry entry) {
    long arrival = entry == null || entry.arrivalMicros() > call.now() ? 0 : entry.arrivalMicros();
    return new TurnScript(keys, entry, arrival, call).leftMicros() >= 0;
  }

  private NodeReply queued(LockRequest.@Nullable QueueEntry entry) {
    QueueModel queues = call.queues();
    String queueKey = keys.queueKey();
    int rank = entry == null ? -1 : queues.rank(queueKey, entry.process(), call.nowMillis());
    int before = rank < 0 ? queues.size(queueKey, call.nowMillis()) : rank;
    return call.reply(Code.QUEUED, fence, 0, null, before);
  }

  private void grant(int others) {
    boolean keepMarks = others == 0 && keys.size() > 1 && isQueuedForAName();
    for (int i = 0; i < keys.size(); i++) {
      Slot s = call.slot(keys.lockKey(i));
      if (isRepeat(s)) {
        continue;
      }
      call.write(s, r.leaseId(), r.ttlMillis());
      s.fence = r.token();
      s.wanted = others > 0 || (s.wanted && keepMarks);
      call.refreshFence(s);
      s.track(call.session());
    }
  }

  /** Whether a process is queued for one of the names that have the mark. */
  private boolean isQueuedForAName() {
    for (int i = 0; i < keys.size(); i++) {
      String lockKey = keys.lockKey(i);
      if (call.slot(lockKey).wanted
          && call.queues().size(lockKey + LockKeys.QUEUE, call.nowMillis()) > 0) {
        return true;
      }
    }
    return false;
  }
}
