/**
 * Resources that check fencing tokens: a table of an SQL database, and Redis. Both remember the
 * highest token that they have seen and reject lower ones, in one conditional statement, on reads
 * and on writes.
 */
@NullMarked
package dev.redlock.examples.fencing;

import org.jspecify.annotations.NullMarked;
