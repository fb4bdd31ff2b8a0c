/** {@code redlock serve}: a page that shows locks and nodes. */
@NullMarked
package dev.redlock.cli.page;

import org.jspecify.annotations.NullMarked;
