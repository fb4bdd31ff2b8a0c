/**
 * The public API: {@link dev.redlock.Redlock} makes {@link dev.redlock.DistributedLock}s, which
 * grant {@link dev.redlock.Lease}s.
 */
@NullMarked
package dev.redlock;

import org.jspecify.annotations.NullMarked;
