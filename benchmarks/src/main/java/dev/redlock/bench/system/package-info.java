/** The systems that are measured, behind one small face. */
@NullMarked
package dev.redlock.bench.system;

import org.jspecify.annotations.NullMarked;
