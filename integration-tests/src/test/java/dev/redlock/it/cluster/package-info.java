/** Locks on one Redis Cluster, and on several: failovers, moving slots, release hints. */
@NullMarked
package dev.redlock.it.cluster;

import org.jspecify.annotations.NullMarked;
