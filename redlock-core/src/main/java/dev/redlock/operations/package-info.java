/**
 * For operators: {@link dev.redlock.operations.Operations} lists, watches, inspects and breaks
 * locks, and examines the nodes. No application needs it to lock.
 */
@NullMarked
package dev.redlock.operations;

import org.jspecify.annotations.NullMarked;
