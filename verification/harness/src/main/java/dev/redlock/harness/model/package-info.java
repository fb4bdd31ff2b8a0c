/** The executable specification of the Lua scripts; for the in-memory node and the simulator. */
@NullMarked
package dev.redlock.harness.model;

import org.jspecify.annotations.NullMarked;
