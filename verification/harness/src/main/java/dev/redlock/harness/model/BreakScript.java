package dev.redlock.harness.model;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.LockRequest;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;

/** What {@code break.lua} does: takes the lock from its holder. */
final class BreakScript {
  private BreakScript() {}

  static NodeReply execute(LockRequest.Break r, Call call) {
    LockKeys keys = r.keys();
    long fence = 0;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = call.read(keys.lockKey(i));
      if (s.isForeign()) {
        return call.foreign(s);
      }
      fence = Math.max(fence, Math.max(s.fence, s.ended));
    }
    if (!call.isStorable(r.token())) {
      return call.reply(Code.STALE, fence);
    }
    Code code = Code.NOT_OWNER;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = call.slot(keys.lockKey(i));
      if (s.owner != null) {
        code = Code.RELEASED;
        call.delete(s);
      }
      long top = Math.max(r.token(), Math.max(s.fence, s.ended));
      s.fence = top;
      s.ended = top;
      call.refreshFence(s);
    }
    return call.reply(code, Math.max(fence, r.token()));
  }
}
