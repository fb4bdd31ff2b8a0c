/** Lists, watches, inspects and breaks locks, examines nodes, and changes the set of nodes. */
@NullMarked
package dev.redlock.operations.internal;

import org.jspecify.annotations.NullMarked;
