package dev.redlock.harness.model;

import dev.redlock.spi.LockKeys;
import dev.redlock.spi.NodeReply;
import dev.redlock.spi.NodeReply.Code;

/** What {@code inspect.lua} does: reports the holder and changes nothing. */
final class InspectScript {
  private InspectScript() {}

  static NodeReply execute(LockKeys keys, Call call) {
    long fence = 0;
    long remaining = -1;
    Slot holder = null;
    int ttlReads = 0;
    for (int i = 0; i < keys.size(); i++) {
      Slot s = call.read(keys.lockKey(i)); // More invalidations than it asks for do no harm.
      if (s.wrongType) {
        return call.foreign(s);
      }
      fence = Math.max(fence, s.fence);
      if (s.owner != null && ttlReads++ < Call.MAX_TTL_READS) {
        if (s.isForeign()) {
          return call.foreign(s);
        }
        if (s.expiresMillis - call.nowMillis() > remaining) {
          remaining = s.expiresMillis - call.nowMillis();
          holder = s;
        }
      }
    }
    return holder == null
        ? call.reply(Code.NOT_OWNER, fence)
        : call.reply(Code.HELD, fence, remaining, call.mark(holder), 0);
  }
}
