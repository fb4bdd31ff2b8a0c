/** The Lua scripts of a node, the encoding of requests as their arguments, and their replies. */
@NullMarked
package dev.redlock.redis.internal.scripts;

import org.jspecify.annotations.NullMarked;
