/**
 * The failure harness: workers in processes of their own, five masters, faults, one history, and
 * checkers that read nothing else. {@code ./failures --help} runs it.
 */
@NullMarked
package dev.redlock.it.failures;

import org.jspecify.annotations.NullMarked;
