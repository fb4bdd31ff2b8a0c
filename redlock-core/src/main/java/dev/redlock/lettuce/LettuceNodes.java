package dev.redlock.lettuce;

import dev.redlock.spi.LockNode;
import java.util.List;

/** Makes standalone nodes. */
public final class LettuceNodes {
  private LettuceNodes() {}

  /** Nodes that share threads, by URI. */
  public static List<LockNode> standalone(List<String> uris) {
    if (uris.isEmpty()) {
      return List.of();
    }
    throw new UnsupportedOperationException("being written: " + uris.size());
  }
}
