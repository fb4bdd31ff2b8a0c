package dev.redlock.harness.model;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;

/** What {@code extend.lua} does: prolongs or repairs a lease on all names or on none. */
final class ExtendScript {
  private ExtendScript() {}

  static NodeReply execute(LockRequest.Extend r, Call call) {
    LockKeys keys = r.keys();
    Code code = Code.EXTENDED;
    long fence = 0;
    int ttlReads = 0;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = call.read(keys.lockKey(i));
      if (s.wrongType) {
        return call.foreign(s);
      }
      fence = Math.max(fence, s.fence);
      boolean ours = r.leaseId().equals(s.owner);
      if (ours && s.ended < r.token()) {
        continue;
      }
      if (!ours && s.owner != null && ttlReads++ < Call.MAX_TTL_READS && s.isForeign()) {
        return call.foreign(s);
      }
      if (s.owner != null || s.ended >= r.token()) {
        code = Code.LOST;
      } else if (code == Code.EXTENDED) {
        code = Code.REPAIRED;
      }
    }
    if (code == Code.LOST) {
      return call.reply(code, fence);
    }
    for (int i = 0; i < keys.size(); i++) {
      Slot s = call.slot(keys.lockKey(i));
      call.write(s, r.leaseId(), r.ttlMillis());
      if (r.token() > s.fence && call.isStorable(r.token())) {
        s.fence = r.token();
        fence = Math.max(fence, r.token());
      }
      call.refreshFence(s);
      s.track(call.session());
    }
    return call.reply(code, fence);
  }
}
