/** Locks on one Redis Cluster, and on several: failovers, moving slots, release notices. */
@NullMarked
package dev.redlock.it.cluster;

import org.jspecify.annotations.NullMarked;
