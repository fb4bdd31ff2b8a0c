/**
 * The failure harness: worker processes, five masters, faults, one history, and checkers that read
 * only the history. {@code bin/failures --help} runs it.
 */
@NullMarked
package dev.redlock.it.failures;

import org.jspecify.annotations.NullMarked;
