/** Contract, failure and compatibility tests on real servers. */
@NullMarked
package dev.redlock.it;

import org.jspecify.annotations.NullMarked;
