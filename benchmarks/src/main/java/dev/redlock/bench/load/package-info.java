/** What systems are put through, and what is measured meanwhile. */
@NullMarked
package dev.redlock.bench.load;

import org.jspecify.annotations.NullMarked;
