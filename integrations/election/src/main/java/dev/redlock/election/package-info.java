/**
 * Leader election: {@link dev.redlock.election.LeaderElection} runs work on one of many instances,
 * the one that holds the lock.
 */
@NullMarked
package dev.redlock.election;

import org.jspecify.annotations.NullMarked;
