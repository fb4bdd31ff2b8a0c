/** The figures and their reports. */
@NullMarked
package dev.redlock.bench.report;

import org.jspecify.annotations.NullMarked;
