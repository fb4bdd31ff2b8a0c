package dev.redlock.lettuce.internal;

import dev.redlock.lettuce.LettuceNodes;
import dev.redlock.spi.LockNode;
import java.util.List;

/** Makes the nodes of {@code RedlockBuilder.nodes(String...)}. Core finds it as a service. */
public final class LettuceNodeFactory implements LockNode.Factory {
  /** For {@link java.util.ServiceLoader}. */
  public LettuceNodeFactory() {}

  @Override
  public List<LockNode> nodes(List<String> uris) {
    return LettuceNodes.standalone(uris);
  }
}
