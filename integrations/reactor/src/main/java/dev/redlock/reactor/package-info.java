/**
 * The lock for Reactor: {@link dev.redlock.reactor.ReactorLock} grants a lease as a {@code Mono},
 * and holds it while another {@code Mono} or {@code Flux} runs. See {@code docs/spring.md}.
 */
@NullMarked
package dev.redlock.reactor;

import org.jspecify.annotations.NullMarked;
