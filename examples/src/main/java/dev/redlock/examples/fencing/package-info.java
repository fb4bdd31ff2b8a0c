/**
 * Resources that check fencing tokens: a table of an SQL database, and Redis. Both remember the
 * highest token they were shown and refuse lower ones, in one conditional statement, on the read as
 * well as on the write.
 */
@NullMarked
package dev.redlock.examples.fencing;

import org.jspecify.annotations.NullMarked;
