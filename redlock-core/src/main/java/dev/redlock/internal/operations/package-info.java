/** The port of the methods for operators, which are a module of their own, to the client. */
@NullMarked
package dev.redlock.internal.operations;

import org.jspecify.annotations.NullMarked;
