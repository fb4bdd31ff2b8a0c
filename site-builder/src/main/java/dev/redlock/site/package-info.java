/** Builds the web site of the project from its documents. */
@NullMarked
package dev.redlock.site;

import org.jspecify.annotations.NullMarked;
