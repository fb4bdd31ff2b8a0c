/** Stands in for the library {@code org.crac}, as far as the client uses it. */
@org.jspecify.annotations.NullMarked
package org.crac;
