/** The port of leader election, which is a module of its own, to the client. */
@NullMarked
package dev.redlock.internal.election;

import org.jspecify.annotations.NullMarked;
