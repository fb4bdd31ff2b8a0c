package dev.redlock.harness.model;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;

/** What {@code enqueue.lua} does: puts a process into the queue, or admits it. */
final class EnqueueScript {
  private EnqueueScript() {}

  static NodeReply execute(LockRequest.Enqueue r, Call call) {
    LockKeys keys = r.keys();
    long nowMillis = call.nowMillis();
    QueueModel queues = call.queues();
    String process = r.entry().process();
    String wakeKey = keys.wakeKey(process);
    String watchKey = keys.watchKey(process);
    queues.delete(wakeKey);
    queues.putPatience(watchKey, r.entry().patienceMicros(), nowMillis + r.entry().lifeMillis());
    long fence = 0;
    long ended = Long.MAX_VALUE;
    long remaining = -1;
    Slot holder = null;
    int ttlReads = 0;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = keys.size() > 1 ? call.read(keys.lockKey(i)) : call.slot(keys.lockKey(i));
      fence = Math.max(fence, s.fence);
      ended = Math.min(ended, s.ended);
      s.wanted |= s.fence > 0;
      if (s.owner != null && ttlReads++ < Call.MAX_TTL_READS) {
        if (s.isForeign()) {
          return call.foreign(s);
        }
        if (s.expiresMillis - nowMillis > remaining) {
          remaining = s.expiresMillis - nowMillis;
          holder = s;
        }
      }
    }
    int ahead = queues.enter(keys.queueKey(), r.entry(), call.fenceLifeMillis(), call.now());
    boolean free = holder == null && ended >= r.afterToken();
    long turnLeft = -1;
    boolean asksAgain = false;
    if (free && ahead > 0) {
      TurnScript turn = new TurnScript(keys, r.entry(), 0, call);
      turnLeft = turn.leftMicros();
      ahead = queues.rank(keys.queueKey(), process, nowMillis);
      asksAgain = turn.hasChangedQueue() || ahead == 1;
    }
    if (free && turnLeft < 0) {
      queues.write(wakeKey, call.now(), call.session());
      return call.reply(Code.ADMITTED, ended);
    }
    queues.read(wakeKey, call.session());
    queues.read(watchKey, call.session());
    if (free) {
      long again = asksAgain ? (turnLeft + 999) / 1000 : 0;
      return call.reply(Code.QUEUED, fence, again, null, ahead);
    }
    return call.reply(Code.HELD, fence, remaining, call.mark(holder), ahead);
  }
}
