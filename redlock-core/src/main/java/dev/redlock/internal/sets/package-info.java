/**
 * Which deployment and which set of nodes a client works with, as the records of the nodes say.
 * Pure, as the protocol is: {@link dev.redlock.internal.sets.Membership} decides; the others are
 * its parts and values.
 */
@NullMarked
package dev.redlock.internal.sets;

import org.jspecify.annotations.NullMarked;
