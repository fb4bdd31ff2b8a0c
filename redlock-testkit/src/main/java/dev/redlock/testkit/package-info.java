/**
 * Real Redis masters that a test can start, kill, pause, cut off and restart, and worker JVMs to
 * use them.
 *
 * <p>{@link dev.redlock.testkit.RedisNodes} is where to begin, or, with JUnit 5.13 or newer, {@link
 * dev.redlock.testkit.RedisTest}. Faults of a node: {@link dev.redlock.testkit.RedisNode}; faults
 * of the way to it: {@link dev.redlock.testkit.TcpGate}; a whole cluster: {@link
 * dev.redlock.testkit.RedisClusterNodes}; processes that hold locks: {@link
 * dev.redlock.testkit.ForkedJvm}. Everything ends with the JVM that started it, also if that is
 * killed. For Linux and macOS, with a {@code /bin/sh}.
 *
 * <p>System properties:
 *
 * <ul>
 *   <li>{@code redlock.redis}: where servers come from, see {@link dev.redlock.testkit.RedisSource}
 *   <li>{@code redlock.redis.uris}: servers that run already
 *   <li>{@code redlock.redis.binary}: the server program to run
 *   <li>{@code redlock.redis.image}: the Docker image to run
 *   <li>{@code redlock.redis.cache}: where the embedded binary is unpacked to, default {@code
 *       redlock-testkit} in the user's cache directory
 * </ul>
 *
 * <p>Containers need three settings in the environment wherever images cannot be pulled: {@code
 * TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1}, {@code TESTCONTAINERS_RYUK_DISABLED=true}, {@code
 * TESTCONTAINERS_CHECKS_DISABLE=true}.
 */
@NullMarked
package dev.redlock.testkit;

import org.jspecify.annotations.NullMarked;
