/**
 * One Redis Cluster as a single node of the lock: all keys of a name under one hash tag, the same
 * scripts, and honest words about what a failover can lose; see {@code docs/cluster.md}.
 */
@NullMarked
package dev.redlock.cluster;

import org.jspecify.annotations.NullMarked;
