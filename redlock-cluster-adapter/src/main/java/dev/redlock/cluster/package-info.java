/**
 * A node of the lock that is one Redis Cluster. All keys of a name share one hash tag, and the
 * scripts are those of independent masters. {@code docs/cluster.md} says what a failover can lose.
 */
@NullMarked
package dev.redlock.cluster;

import org.jspecify.annotations.NullMarked;
