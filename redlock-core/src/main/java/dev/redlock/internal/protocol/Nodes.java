package dev.redlock.internal.protocol;

import dev.redlock.spi.NodeStatus;

/** The configured nodes as the protocol sees them. Their number never changes. */
public interface Nodes {
  /** How many are configured: 1 to 63. */
  int count();

  /** What reports call the node. */
  String name(int node);

  /** The newest known state of its connection. */
  NodeStatus status(int node);

  /** What was learnt about its clock and speed; shared by all locks of a client. */
  NodeKnowledge knowledge(int node);

  /** How many rounds may be under way; shared by all locks of a client. */
  Pace pace();
}
