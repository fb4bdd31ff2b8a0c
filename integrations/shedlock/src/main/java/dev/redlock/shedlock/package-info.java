/**
 * The lock for ShedLock: {@link dev.redlock.shedlock.RedlockLockProvider}. See {@code
 * docs/spring.md}.
 */
@NullMarked
package dev.redlock.shedlock;

import org.jspecify.annotations.NullMarked;
