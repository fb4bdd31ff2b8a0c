/** The shell around the protocol: threads, timers and futures. Carries out the effects. */
@NullMarked
package dev.redlock.internal;

import org.jspecify.annotations.NullMarked;
