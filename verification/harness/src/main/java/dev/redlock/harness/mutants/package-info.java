/**
 * Faults on purpose. A {@link dev.redlock.harness.mutants.Mutant} replaces text of the sources, and
 * {@link dev.redlock.harness.mutants.MutantHunt} compiles it and gives it to a {@link
 * dev.redlock.harness.mutants.MutantCheck}, which must catch it. The catalogues and their trials
 * are with the worlds that catch them.
 */
@NullMarked
package dev.redlock.harness.mutants;

import org.jspecify.annotations.NullMarked;
