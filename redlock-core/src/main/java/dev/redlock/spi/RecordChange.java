package dev.redlock.spi;

import static java.util.Objects.requireNonNull;

/**
 * A conditional change of a node's {@link NodeRecord}, which the node makes in one step, or not at
 * all. {@link NodeRecord#after} says when.
 *
 * @param kind what to do
 * @param record what to write; of {@link Kind#PROMISE} only {@code promised} counts
 */
public record RecordChange(Kind kind, NodeRecord record) {

  public RecordChange {
    requireNonNull(kind, "kind");
    requireNonNull(record, "record");
  }

  /** What a change does. */
  public enum Kind {
    /** Writes a record that is newer than that of the node, or the first one. */
    TELL,
    /** Promises an operator that earlier operators are refused from now on. */
    PROMISE,
    /** Writes the next set: votes of its epoch, and of the one before, count. */
    OPEN,
    /** Raises the floor to the epoch of the set. */
    SEAL
  }
}
