/** Masters, slots, redirections, and how releases are told in a cluster. */
@NullMarked
package dev.redlock.cluster.internal;

import org.jspecify.annotations.NullMarked;
