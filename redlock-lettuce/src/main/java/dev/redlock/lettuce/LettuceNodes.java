package dev.redlock.lettuce;

import dev.redlock.lettuce.internal.NodeUri;
import dev.redlock.lettuce.internal.SharedResources;
import dev.redlock.spi.LockNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Makes standalone nodes that share their threads. */
public final class LettuceNodes {
  private LettuceNodes() {}

  /**
   * One node per URI, with default options; see {@link #standalone(List, LettuceOptions)}.
   *
   * @throws IllegalArgumentException if a URI is invalid, or two URIs name the same server
   */
  public static List<LockNode> standalone(List<String> uris) {
    return standalone(uris, LettuceOptions.defaults());
  }

  /**
   * One node per URI: {@code redis://[user:password@]host[:port][/db]}, or {@code rediss://} for
   * TLS. A node connects at {@link LockNode#start}. If the options contain no threads, the nodes
   * share threads of the library, which end with the last node.
   *
   * @throws IllegalArgumentException if a URI is invalid, or two URIs name the same server; the
   *     message contains no password
   */
  public static List<LockNode> standalone(List<String> uris, LettuceOptions options) {
    List<NodeUri> parsed = uris.stream().map(NodeUri::parse).toList();
    Set<String> names = new HashSet<>();
    for (NodeUri uri : parsed) {
      if (!names.add(uri.name().replaceFirst("(:\\d+)/\\d+$", "$1"))) {
        throw new IllegalArgumentException(
            "node " + uri.name() + " is configured twice: each node must be a different server");
      }
    }
    SharedResources resources = new SharedResources(options.clientResources());
    List<LockNode> nodes = new ArrayList<>();
    for (NodeUri uri : parsed) {
      nodes.add(new LettuceLockNode(uri, options, resources));
    }
    return List.copyOf(nodes);
  }
}
