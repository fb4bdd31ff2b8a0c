/** The programs of {@code docs/tutorial.md}. Each step runs with {@code bin/tutorial NUMBER}. */
@NullMarked
package dev.redlock.examples.tutorial;

import org.jspecify.annotations.NullMarked;
