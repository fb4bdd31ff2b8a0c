/** The client on nodes in memory, most of it in virtual time. */
@NullMarked
package dev.redlock.client;

import org.jspecify.annotations.NullMarked;
