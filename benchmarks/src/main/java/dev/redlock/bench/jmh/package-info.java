/** Microbenchmarks without servers: {@code ./bench jmh -prof gc}. */
@NullMarked
package dev.redlock.bench.jmh;

import org.jspecify.annotations.NullMarked;
