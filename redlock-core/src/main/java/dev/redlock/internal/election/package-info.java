/** Leader election on top of the public locks, behind a small port to the client. */
@NullMarked
package dev.redlock.internal.election;

import org.jspecify.annotations.NullMarked;
