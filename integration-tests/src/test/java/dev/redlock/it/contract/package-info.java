/** What every {@link dev.redlock.spi.LockNode} must do, whatever stores its keys. */
@NullMarked
package dev.redlock.it.contract;

import org.jspecify.annotations.NullMarked;
