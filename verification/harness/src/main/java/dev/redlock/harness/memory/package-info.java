/** Lock nodes without Redis, in this process, with methods that inject faults. */
@NullMarked
package dev.redlock.harness.memory;

import org.jspecify.annotations.NullMarked;
