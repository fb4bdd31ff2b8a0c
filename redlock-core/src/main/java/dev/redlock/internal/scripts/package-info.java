/**
 * What is run on a node: the Lua scripts, how requests become their arguments, what they answer.
 */
@NullMarked
package dev.redlock.internal.scripts;

import org.jspecify.annotations.NullMarked;
