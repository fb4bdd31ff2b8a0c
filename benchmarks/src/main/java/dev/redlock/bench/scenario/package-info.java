/** The scenarios, one class each. */
@NullMarked
package dev.redlock.bench.scenario;

import org.jspecify.annotations.NullMarked;
