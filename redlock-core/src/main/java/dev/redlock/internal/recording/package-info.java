/**
 * Events for the JDK Flight Recorder. Only {@link dev.redlock.internal.recording.Recorder} is used
 * from outside; a runtime without the module {@code jdk.jfr} loads no other class of this package.
 */
@NullMarked
package dev.redlock.internal.recording;

import org.jspecify.annotations.NullMarked;
