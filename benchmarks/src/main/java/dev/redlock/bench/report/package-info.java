/** Figures, and how they are shown. */
@NullMarked
package dev.redlock.bench.report;

import org.jspecify.annotations.NullMarked;
