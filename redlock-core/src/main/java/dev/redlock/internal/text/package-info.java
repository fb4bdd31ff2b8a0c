/**
 * Texts that all modules write and read in the same way: times and foreign text in messages, and
 * the marks of holders. It implements no port, so the ports may use it.
 */
@NullMarked
package dev.redlock.internal.text;

import org.jspecify.annotations.NullMarked;
