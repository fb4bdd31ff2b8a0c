/** The recipes of {@code docs/recipes.md}. Each one runs with {@code bin/recipe NAME}. */
@NullMarked
package dev.redlock.examples.recipes;

import org.jspecify.annotations.NullMarked;
