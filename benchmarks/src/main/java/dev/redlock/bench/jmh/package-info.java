/** Microbenchmarks without servers: {@code bin/bench jmh -prof gc}. */
@NullMarked
package dev.redlock.bench.jmh;

import org.jspecify.annotations.NullMarked;
