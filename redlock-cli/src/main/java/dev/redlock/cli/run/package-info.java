/** {@code redlock run}: a child process under a lock. */
@NullMarked
package dev.redlock.cli.run;

import org.jspecify.annotations.NullMarked;
