/** Masters, slots, redirections and release hints of one cluster. */
@NullMarked
package dev.redlock.cluster.internal;

import org.jspecify.annotations.NullMarked;
