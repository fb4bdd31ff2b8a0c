/**
 * What a user of the lock names: {@link dev.redlock.Redlock} makes a {@link
 * dev.redlock.DistributedLock}, which grants a {@link dev.redlock.Lease}.
 */
@NullMarked
package dev.redlock;

import org.jspecify.annotations.NullMarked;
