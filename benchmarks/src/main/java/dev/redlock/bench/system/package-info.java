/** The measured systems behind one small interface. */
@NullMarked
package dev.redlock.bench.system;

import org.jspecify.annotations.NullMarked;
