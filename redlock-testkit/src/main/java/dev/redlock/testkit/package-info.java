/**
 * Real Redis masters that a test can start, kill, pause, cut off and restart.
 *
 * <p>Start with {@link dev.redlock.testkit.RedisNodes} or, with JUnit 5.13 or newer, {@link
 * dev.redlock.testkit.RedisTest}. {@link dev.redlock.testkit.RedisNode} injects faults of a node,
 * {@link dev.redlock.testkit.TcpGate} faults of the network to it. All servers end with the JVM
 * that started them, also if it is killed. Runs on Linux and macOS, and needs {@code /bin/sh}.
 *
 * <p>System properties:
 *
 * <ul>
 *   <li>{@code redlock.redis}: the source of the servers, see {@link
 *       dev.redlock.testkit.RedisSource}
 *   <li>{@code redlock.redis.uris}: servers that run already
 *   <li>{@code redlock.redis.binary}: the server program to run
 *   <li>{@code redlock.redis.image}: the Docker image to run
 *   <li>{@code redlock.redis.cache}: the directory to which the embedded binary is unpacked,
 *       default {@code redlock-testkit} in the user's cache directory
 * </ul>
 *
 * <p>Where images cannot be pulled, containers need three environment variables: {@code
 * TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1}, {@code TESTCONTAINERS_RYUK_DISABLED=true}, {@code
 * TESTCONTAINERS_CHECKS_DISABLE=true}.
 */
@NullMarked
package dev.redlock.testkit;

import org.jspecify.annotations.NullMarked;
