package dev.redlock.internal.sets;

import dev.redlock.spi.NodeRecord;

/** A change to send to a node. */
public record Tell(int node, NodeRecord.Change change) {}
