package dev.redlock.redis.internal;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;

/** Reads the invalidations of a server: messages about keys that this connection has read. */
public final class Invalidations {
  private Invalidations() {}

  /**
   * Reports each lock key, wake key and watch key, the marker, or that all keys may have changed.
   * The scripts also read fence keys and queue keys, whose invalidations add nothing.
   *
   * @param content the elements of the message
   */
  public static void read(
      List<Object> content,
      String keyPrefix,
      Consumer<String> onKey,
      Runnable onMarker,
      Runnable onAll) {
    Object keys = content.size() > 1 ? content.get(1) : null;
    if (!(keys instanceof List<?> list)) {
      onAll.run();
      return;
    }
    for (Object item : list) {
      if (item instanceof ByteBuffer bytes) {
        String key = StandardCharsets.UTF_8.decode(bytes.duplicate()).toString();
        if (key.equals(keyPrefix + Probe.Marker.KEY)) {
          onMarker.run();
        } else if (key.startsWith(keyPrefix + ":{")
            && !key.endsWith(":fence")
            && !key.endsWith(":queue")
            && !key.endsWith(":alive")) {
          onKey.accept(key);
        }
      }
    }
  }
}
