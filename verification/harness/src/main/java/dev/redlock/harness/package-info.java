/** What the tests, programs and measurements of this repository share and users do not need. */
@NullMarked
package dev.redlock.harness;

import org.jspecify.annotations.NullMarked;
