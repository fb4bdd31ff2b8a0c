/**
 * The lock for Spring: {@link dev.redlock.spring.Locked} methods, and what an application may
 * replace. See {@code docs/spring.md}.
 */
@NullMarked
package dev.redlock.spring;

import org.jspecify.annotations.NullMarked;
