/** What a server of Redis says, and whether its node may vote; without a client of Redis. */
@NullMarked
package dev.redlock.redis.internal;

import org.jspecify.annotations.NullMarked;
