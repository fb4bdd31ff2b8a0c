/**
 * The command {@code redlock}: its subcommands, the options that they share, and their exit codes.
 * It is a program, not an API.
 */
@NullMarked
package dev.redlock.cli;

import org.jspecify.annotations.NullMarked;
