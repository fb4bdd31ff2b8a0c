/** Processes, ports and waiting; for the test kit and for the harness of this repository. */
@NullMarked
package dev.redlock.testkit.internal;

import org.jspecify.annotations.NullMarked;
