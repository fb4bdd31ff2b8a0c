/** The auto-configuration of Spring Boot. */
@NullMarked
package dev.redlock.spring.boot;

import org.jspecify.annotations.NullMarked;
