/**
 * The commands that look at locks and nodes, and {@code redlock break}. None of them needs a vote.
 */
@NullMarked
package dev.redlock.cli.look;

import org.jspecify.annotations.NullMarked;
