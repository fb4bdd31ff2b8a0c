/** What the protocol and operators say of a set of nodes: values, without a decision. */
@NullMarked
package dev.redlock.internal.sets;

import org.jspecify.annotations.NullMarked;
